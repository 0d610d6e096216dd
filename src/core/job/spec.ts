/** What to do, never where (S1, U4). */
export interface JobSpec {
  readonly name: string;
  readonly run: Script;
  readonly setup: Script | null;
  readonly workspace: WorkspaceSpec | null;
  /** Files or directories relative to the task's work directory; no patterns. */
  readonly outputs: readonly string[];
  readonly env: Readonly<Record<string, EnvValue>>;
  /** What follows `--` after a file: `"$@"` of a `run` that is text, more arguments of one that is a vector. */
  readonly args: readonly string[];
}

/** Shell text, or an argument vector that no shell sees. */
export type Script = string | readonly string[];

/** A plain value is stored and shown as written; a secret is a reference by name (U7), given as a file where it says so. */
export type EnvValue = string | { readonly secret: string; readonly file?: boolean };

export interface WorkspaceSpec {
  /** As written, relative to the file. */
  readonly workdir: string;
  readonly exclude: readonly string[];
}

/** The workspace as it was pushed. */
export interface WorkspaceRef {
  /** Hash of the manifest blob. */
  readonly manifest: string;
  readonly files: number;
  readonly sizeBytes: number;
}
