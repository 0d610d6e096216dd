import { existsSync, readdirSync } from 'node:fs';
import type { RunyardClient } from '../../client/api.ts';
import { RefusalError } from '../../client/refusal-error.ts';
import { parseTaskKey } from '../../core/job/job.ts';
import { refuse } from '../../core/refusal.ts';
import type { NodeProcesses } from '../../host/node/processes.ts';
import type { ProcessIdentity } from '../../host/processes.ts';
import { type Context, flagOption, type Invocation, type Options } from '../context.ts';
import { removeBootUnit } from '../daemon/boot.ts';
import { processesOf, readRecord } from '../daemon/daemon-record.ts';
import { type NodePlace, nodePlaceOf } from '../daemon/node-place.ts';
import { UsageError } from '../usage-error.ts';

const lookAgainMs = 25;
const longestEndMs = 30_000;

/** Ends the agent of `yard up`. With work on the node it wants to be told what becomes of it. */
export async function execute(context: Context, { options }: Invocation): Promise<number> {
  const place = await nodePlaceOf(context, options);
  const { name } = place;
  const choice = readChoice(options);
  if (flagOption(options, 'boot')) {
    await removeBootUnit(context, name);
    return 0;
  }
  const processes = processesOf(context.home);
  try {
    const supervisor = await readRecord(context.home, name, processes, 'supervisor');
    const agent = await readRecord(context.home, name, processes);
    if (agent === null && supervisor === null) {
      context.output.answer({ node: name, running: false }, () => `${name}  no agent runs in the background`);
      for (const other of await othersHere(context.home, name, processes))
        context.output.note(`${other} runs here: yard down --name ${other}`);
      return 0;
    }
    const client = await clientFor(context, place, choice);
    const hasDrained = client !== null && (await settleTasks(context, client, name, choice));
    await end(supervisor, agent, { processes, name });
    if (hasDrained) await client.nodes.resume(name);
    context.output.answer({ node: name, running: false }, () => `${name}  down`);
    return 0;
  } finally {
    processes.close();
  }
}

/** Nodes of this home, other than the one that was meant, whose agent runs in the background. */
async function othersHere(home: string, name: string, processes: NodeProcesses): Promise<readonly string[]> {
  const nodes = existsSync(`${home}/nodes`) ? readdirSync(`${home}/nodes`) : [];
  const running: string[] = [];
  for (const node of nodes.sort()) {
    if (node !== name && (await readRecord(home, node, processes)) !== null) running.push(node);
  }
  return running;
}

/**
 * Who is asked about the node's tasks, and to drain it or stop them; null where nobody has to be. A node of a server has
 * no right to that by itself: it takes a person who is signed in there.
 */
async function clientFor(context: Context, { name, server }: NodePlace, choice: Choice): Promise<RunyardClient | null> {
  if (server === null) return context.client();
  const left = listLiving(`${context.home}/nodes/${name}/attempts`);
  if (choice === 'keep' || left.length === 0) return null;
  if (choice === null) throw stillRuns(name, left);
  const address = context.server();
  if (address?.url === server.url && address.token !== null) return context.client();
  throw new RefusalError(
    refuse('UNAUTHORIZED', `to ${choice} what runs on ${name} takes somebody who is signed in to ${server.url}`, {
      hint: `yard login ${server.url}; or --keep`,
    }),
  );
}

/** Attempts that the agent has not put aside. */
function listLiving(path: string): readonly string[] {
  return existsSync(path) ? readdirSync(path) : [];
}

function stillRuns(name: string, tasks: readonly string[]): RefusalError {
  const message = `${tasks.length} ${tasks.length === 1 ? 'task runs' : 'tasks run'} on ${name}: ${tasks.slice(0, 3).join(', ')}`;
  const hint = '--drain waits for it, --stop stops it, --keep lets it run on until the next agent adopts it';
  return new RefusalError(refuse('WRONG_STATE', message, { hint }));
}

type Choice = 'drain' | 'stop' | 'keep' | null;

function readChoice(options: Options): Choice {
  const chosen = (['drain', 'stop', 'keep'] as const).filter((one) => flagOption(options, one));
  if (chosen.length > 1) throw new UsageError(`--${chosen.join(' and --')} exclude each other`, 'choose one');
  return chosen[0] ?? null;
}

/** Returns once nothing is left that was not to be kept; true when the node takes nothing until it is resumed. */
async function settleTasks(context: Context, client: RunyardClient, name: string, choice: Choice): Promise<boolean> {
  const tasks = await tasksOn(client, name);
  if (choice === 'keep') return false;
  if (tasks.length > 0 && choice === null) throw stillRuns(name, tasks);
  // Nothing new may come meanwhile: services replace at once what is stopped. What a person drained stays so.
  const drains = choice !== null && tasks.length > 0 && (await client.nodes.get(name)).state === 'READY';
  if (drains) await client.nodes.drain(name, { reason: `yard down --${choice}` });
  if (choice === 'stop') await stopAll(client, await tasksOn(client, name));
  else await sayWhatNeverEnds(context, client, tasks);
  for (let left = tasks; left.length > 0; left = await tasksOn(client, name)) {
    context.output.live({
      id: name,
      label: choice === 'drain' ? 'draining' : 'stopping',
      detail: `${left.length} left`,
      document: {},
    });
    await pause();
  }
  context.output.live(null);
  return drains;
}

async function tasksOn(client: RunyardClient, name: string): Promise<readonly string[]> {
  const nodes = await client.nodes.list();
  return nodes.find((node) => node.id === name)?.tasks ?? [];
}

async function stopAll(client: RunyardClient, tasks: readonly string[]): Promise<void> {
  for (const id of jobsOf(tasks)) await (await client.jobs.get(id)).stop();
}

/** Waiting for a service would go on until somebody stops it, which has to be said. */
async function sayWhatNeverEnds(context: Context, client: RunyardClient, tasks: readonly string[]): Promise<void> {
  const services = new Set<string>();
  for (const id of jobsOf(tasks)) services.add((await (await client.jobs.get(id)).view()).service ?? '');
  services.delete('');
  for (const service of services)
    context.output.note(`${service} is a service and does not end by itself\n  yard services stop ${service}`);
}

function jobsOf(tasks: readonly string[]): ReadonlySet<string> {
  return new Set(tasks.map((task) => parseTaskKey(task)?.job).filter((id) => id !== undefined));
}

/** The supervisor passes the signal on, and starts nothing again. */
async function end(
  supervisor: ProcessIdentity | null,
  agent: ProcessIdentity | null,
  { processes, name }: { processes: NodeProcesses; name: string },
): Promise<void> {
  const all = [supervisor, agent].filter((one) => one !== null);
  for (const one of all) await processes.signal(one, 'SIGTERM');
  for (const one of all) await untilGone(one, processes, name);
}

async function untilGone(one: ProcessIdentity, processes: NodeProcesses, name: string): Promise<void> {
  const deadlineMs = performance.now() + longestEndMs;
  while (await processes.isAlive(one)) {
    if (performance.now() > deadlineMs) {
      throw new Error(`the agent of ${name} (pid ${one.pid}) has not ended ${longestEndMs / 1000} s after SIGTERM`);
    }
    await pause();
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, lookAgainMs));
}
