import type { JobSpec } from '../core/job/spec.ts';
import type { SettingsLayer } from '../core/profile/settings.ts';

/** What a file, the SDK or the command line asks for, read and checked: the one form that is submitted. */
export interface Submission {
  readonly spec: JobSpec;
  /** The document as written, with the changes of the command line laid over it; shown as `spec` and kept for `--from`. */
  readonly source: unknown;
  /** A named profile below the layers. */
  readonly profile: string | null;
  /** From weakest to strongest: file, then single options. */
  readonly layers: readonly SettingsLayer[];
}
