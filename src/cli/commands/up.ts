import { dirname, resolve } from 'node:path';
import type { RunyardClient } from '../../client/api.ts';
import { type Context, flagOption, type Invocation, type Options } from '../context.ts';
import { writeBootUnit } from '../daemon/boot.ts';
import { processesOf, readRecord } from '../daemon/daemon-record.ts';
import { readNodeOptions, writeNodeOptions } from '../daemon/node-options.ts';
import { spawnDaemon, tailOf } from '../daemon/spawn-daemon.ts';
import { failed } from '../exit-code.ts';
import { describeNode } from './node-start.ts';

const lookAgainMs = 25;

/** Starts the agent in the background and waits until its node is ready. One that runs already is left as it is. */
export async function execute(context: Context, { options }: Invocation): Promise<number> {
  const client = await context.client();
  const name = readNodeOptions(options).name ?? client.nodes.defaultName();
  if (flagOption(options, 'boot')) {
    await writeBootUnit(context, name, options);
    return 0;
  }
  if (await client.nodes.isRunning(name)) {
    const view = await client.nodes.get(name);
    const pid = await pidOf(context, name);
    const by = pid === null ? 'a command that waits for its job serves it' : `runs already, pid ${pid}`;
    context.output.answer(view, () => `${describeNode(view)}  ${by}`);
    return 0;
  }
  return startDaemon(context, client, name, options);
}

async function startDaemon(context: Context, client: RunyardClient, name: string, options: Options): Promise<number> {
  const logPath = `${context.home}/nodes/${name}/agent.log`;
  const agent = [...context.self, 'node', 'start', '--home', context.home, '--no-color', ...writeNodeOptions(options)];
  const argv = [process.execPath, supervisorPath(context), context.home, name, ...agent];
  const daemon = spawnDaemon(argv, logPath);
  const ready = new AbortController();
  const ended = await Promise.race([daemon.ended, untilReady(context, client, name, ready.signal)]);
  ready.abort();
  if (ended !== null && (await pidOf(context, name)) === null) {
    const how = ended.signal === null ? `ended with code ${ended.code}` : `was killed by ${ended.signal}`;
    const excerpt = tailOf(logPath);
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
  // Of two that start at once, one serves the node, and that is what both wanted.
  const pid = await pidOf(context, name);
  const view = await client.nodes.get(name);
  context.output.answer(view, () => `${describeNode(view)}  pid ${pid}  yard down ends it`);
  return 0;
}

/** Resolves with null once the agent has named itself; it does that when its node is ready. */
async function untilReady(context: Context, client: RunyardClient, name: string, signal: AbortSignal): Promise<null> {
  while (!signal.aborted && (await pidOf(context, name)) === null) {
    await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
  }
  if (!signal.aborted) await client.nodes.list();
  return null;
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
