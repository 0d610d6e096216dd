import { isRefusal } from '../core/refusal.ts';
import type { ServiceCommand } from '../core/service/command.ts';
import type { Service } from '../core/service/service.ts';
import { ask, type ClientContext } from './client-actions.ts';
import { drawApply } from './service-workload.ts';

type Act = (context: ClientContext, service: Service) => Promise<void>;

/** Something random that people do with a service of this name: the first of all is that they apply it. */
export async function meddleWithService(context: ClientContext, name: string): Promise<void> {
  const { random } = context.cluster;
  const service = context.plane.state.services.get(name);
  if (service === undefined) await apply(context, name);
  else await random.pick(acts)(context, service);
}

/** When the seed comes to its end nothing may stay up. */
export async function removeServices(context: ClientContext): Promise<void> {
  for (const name of [...context.plane.state.services.keys()]) {
    await ask(context, { kind: 'RemoveService', service: name, by: context.life.name });
  }
}

async function apply(context: ClientContext, name: string): Promise<void> {
  const command = drawApply(context.cluster.random, name, context.life.name);
  const answer = await ask(context, command);
  if (isRefusal(answer) || answer.kind !== 'applied') return;
  context.cluster.history.applied.push({ service: name, revision: answer.revision });
  context.cluster.world.note(
    context.life.name,
    `${name} is at revision ${answer.revision}: ${JSON.stringify(command.spec.env)}`,
  );
}

/** What it runs already, with another number of replicas. */
const applySame: Act = async (context, service) => {
  const current = service.revisions.get(service.revision);
  if (current === undefined) return;
  const replicas = context.cluster.random.pick([null, 1, 3]);
  const { spec, source, profile, workspace, settings } = current;
  const { project, owner } = service;
  const layers = [{ origin: 'sim', values: { ...settings, replicas } }];
  await ask(context, { kind: 'ApplyService', spec, source, profile, layers, workspace, project, owner });
};

const scale: Act = async (context, { name, replicas }) => {
  const { random } = context.cluster;
  const known = [...replicas.keys()];
  const remove = known.length > 0 && random.happens(0.3) ? [random.pick(known)] : [];
  await ask(context, { kind: 'ScaleService', service: name, desired: random.below(6), remove, by: context.life.name });
};

const stopReplica: Act = async (context, { replicas }) => {
  const [first] = replicas.keys();
  if (first === undefined) return;
  const job = context.cluster.random.pick([...replicas.keys()]);
  await ask(context, { kind: 'StopJob', job, indices: null, by: context.life.name, graceMs: null });
};

const undo: Act = async (context, { name, revisions }) => {
  const { random } = context.cluster;
  const to = random.happens(0.5) ? null : random.pick([...revisions.keys()]);
  await ask(context, { kind: 'UndoRollout', service: name, to, by: context.life.name });
};

const simple =
  (kind: Exclude<ServiceCommand['kind'], 'ApplyService' | 'ScaleService' | 'UndoRollout'>): Act =>
  async (context, { name }) =>
    void (await ask(context, { kind, service: name, by: context.life.name }));

const applyNew: Act = (context, { name }) => apply(context, name);

/** Each as often as it stands here. */
const acts: readonly Act[] = [
  ...[applyNew, applyNew, applyNew, applyNew, applySame, scale, scale, stopReplica, stopReplica],
  ...[undo, simple('PauseRollout'), simple('ResumeRollout'), simple('ResumeRollout')],
  ...[simple('RestartService'), simple('StopService'), simple('RemoveService')],
];
