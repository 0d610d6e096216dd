/** One process for sure: a bare pid may have been reused, the three together cannot. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time in clock ticks since boot (field 22 of /proc/PID/stat). */
  readonly startTicks: number;
  readonly bootId: string;
}

/** What the shim is told. It alone touches the job's process; the agent may die at any moment after `launch`. */
export interface Launch {
  /** Attempt directory: claim, run and exit records, logs and the work directory live here. */
  readonly directory: string;
  /** Working directory of the command. */
  readonly workdir: string;
  /** Which records and logs: the shim writes `<label>.claim.<nonce>`, `<label>.run.json`, `<label>.exit.json`, `<label>.out`, `<label>.err`. */
  readonly label: 'setup' | 'run';
  /** Whoever creates the claim with this nonce owns the start. */
  readonly nonce: string;
  /** Command and arguments; the first is searched in PATH of `env`. */
  readonly argv: readonly string[];
  /** The whole environment; nothing of the agent's own leaks in. */
  readonly env: Readonly<Record<string, string>>;
  /** The mark by which every descendant is found again: the value of RUNYARD_MARK in `env`. */
  readonly mark: string;
  /** Most processes at once, where the system can enforce it; null for no limit. */
  readonly maxProcesses: number | null;
  /** Memory limit, where the system can enforce it; null for no limit. */
  readonly memoryMiB: number | null;
}

export interface HelperResult {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

export type Signal = 'SIGTERM' | 'SIGKILL' | 'SIGCONT' | 'SIGINT' | 'SIGHUP';

/** Processes of this machine. Nothing here signals a bare pid. */
export interface Processes {
  /** Starts the shim detached, in its own session. Resolves when it has been spawned, not when the command runs. */
  launch(launch: Launch): Promise<void>;
  /** The identity of a live process that is not a zombie; null otherwise. */
  identify(pid: number): Promise<ProcessIdentity | null>;
  isAlive(identity: ProcessIdentity): Promise<boolean>;
  /** Every live process of an attempt: its shim's session and group, those that carry the mark in their environment, those with the attempt's files open, and (where there is one) its cgroup. */
  findMarked(search: {
    mark: string;
    directory: string;
    leader: ProcessIdentity | null;
  }): Promise<readonly ProcessIdentity[]>;
  /** Rechecks the identity, then signals it. False when it was gone. */
  signal(identity: ProcessIdentity, signal: Signal): Promise<boolean>;
  /** Signals the process group that `leader` leads, after rechecking it. False when it was gone. */
  signalGroup(leader: ProcessIdentity, signal: Signal): Promise<boolean>;
  /** Runs a short helper program (nvidia-smi, a probe) with a clean environment and kills its whole tree at the timeout. Throws HostError ENOENT when there is no such program. */
  runHelper(
    argv: readonly string[],
    options: { timeoutMs: number; env?: Readonly<Record<string, string>>; cwd?: string; maxBytes?: number },
  ): Promise<HelperResult>;
}
