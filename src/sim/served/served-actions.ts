import { awaitedNode } from '../../core/node/loss.ts';
import {
  applyProfile,
  ask,
  type ClientContext,
  failUnschedulable,
  pickNode,
  resumeSomething,
  speakForOthers,
  stopSomething,
} from '../client-actions.ts';
import { sendNonsense } from './odd-commands.ts';
import { liftQuotas, workInProjects } from './projects.ts';
import { setWhatIsMissing, workWithSecrets } from './secrets.ts';

type Act = (context: ClientContext) => Promise<void>;

/** Something random that people do at a server. */
export async function meddleServed(context: ClientContext): Promise<void> {
  await context.cluster.random.pick(acts)(context);
}

/** Opens what somebody closed. */
export async function bringToRest(context: ClientContext): Promise<void> {
  for (const node of context.plane.state.nodes.values()) {
    if (node.drain !== null) await ask(context, { kind: 'ResumeNode', node: node.name, by: context.life.name });
  }
  await liftQuotas(context);
  await setWhatIsMissing(context);
}

const drain: Act = async (context) => {
  const deadlineMs = context.cluster.random.pick([null, 0, 5000, 60_000]);
  // What people drain is often what does not answer.
  const silent = [...context.plane.state.nodes.values()].filter(({ presence }) => presence.kind === 'suspect');
  const [sick] = silent;
  const node = sick !== undefined && context.cluster.random.happens(0.7) ? sick.name : pickNode(context);
  await ask(context, { kind: 'DrainNode', node, reason: 'maintenance', by: context.life.name, deadlineMs });
};

/** Whoever removes a lost node vouches that nothing runs there: people look before they do. */
const remove: Act = async (context) => {
  const { cluster, plane } = context;
  const name = pickNode(context);
  const isUsed = cluster.truth.processes.some(({ node, endMs }) => node === name && endMs === null);
  const hasAgent = [...cluster.lives].some((life) => life.name === name);
  const isSilent = plane.state.nodes.get(name)?.presence.kind !== 'up';
  if (isSilent && (isUsed || hasAgent)) return;
  await ask(context, { kind: 'RemoveNode', node: name, by: context.life.name });
};

/** The next attempt of what waits for a lost node, on a person's word. */
const retry: Act = async (context) => {
  const { state } = context.plane;
  for (const job of state.jobs.values()) {
    const index = [...job.elements.keys()].find((one) => awaitedNode(state, job, one) !== null);
    if (index === undefined && !context.cluster.random.happens(0.2)) continue;
    const what = { index: index === undefined || context.cluster.random.happens(0.5) ? null : index };
    await ask(context, { kind: 'RetryTask', job: job.id, ...what, by: context.life.name });
    return;
  }
};

const acts: readonly Act[] = [
  ...[stopSomething, stopSomething, drain, drain, resumeSomething, resumeSomething, failUnschedulable],
  ...[remove, retry, retry, applyProfile, speakForOthers, sendNonsense],
  ...[workInProjects, workInProjects, workInProjects, workWithSecrets, workWithSecrets, workWithSecrets],
];
