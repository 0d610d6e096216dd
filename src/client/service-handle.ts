import type { Answer } from '../core/command.ts';
import { refuse } from '../core/refusal.ts';
import type { ServiceCommand } from '../core/service/command.ts';
import type { Service } from '../core/service/service.ts';
import { type ServiceView, viewService } from '../core/service/view.ts';
import type { RevisionView, ServiceHandle } from './api.ts';
import { type Embedded, execute } from './embedded.ts';
import { followEvents } from './events.ts';
import { explainService } from './explain-service.ts';
import { whyHeldUp } from './full-disk.ts';
import { RefusalError } from './refusal-error.ts';
import { followServiceLogs, labelLines } from './service-logs.ts';
import { sees } from './visible.ts';
import { watchService } from './watch-service.ts';

/** What is asked of one service, without its name and who asks. */
type Asked = { [Kind in ServiceCommand['kind']]: Omit<Extract<ServiceCommand, { kind: Kind }>, 'service' | 'by'> }[
  | 'ScaleService'
  | 'RestartService'
  | 'StopService'
  | 'RemoveService'
  | 'PauseRollout'
  | 'ResumeRollout'
  | 'UndoRollout'];

export function createServiceHandle(embedded: Embedded, name: string): ServiceHandle {
  const ask = (command: Asked): Promise<Answer> =>
    execute(embedded, { ...command, service: name, by: embedded.actor.name } as ServiceCommand);
  return {
    name,
    async view() {
      await embedded.plane.catchUp();
      return viewNow(embedded, requireService(embedded, name));
    },
    watch: (options) => watchService(embedded, name, options?.signal),
    async scale(desired, options) {
      await ask({ kind: 'ScaleService', desired, remove: options?.remove ?? [] });
    },
    async restart() {
      const answer = await ask({ kind: 'RestartService' });
      if (answer.kind !== 'applied') throw new Error(`a restart was answered with ${answer.kind}`);
      return { name, revision: answer.revision, changed: answer.changed };
    },
    async stop() {
      await ask({ kind: 'StopService' });
    },
    async remove() {
      await ask({ kind: 'RemoveService' });
    },
    async pauseRollout() {
      await ask({ kind: 'PauseRollout' });
    },
    async resumeRollout() {
      await ask({ kind: 'ResumeRollout' });
    },
    async undoRollout(options) {
      await ask({ kind: 'UndoRollout', to: options?.to ?? null });
    },
    async revisions() {
      await embedded.plane.catchUp();
      return viewRevisions(requireService(embedded, name));
    },
    logs: (options) => labelLines(followServiceLogs(embedded, name, options ?? {})),
    logChunks: (options) => followServiceLogs(embedded, name, options ?? {}),
    events: (options) => followEvents(embedded, { service: name, ...options }),
    async explain() {
      await embedded.plane.catchUp();
      const service = requireService(embedded, name);
      const explanation = explainService(service, viewNow(embedded, service));
      const heldUp = await whyReplicaIsHeldUp(embedded, service);
      return heldUp === null ? explanation : { ...explanation, sentence: `${explanation.sentence}; ${heldUp}` };
    },
  };
}

async function whyReplicaIsHeldUp(embedded: Embedded, { replicas }: Service): Promise<string | null> {
  for (const id of replicas.keys()) {
    const job = embedded.plane.state.jobs.get(id);
    const why = job === undefined ? null : await whyHeldUp(embedded, job);
    if (why !== null) return `${id} ${why}`;
  }
  return null;
}

/** Null where there is none that whoever asks may see. */
export function findService(embedded: Embedded, name: string): Service | null {
  const service = embedded.plane.state.services.get(name);
  return service !== undefined && sees(embedded, service.project) ? service : null;
}

export function requireService(embedded: Embedded, name: string): Service {
  const service = findService(embedded, name);
  if (service !== null) return service;
  throw new RefusalError(
    refuse('NOT_FOUND', `there is no service ${JSON.stringify(name)} any more`, { hint: 'yard services lists them' }),
  );
}

/** As of the last batch seen. */
export function viewNow({ plane, host }: Embedded, service: Service): ServiceView {
  return viewService(plane.state, service, { atMs: host.clock.wallMs(), nowMs: plane.nowMs() });
}

function viewRevisions(service: Service): readonly RevisionView[] {
  const replicas = [...service.replicas.values()];
  return [...service.revisions.values()]
    .sort((a, b) => b.number - a.number)
    .map(({ number, profile, source }) => ({
      revision: number,
      current: number === service.revision,
      profile,
      replicas: replicas.filter((one) => one.revision === number).length,
      spec: source,
    }));
}
