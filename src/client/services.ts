import { defaultProject } from '../core/access/access.ts';
import type { WorkspaceRef } from '../core/job/spec.ts';
import { refuse } from '../core/refusal.ts';
import { checkSecretsSet } from '../core/secrets/decide.ts';
import { viewService } from '../core/service/view.ts';
import { parseServiceDocument, refusedService } from '../wire/parse-service.ts';
import type { Submission } from '../wire/submission.ts';
import type { AppliedService, ApplyOptions, ServiceDocument, Services } from './api.ts';
import { isSubmission, withDocumentRefusals } from './document-refusals.ts';
import { type Embedded, execute } from './embedded.ts';
import { RefusalError } from './refusal-error.ts';
import { createServiceHandle, findService } from './service-handle.ts';
import { pushOwnWorkspace } from './submit.ts';
import { sees } from './visible.ts';

export function createServices(embedded: Embedded): Services {
  const { plane, host } = embedded;
  return {
    apply: (service, options = {}) => applyService(embedded, service, options),
    async list() {
      await plane.catchUp();
      const time = { atMs: host.clock.wallMs(), nowMs: plane.nowMs() };
      const seen = [...plane.state.services.values()].filter((service) => sees(embedded, service.project));
      const byName = seen.sort((a, b) => (a.name < b.name ? -1 : 1));
      return byName.map((service) => viewService(plane.state, service, time));
    },
    async get(name) {
      await plane.catchUp();
      if (findService(embedded, name) !== null) return createServiceHandle(embedded, name);
      const seen = [...plane.state.services.values()].filter((service) => sees(embedded, service.project));
      const known = seen
        .map((service) => service.name)
        .sort()
        .join(', ');
      const hint = known === '' ? 'yard apply its file makes it' : `there are: ${known}`;
      throw new RefusalError(refuse('NOT_FOUND', `there is no service ${JSON.stringify(name)}`, { hint }));
    },
  };
}

/** Pushes the workspace's missing bytes, then makes it so. */
async function applyService(
  embedded: Embedded,
  given: Submission | ServiceDocument,
  options: Partial<ApplyOptions>,
): Promise<AppliedService> {
  const submission = await readService(embedded, given, options.project);
  const workspace = await pushOwnWorkspace(embedded, submission.spec, options);
  return applyPushed(embedded, submission, { ...options, workspace });
}

/** Reads a service and refuses what is wrong with it before anything is pushed. */
export async function readService(
  embedded: Embedded,
  given: Submission | ServiceDocument,
  project?: string,
): Promise<Submission> {
  const submission = isSubmission(given)
    ? given
    : withDocumentRefusals(() => parseServiceDocument(given, { origin: 'the service' }));
  await embedded.plane.catchUp();
  const unset = checkSecretsSet(embedded.plane.state, projectOf(embedded, submission, project), submission.spec);
  if (unset !== null) throw new RefusalError(refusedService(unset).refusal);
  return submission;
}

/** A service that is there stays in its project, as long as no other is named. */
function projectOf(embedded: Embedded, { spec }: Submission, project: string | undefined): string {
  return project ?? findService(embedded, spec.name)?.project ?? defaultProject;
}

/** Applies a service whose workspace is stored. */
export async function applyPushed(
  embedded: Embedded,
  submission: Submission,
  options: { workspace: WorkspaceRef | null; project?: string; idempotencyKey?: string },
): Promise<AppliedService> {
  const { workspace } = options;
  const { spec, source, profile, layers } = submission;
  const project = projectOf(embedded, submission, options.project);
  const owner = embedded.actor.name;
  const answer = await execute(
    embedded,
    { kind: 'ApplyService', spec, source, profile, layers, workspace, project, owner },
    {
      ...(workspace === null ? {} : { blobs: [workspace.manifest] }),
      ...(options.idempotencyKey === undefined ? {} : { idempotencyKey: options.idempotencyKey }),
    },
  );
  if (answer.kind !== 'applied') throw new Error(`a service was answered with ${answer.kind}`);
  return { name: spec.name, revision: answer.revision, changed: answer.changed };
}
