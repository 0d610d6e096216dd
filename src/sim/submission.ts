import type { SubmitJob } from '../core/command.ts';
import type { JobSpec, WorkspaceRef } from '../core/job/spec.ts';
import type { PartialSettings } from '../core/profile/settings.ts';

/** What people send to have a job run; ids are tried in their order. */
export function submissionOf(options: {
  readonly spec: JobSpec;
  readonly settings: PartialSettings;
  readonly ids: readonly string[];
  readonly workspace?: WorkspaceRef | null;
  readonly project?: string;
  readonly owner?: string;
}): SubmitJob {
  const { spec, settings, ids, workspace = null, project = 'default', owner = 'someone' } = options;
  return {
    kind: 'SubmitJob',
    spec,
    source: null,
    profile: null,
    layers: [{ origin: 'sim', values: settings }],
    workspace,
    project,
    owner,
    retryOf: null,
    indices: null,
    ids,
  };
}
