// What each fact and each setting means, for the reference. scripts/docs.mjs refuses to go on when one is missing here.

export const factMeanings = {
  JobSubmitted: 'A job was asked for, with its spec, its settings and where each value came from.',
  AttemptPlaced: 'An attempt was given its nodes, cores, memory and devices.',
  NodeReady: 'The node that a task claimed is up.',
  WorkspaceMaterialized: 'The workspace stands in the directory of the task.',
  SetupCompleted: 'Setup ended well, or was found done from an earlier run (`reused`).',
  SetupFailed: 'Setup failed; run will not start. Names the line where the shell can tell.',
  TaskPrepared: 'A rank stands ready and says where it can be reached; run waits for all of them.',
  JobStarted: 'The run command was started.',
  EndpointOpened: 'Something listens on the port that the task was given.',
  JobExited: 'The run command ended by itself.',
  TimedOut: 'The time allowed by the profile is over.',
  GaveUp: 'The command was restarted as often as its policy allows.',
  OutputsCollected: 'Outputs were collected, each with what became of it.',
  NodeFault: 'The node could not do its part for this task.',
  NodeLost: 'The node went away with this task on it.',
  OperatorStop: 'Someone stopped the job, or some indices of it.',
  Unschedulable: 'No node can ever run the job as it was asked for.',
  AttemptEnded: 'Every task of the attempt has ended; says how, and when the next attempt may start.',
  RetryRequested: 'Someone asked for the next attempt of work that waits for its lost node.',
  JobEnded: 'The job has ended for good, with this outcome.',
  JobArchived: 'Every attempt is confirmed gone; the job moved from the state to the archive.',
  NodeJoined: 'An agent speaks for this node, with this capacity.',
  NodeLeft: 'The agent of this node ended in good order.',
  NodeDrained: 'The node takes no new work.',
  NodeResumed: 'The node takes work again.',
  NodeRemoved: 'The node was taken off the list.',
  AllocationReleased: 'Processes that outlived their attempt are gone, and so is their claim on the node.',
  ProfileApplied: 'A named profile has a new revision.',
};

/** By the key in the sources: `key` is what it is called in a file. */
export const settingMeanings = {
  kind: { key: 'kind', meaning: '`job` ends. `service` is planned and refused until then.' },
  nodes: { key: 'nodes', meaning: 'Ranks, each on a node of its own.' },
  'resources.gpus': { key: 'resources.gpus', meaning: 'GPUs a task, or `"all"`: the whole node.' },
  'resources.gpuType': {
    key: 'resources.gpuType',
    meaning: 'Part of the name that a GPU must have, such as `"H100"`.',
  },
  'resources.gpuMemoryMiB': { key: 'resources.gpuMemory', meaning: 'Least memory of each GPU, such as `"40GiB"`.' },
  'resources.cpus': { key: 'resources.cpus', meaning: 'Cores a task; fractions are fine.' },
  'resources.memoryMiB': {
    key: 'resources.memory',
    meaning: 'Memory a task, such as `"16GiB"`; also its limit where the system can hold it.',
  },
  'resources.diskMiB': { key: 'resources.disk', meaning: 'Disk a task, such as `"50GiB"`; recorded, not yet checked.' },
  'resources.labels': { key: 'resources.labels', meaning: 'Labels that the node must carry.' },
  timeoutMs: {
    key: 'timeout',
    meaning: 'Longest time for an attempt, setup included, such as `"2h"`; none unless written.',
  },
  graceMs: { key: 'grace', meaning: 'Time between the request to stop (SIGTERM) and its enforcement (SIGKILL).' },
  'retry.maxAttempts': { key: 'retry.maxAttempts', meaning: 'How many attempts there may be in all.' },
  'retry.onExit': { key: 'retry.onExit', meaning: 'Exit codes after which another attempt is made.' },
  array: {
    key: 'array',
    meaning: '`{ size, maxRunning }`: one submission, many parts, each with its `RUNYARD_INDEX`.',
  },
  onNodeLoss: {
    key: 'onNodeLoss',
    meaning: '`replace`: another attempt elsewhere. `wait`: never two copies. `fail`: that was it.',
  },
  priority: { key: 'priority', meaning: 'Higher is placed first, from -1000 to 1000.' },
  setupReuse: {
    key: 'setupReuse',
    meaning:
      'Files: while they and the setup command stay the same, setup runs once a node and its results stay in `$RUNYARD_ENV`.',
  },
  port: { key: 'port', meaning: 'Whether each task is given a free port as `$PORT`.' },
};
