import { defaultProject } from '../core/access/access.ts';
import { refuse } from '../core/refusal.ts';
import { checkSecretsSet } from '../core/secrets/decide.ts';
import { viewService } from '../core/service/view.ts';
import { parseServiceDocument, refusedService } from '../wire/parse-service.ts';
import type { Submission } from '../wire/submission.ts';
import type { AppliedService, ApplyOptions, ServiceDocument, Services } from './api.ts';
import { withDocumentRefusals } from './document-refusals.ts';
import { type Embedded, execute } from './embedded.ts';
import { RefusalError } from './refusal-error.ts';
import { createServiceHandle } from './service-handle.ts';
import { pushOwnWorkspace } from './submit.ts';

export function createServices(embedded: Embedded): Services {
  const { plane, host } = embedded;
  return {
    apply: (service, options = {}) => applyService(embedded, service, options),
    async list() {
      await plane.catchUp();
      const time = { atMs: host.clock.wallMs(), nowMs: plane.nowMs() };
      const byName = [...plane.state.services.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
      return byName.map((service) => viewService(plane.state, service, time));
    },
    async get(name) {
      await plane.catchUp();
      if (plane.state.services.has(name)) return createServiceHandle(embedded, name);
      const known = [...plane.state.services.keys()].sort().join(', ');
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
  const { spec, source, profile, layers } =
    'spec' in given ? given : withDocumentRefusals(() => parseServiceDocument(given, { origin: 'the service' }));
  await embedded.plane.catchUp();
  const unset = checkSecretsSet(embedded.plane.state, options.project ?? defaultProject, spec);
  if (unset !== null) throw new RefusalError(refusedService(unset).refusal);
  const workspace = await pushOwnWorkspace(embedded, spec, options);
  const owner = embedded.actor.name;
  const project = options.project ?? 'default';
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
