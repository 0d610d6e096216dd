/** What a task's environment is made of. Everything else of the agent's own stays away from the task. */
export interface TaskEnvironment {
  /** The agent's environment, of which only the names of `baseNames` are taken. */
  readonly agent: Readonly<Record<string, string | undefined>>;
  readonly job: string;
  readonly attempt: number;
  /** The task's working directory, which is the outputs root too. */
  readonly workdir: string;
  readonly mark: string;
  /** A folder that lasts from job to job on this node, for `setupReuse`; null without. */
  readonly lastingFolder: string | null;
  /** Place in an array; null outside one. */
  readonly array: { readonly index: number; readonly count: number } | null;
  /** Place in a distributed job; null when it has one rank. */
  readonly ranks: RankPlace | null;
  readonly port: number | null;
  /** From devices.ts. */
  readonly devices: Readonly<Record<string, string>>;
  /** What the person wrote; it wins over all the rest but the mark. */
  readonly spec: Readonly<Record<string, string>>;
}

export interface RankPlace {
  readonly rank: number;
  readonly worldSize: number;
  readonly masterAddress: string;
  readonly masterPort: number;
}

/** What a program needs to know of the machine and its person. LC_* comes on top. LD_*, NODE_OPTIONS and PYTHONSTARTUP are not here on purpose. */
const baseNames = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'TZ', 'TMPDIR'];

const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The whole environment of setup, run and exec. Later parts win over earlier ones. */
export function buildTaskEnvironment(task: TaskEnvironment): Record<string, string> {
  return {
    PATH: defaultPath,
    ...pickBase(task.agent),
    ...task.devices,
    RUNYARD_JOB: task.job,
    RUNYARD_ATTEMPT: String(task.attempt),
    RUNYARD_WORKDIR: task.workdir,
    ...(task.lastingFolder === null ? {} : { RUNYARD_ENV: task.lastingFolder }),
    ...(task.array === null ? {} : arrayVariables(task.array)),
    ...(task.ranks === null ? {} : rankVariables(task.ranks)),
    ...(task.port === null ? {} : { PORT: String(task.port) }),
    ...task.spec,
    RUNYARD_MARK: task.mark,
  };
}

/** What tasks get of the agent's own environment. Picking twice gives the same. */
export function pickBase(agent: TaskEnvironment['agent']): Record<string, string> {
  const wanted = Object.entries(agent).filter(([name]) => baseNames.includes(name) || name.startsWith('LC_'));
  return Object.fromEntries(wanted.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

function arrayVariables({ index, count }: { index: number; count: number }): Record<string, string> {
  return { RUNYARD_INDEX: String(index), RUNYARD_ARRAY_INDEX: String(index), RUNYARD_COUNT: String(count) };
}

/** As torchrun names them. One rank a node, so that the local rank is always 0. */
function rankVariables({ rank, worldSize, masterAddress, masterPort }: RankPlace): Record<string, string> {
  return {
    RANK: String(rank),
    WORLD_SIZE: String(worldSize),
    LOCAL_RANK: '0',
    NODE_RANK: String(rank),
    MASTER_ADDR: masterAddress,
    MASTER_PORT: String(masterPort),
  };
}
