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
  /**
   * More of the environment, over `env`: values that must stand in no file and among no program's arguments. Names are
   * such as a shell can export.
   */
  readonly secretEnv?: Readonly<Record<string, string>>;
  /** The mark by which every descendant is found again: the value of RUNYARD_MARK in `env`. */
  readonly mark: string;
  /** Most processes at once, where the system can enforce it; null for no limit. */
  readonly maxProcesses: number | null;
  /** Memory limit, where the system can enforce it; null for no limit. */
  readonly memoryMiB: number | null;
  /** File to which the shim appends the attempt directory as one line once the exit record is written; null for none. */
  readonly bell: string | null;
}

/** What an attempt's processes are found by. */
export interface TreeSearch {
  readonly mark: string;
  readonly directory: string;
  /** The shim: it leads the session and the group of the attempt. Null when its claim could not be read. */
  readonly leader: ProcessIdentity | null;
}

export interface MarkedProcess extends ProcessIdentity {
  /** True in the process group that the leader leads: one signal to the group reaches it. */
  readonly inGroup: boolean;
}

/** What the system says about an attempt's limits once its processes are gone. */
export interface LimitVerdict {
  /** True when the kernel killed a process of the attempt because of its memory limit. */
  readonly outOfMemory: boolean;
}

export interface HelperResult {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** True when the time ran out and the program's tree was killed. */
  readonly timedOut: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

export interface HelperOptions {
  readonly timeoutMs: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The most of stdout and of stderr that is kept. */
  readonly maxBytes?: number;
  /** The mark that its tree carries, for a caller who must find it again after a crash; a fresh one unless told. */
  readonly mark?: string;
  /** Aborted, the helper is ended as at its timeout. */
  readonly signal?: AbortSignal;
}

export type Signal = 'SIGTERM' | 'SIGKILL' | 'SIGCONT' | 'SIGINT' | 'SIGHUP';

/** Processes of this machine. Nothing here signals a bare pid. */
export interface Processes {
  /** Starts the shim detached, in its own session. Resolves when it has been spawned, not when the command runs. */
  launch(launch: Launch): Promise<void>;
  /** The identity of a live process that is not a zombie; null otherwise. */
  identify(pid: number): Promise<ProcessIdentity | null>;
  /**
   * With `glance` true only says that its process id is taken, which costs a tenth: for whoever asks again and again,
   * and now and then in full.
   */
  isAlive(identity: ProcessIdentity, options?: { readonly glance: boolean }): Promise<boolean>;
  /**
   * Every live process of an attempt, the shim included: the leader, its session and group, those that carry the mark in their
   * environment, those that append to its logs, the descendants of all these, and (where there is one) its cgroup.
   * Never the caller's own process, and none that is older than the leader.
   */
  findMarked(search: TreeSearch): Promise<readonly MarkedProcess[]>;
  /** Sends SIGKILL to all of them (through the cgroup first, where there is one) but `spare`. */
  killTree(search: TreeSearch, spare: ProcessIdentity | null): Promise<void>;
  /** Called when the tree is gone: says what its limits did, and removes its cgroup. Safe to repeat. */
  release(search: TreeSearch): Promise<LimitVerdict>;
  /** Rechecks the identity, then signals it. False when it was gone. */
  signal(identity: ProcessIdentity, signal: Signal): Promise<boolean>;
  /** Signals the process group that `leader` leads, after rechecking it. False when it was gone. */
  signalGroup(leader: ProcessIdentity, signal: Signal): Promise<boolean>;
  /** Runs a short helper program (nvidia-smi, a probe) with a clean environment and kills its whole tree at the timeout. Throws HostError ENOENT when there is no such program. */
  runHelper(argv: readonly string[], options: HelperOptions): Promise<HelperResult>;
}
