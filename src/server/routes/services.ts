import type { ServiceHandle } from '../../client/api.ts';
import type { Embedded } from '../../client/embedded.ts';
import { createServiceHandle } from '../../client/service-handle.ts';
import { applyPushed, createServices, readService } from '../../client/services.ts';
import type { serviceRoutes } from '../../wire/http/routes-services.ts';
import { streamEvents } from '../event-places.ts';
import type { HandlersOf } from '../handler.ts';
import { streamServiceLogs } from '../log-stream.ts';
import { statesOf } from '../state-stream.ts';
import { storedWorkspace } from '../stored-workspace.ts';

export const serviceHandlers = {
  async listServices({ embedded }) {
    return { items: await createServices(embedded).list() };
  },
  async applyService({ body, embedded }) {
    const { service, project, workspace: given = null } = body;
    const submission = await readService(embedded, service, project);
    const workspace = await storedWorkspace(embedded, submission.spec, given);
    return applyPushed(embedded, submission, { workspace, ...(project === undefined ? {} : { project }) });
  },
  async getService(asked) {
    return (await serviceOf(asked)).view();
  },
  async watchService(asked) {
    return statesOf((await serviceOf(asked)).watch({ signal: asked.signal }));
  },
  async scaleService(asked) {
    const { replicas, ...options } = asked.body;
    await changing(asked).scale(replicas, options);
  },
  async restartService(asked) {
    return changing(asked).restart();
  },
  async stopService(asked) {
    await changing(asked).stop();
  },
  async removeService(asked) {
    await changing(asked).remove();
  },
  async changeRollout(asked) {
    const service = changing(asked);
    const { action, ...options } = asked.body;
    if (action === 'pause') await service.pauseRollout();
    else if (action === 'resume') await service.resumeRollout();
    else await service.undoRollout(options);
  },
  async serviceRevisions(asked) {
    return { items: await (await serviceOf(asked)).revisions() };
  },
  async serviceEndpoints(asked) {
    return { items: (await (await serviceOf(asked)).view()).endpoints };
  },
  async serviceEvents(asked) {
    const { embedded, query, signal, lastEventId } = asked;
    const { name } = await serviceOf(asked);
    return streamEvents(embedded, { service: name, ...query, signal }, lastEventId);
  },
  async serviceLogs(asked) {
    const { embedded, query, signal, lastEventId } = asked;
    const { name } = await serviceOf(asked);
    return streamServiceLogs(embedded, name, { ...query, signal }, lastEventId);
  },
  async explainService(asked) {
    return (await serviceOf(asked)).explain();
  },
} satisfies HandlersOf<typeof serviceRoutes>;

/** What is asked again after its answer was lost must not stumble over its own effect: nothing is looked up before. */
function changing(asked: { params: { name: string }; embedded: Embedded }): ServiceHandle {
  return createServiceHandle(asked.embedded, asked.params.name);
}

function serviceOf(asked: { params: { name: string }; embedded: Embedded }): Promise<ServiceHandle> {
  return createServices(asked.embedded).get(asked.params.name);
}
