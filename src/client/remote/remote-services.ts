import { parseServiceDocument } from '../../wire/parse-service.ts';
import type { Submission } from '../../wire/submission.ts';
import type { AppliedService, ApplyOptions, ServiceDocument, ServiceHandle, Services } from '../api.ts';
import { isSubmission, withDocumentRefusals } from '../document-refusals.ts';
import { pushWorkspace } from '../push-workspace.ts';
import { labelLines } from '../service-logs.ts';
import { preparedOf } from './prepared-body.ts';
import { readStream } from './read-stream.ts';
import type { Remote } from './remote.ts';
import { serviceLogs } from './remote-logs.ts';
import { requireSecrets } from './remote-secrets.ts';

export function createRemoteServices(remote: Remote): Services {
  const { http } = remote;
  return {
    apply: (service, options = {}) => apply(remote, service, options),
    async list() {
      return (await http.call('listServices', {})).items;
    },
    async get(name) {
      await http.call('getService', { params: { name } });
      return createHandle(remote, name);
    },
  };
}

/** Reads and checks here, pushes the workspace's missing bytes, then makes it so. */
async function apply(
  remote: Remote,
  given: Submission | ServiceDocument,
  options: Partial<ApplyOptions>,
): Promise<AppliedService> {
  const service = isSubmission(given)
    ? given
    : withDocumentRefusals(() => parseServiceDocument(given, { origin: 'the service' }));
  const { project, idempotencyKey } = options;
  await requireSecrets(remote, service.spec, project);
  const workspace = await pushWorkspace(remote, service.spec, options);
  return remote.http.call('applyService', {
    idempotencyKey,
    body: {
      service: preparedOf(service),
      ...(workspace === null ? {} : { workspace }),
      ...(project === undefined ? {} : { project }),
    },
  });
}

function createHandle(remote: Remote, name: string): ServiceHandle {
  const { http } = remote;
  const params = { name };
  const rollout = async (action: 'pause' | 'resume' | 'undo', to?: number): Promise<void> => {
    await http.call('changeRollout', { params, body: { action, ...(to === undefined ? {} : { to }) } });
  };
  return {
    name,
    view: () => http.call('getService', { params }),
    watch: (options) => readStream(http, 'watchService', { params, signal: options?.signal, endless: true }),
    async scale(replicas, options) {
      const remove = options?.remove === undefined ? {} : { remove: [...options.remove] };
      await http.call('scaleService', { params, body: { replicas, ...remove } });
    },
    restart: () => http.call('restartService', { params }),
    async stop() {
      await http.call('stopService', { params });
    },
    async remove() {
      await http.call('removeService', { params });
    },
    pauseRollout: () => rollout('pause'),
    resumeRollout: () => rollout('resume'),
    undoRollout: (options) => rollout('undo', options?.to),
    async revisions() {
      return (await http.call('serviceRevisions', { params })).items;
    },
    logs: (options = {}) => labelLines(serviceLogs(remote, name, options)),
    logChunks: (options = {}) => serviceLogs(remote, name, options),
    events(options = {}) {
      const query = options.follow === undefined ? {} : { follow: options.follow };
      const endless = options.follow === true;
      return readStream(http, 'serviceEvents', { params, query, signal: options.signal, endless });
    },
    explain: () => http.call('explainService', { params }),
  };
}
