import { dirname, resolve } from 'node:path';
import { makeRoomToBegin } from '../../agent/disk-guard.ts';
import { createNodeChance } from '../../host/node/chance.ts';
import { createNodeClock } from '../../host/node/clock.ts';
import { createNodeFiles } from '../../host/node/files.ts';
import { createNodeTimers } from '../../host/node/timers.ts';
import { type Context, flagOption, type Invocation, type Options } from '../context.ts';
import { writeBootUnit } from '../daemon/boot.ts';
import { processesOf, readRecord } from '../daemon/daemon-record.ts';
import { readNodeOptions, writeNodeOptions } from '../daemon/node-options.ts';
import { type NodePlace, nodePlaceOf, viewPlaced } from '../daemon/node-place.ts';
import { type Daemon, spawnDaemon } from '../daemon/spawn-daemon.ts';
import { failed } from '../exit-code.ts';
import { describeNode, gpuTrouble } from './node-start.ts';

const lookAgainMs = 25;
/** How often is looked at what the agent says while it is not ready. */
const listenMs = 500;

/** Starts the agent in the background and waits until its node is ready. One that runs already is left as it is. */
export async function execute(context: Context, { options }: Invocation): Promise<number> {
  readNodeOptions(options);
  const place = await nodePlaceOf(context, options);
  if (flagOption(options, 'boot')) {
    await writeBootUnit(context, place.name, bootOptions(place, options));
    return 0;
  }
  await makeRoomToBegin(createNodeFiles(), `${context.home}/nodes/${place.name}`);
  if (await isRunning(context, place)) {
    const view = await viewPlaced(context, place);
    const pid = await pidOf(context, place.name);
    const by = pid === null ? 'a command that waits for its job serves it' : `runs already, pid ${pid}`;
    context.output.answer(view, () => `${describeNode(view)}  ${by}`);
    if (['cpus', 'memory', 'gpus', 'labels', 'advertise'].some((option) => options[option] !== undefined)) {
      const again = `yard down --keep --name ${place.name}, then yard up again`;
      context.output.note(`it was started with options of its own, and keeps them: ${again}`);
    }
    return 0;
  }
  return startDaemon(context, place, options);
}

/** At boot there are no variables and no context that name the server. */
function bootOptions({ server }: NodePlace, options: Options): Options {
  if (server === null) return options;
  const { context: _context, ...rest } = options;
  return { ...rest, server: server.url };
}

/** A node of a server asks nothing of it that only a person may ask. */
async function isRunning(context: Context, { name, server }: NodePlace): Promise<boolean> {
  if (server === null) return (await context.client()).nodes.isRunning(name);
  const { isServedHere } = await import('../../client/served-here.ts');
  const host = { timers: createNodeTimers(), clock: createNodeClock(), chance: createNodeChance() };
  return isServedHere({ home: context.home, host }, name);
}

async function startDaemon(context: Context, place: NodePlace, options: Options): Promise<number> {
  const { name } = place;
  const logPath = `${context.home}/nodes/${name}/agent.log`;
  const given = writeNodeOptions(options, context.cwd);
  const agent = [...context.self, 'node', 'start', '--home', context.home, '--no-color', ...given];
  const argv = [process.execPath, supervisorPath(context), context.home, name, ...agent];
  // A node that has joined speaks with its own key: its agent, and what it runs, need nobody's token.
  const { RUNYARD_TOKEN: _token, ...withoutToken } = context.env;
  const daemon = spawnDaemon(argv, logPath, place.server?.hasJoined === true ? withoutToken : context.env);
  const ready = new AbortController();
  const ended = await Promise.race([daemon.ended, untilReady(context, place, { signal: ready.signal, daemon })]);
  ready.abort();
  if (ended !== null && (await pidOf(context, name)) === null) {
    const how = ended.signal === null ? `ended with code ${ended.code}` : `was killed by ${ended.signal}`;
    const excerpt = daemon.said();
    context.output.error({
      code: 'FAULT',
      message: `the agent of ${name} ${how}`,
      hint: `its log: ${logPath}`,
      path: null,
      excerpt: excerpt === '' ? null : excerpt,
    });
    return failed;
  }
  daemon.release();
  const trouble = daemon
    .said()
    .split('\n')
    .findLast((line) => line.startsWith(gpuTrouble));
  if (trouble !== undefined) context.output.note(trouble);
  // Of two that start at once, one serves the node, and that is what both wanted.
  const pid = await pidOf(context, name);
  const view = await viewPlaced(context, place);
  const where = place.server === null ? '' : `  of ${place.server.url}`;
  context.output.answer(view, () => `${describeNode(view)}${where}  pid ${pid}  yard down ends it`);
  return 0;
}

/**
 * Resolves with null once the agent has named itself; it does that when its node is ready. One that fails is started
 * again for a while: why it did is said meanwhile.
 */
async function untilReady(
  context: Context,
  { name, server }: NodePlace,
  { signal, daemon }: { readonly signal: AbortSignal; readonly daemon: Daemon },
): Promise<null> {
  let told: string | null = null;
  for (let looks = 1; !signal.aborted && (await pidOf(context, name)) === null; looks += 1) {
    await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
    if ((looks * lookAgainMs) % listenMs !== 0) continue;
    const trouble = troubleIn(daemon.said());
    if (trouble === null || trouble === told) continue;
    context.output.note(
      `${name} is not ready: ${trouble}\n  it is tried again; Ctrl-C leaves it trying, yard down ends it`,
    );
    told = trouble;
  }
  if (!signal.aborted && server === null) await (await context.client()).nodes.list();
  return null;
}

/** What the agent said when it last failed; null while it has not. */
function troubleIn(said: string): string | null {
  const failed = said.lastIndexOf('; it is started again in ');
  if (failed < 0) return null;
  const words = said.slice(0, failed).split('\n');
  return words.findLast((line) => line.startsWith('error: '))?.slice('error: '.length) ?? words.at(-1) ?? null;
}

/** Beside the command itself, in the folder of the bundle. */
function supervisorPath(context: Context): string {
  return resolve(dirname(context.self.at(-1) ?? ''), 'supervisor.js');
}

async function pidOf(context: Context, name: string): Promise<number | null> {
  const processes = processesOf(context.home);
  const identity = await readRecord(context.home, name, processes);
  processes.close();
  return identity?.pid ?? null;
}
