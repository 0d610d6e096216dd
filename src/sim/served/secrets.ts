import { nodeSecretsDirectory } from '../../agent/secrets/node-secrets.ts';
import type { Command } from '../../core/command.ts';
import { canOpen } from '../../core/secrets/openers.ts';
import { secretKey, secretNames } from '../../core/secrets/secret.ts';
import { ask, type ClientContext } from '../client-actions.ts';
import type { Random } from '../random.ts';
import { submissionOf } from '../submission.ts';
import { writeBox } from '../virtual-sealing.ts';
import { drawIntent } from '../workload.ts';
import { projects } from './projects.ts';

const names = ['s1', 's2'];
const mostJobsAlive = 3;

/** Sets and removes secrets, in a project or on a node itself, and submits what needs them. */
export async function workWithSecrets(context: ClientContext): Promise<void> {
  const { random } = context.cluster;
  const acts = [setOne, setTwice, removeOne, keepOnNode, submitWith, submitWith, submitWith];
  for (const command of random.pick(acts)(context)) await ask(context, command);
}

/** What waits for a secret that no node can open has it set once more. */
export async function setWhatIsMissing(context: ClientContext): Promise<void> {
  const { state } = context.plane;
  for (const { project, spec } of state.jobs.values()) {
    for (const name of secretNames(spec)) {
      const isSet = state.secrets.has(secretKey(project, name));
      if (isSet && [...state.nodes.values()].some((node) => canOpen(state, node, { project, name }))) continue;
      await ask(context, setSecret(context, project, name));
    }
  }
}

const setOne = (context: ClientContext): readonly Command[] => setTwice(context).slice(1);

/** At once again, as after a slip: nodes may just be sharing the first value. */
function setTwice(context: ClientContext): readonly Command[] {
  const { random } = context.cluster;
  const [project, name] = [drawProject(random), random.pick(names)];
  return [setSecret(context, project, name), setSecret(context, project, name)];
}

function removeOne({ cluster: { random }, life }: ClientContext): readonly Command[] {
  return [{ kind: 'RemoveSecret', project: drawProject(random), name: random.pick(names), by: life.name }];
}

/** Sealed to every node that there is, as whoever sets it sees them: some that came of late may be missing. */
function setSecret({ cluster: { random }, plane, life }: ClientContext, project: string, name: string): Command {
  const value = `${project}/${name} ${random.below(1_000_000)}`;
  const known = [...plane.state.nodes.values()].flatMap(({ publicKey }) => (publicKey === null ? [] : [publicKey]));
  const keys = random.happens(0.6) ? known : known.filter(() => random.happens(0.6));
  const boxes = Object.fromEntries(keys.map((publicKey) => [publicKey, writeBox({ publicKey, value })]));
  return { kind: 'SetSecret', project, name, boxes, by: life.name };
}

/** Somebody at the machine sets a secret that stays there, or removes it. */
function keepOnNode({ cluster, plane }: ClientContext): readonly [] {
  const { random, machines, world } = cluster;
  const nodes = [...plane.state.nodes.values()];
  if (nodes.length === 0) return [];
  const { name: node, publicKey } = random.pick(nodes);
  const directory = nodeSecretsDirectory(`/node/${node}`);
  const machine = machines.find(({ isUp, disk }) => isUp && disk.find(directory) !== null);
  if (machine === undefined || publicKey === null) return [];
  const { disk } = machine;
  const name = random.pick(names);
  const path = `${directory}/${name}`;
  if (random.happens(0.4)) {
    disk.remove(path);
  } else {
    const value = `node ${node} ${random.below(1_000_000)}`;
    const file = disk.open(path, { mode: 0o600 });
    if (file !== null) disk.setBytes(path, file, new TextEncoder().encode(writeBox({ publicKey, value })));
  }
  world.note(machine.name, `has another secret ${name}`);
  return [];
}

/** As a variable or as a file. Mostly such as are set. */
function submitWith({ cluster: { random }, plane }: ClientContext): readonly Command[] {
  const { state } = plane;
  if ([...state.jobs.values()].filter(({ spec }) => secretNames(spec).length > 0).length >= mostJobsAlive) return [];
  const known = [...state.secrets.values()];
  const { project, name: secret } =
    known.length > 0 && random.happens(0.8)
      ? random.pick(known)
      : { project: drawProject(random), name: random.pick(names) };
  const name = `s${random.below(1_000_000)}`;
  const { spec, settings } = drawIntent(random, name);
  const env = { [secretVariable(secret)]: random.happens(0.3) ? { secret, file: true } : { secret } };
  return [submissionOf({ spec: { ...spec, workspace: null, env }, settings, project, ids: [name] })];
}

/** The variable that gets a secret. */
function secretVariable(secret: string): string {
  return `SECRET_${secret}`;
}

function drawProject(random: Random): string {
  return random.pick(['default', 'default', ...projects]);
}
