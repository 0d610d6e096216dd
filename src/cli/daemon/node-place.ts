import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { NodeOptions, RunningNode } from '../../client/api.ts';
import { defaultNodeName } from '../../client/capacity.ts';
import { RefusalError } from '../../client/refusal-error.ts';
import { embeddedName } from '../../client/remote/contexts.ts';
import { readServerUrl } from '../../client/remote/server-url.ts';
import { checkName } from '../../core/job/check-spec.ts';
import type { NodeView } from '../../core/node/view.ts';
import { refuse } from '../../core/refusal.ts';
import { createNodeFiles } from '../../host/node/files.ts';
import { createNodeMachine } from '../../host/node/machine.ts';
import { type Context, type Options, textOption } from '../context.ts';

/** A node of this machine: its name, and the server that it belongs to; null for the control plane of this home. */
export interface NodePlace {
  readonly name: string;
  readonly server: { readonly url: string; readonly hasJoined: boolean } | null;
}

/**
 * What was typed, else the server that one works with, else the one that the node has joined before. `--context embedded`
 * leaves it with this home.
 */
export async function nodePlaceOf(context: Context, options: Options): Promise<NodePlace> {
  const name = textOption(options, 'name') ?? defaultNodeName({ machine: createNodeMachine() });
  // It becomes part of paths below.
  const wrong = checkName(name, 'name');
  if (wrong !== null) throw new RefusalError(wrong);
  if (textOption(options, 'context') === embeddedName) return { name, server: null };
  const { readJoinedServer } = await import('../../client/remote/agent/node-record.ts');
  const joined = await readJoinedServer(createNodeFiles(), `${context.home}/nodes/${name}`);
  const url = context.server()?.url ?? joined?.url;
  if (url === undefined) {
    if (textOption(options, 'tokenFile') === undefined) return { name, server: null };
    throw new RefusalError(
      refuse('MISSING_KEY', 'a join token is for a server, and none is named', { hint: '--server https://host:7443' }),
    );
  }
  return { name, server: { url, hasJoined: joined?.url === url } };
}

/** What is shown of a node that was started here. */
export type PlacedView = Pick<NodeView, 'id' | 'cpus' | 'memoryMiB' | 'gpus'>;

/** As its control plane has it; of a server, which its node has no right to ask, as the agent told it. */
export async function viewPlaced(context: Context, { name, server }: NodePlace): Promise<PlacedView> {
  if (server === null) return (await context.client()).nodes.get(name);
  const { readOffer } = await import('../../client/remote/agent/node-record.ts');
  const capacity = await readOffer(createNodeFiles(), `${context.home}/nodes/${name}`);
  return { id: name, cpus: 0, memoryMiB: 0, gpus: [], ...capacity };
}

/** Serves the node where it belongs. Null when another process serves its name here. */
export async function startPlaced(
  context: Context,
  { name, server }: NodePlace,
  given: { readonly wanted: NodeOptions; readonly options: Options },
): Promise<RunningNode | null> {
  if (server === null) return (await context.client()).nodes.start(given.wanted);
  const { startServerNode } = await import('../../client/remote/agent/start-remote-node.ts');
  const { prepareHome } = await import('../../client/home.ts');
  const address = context.server();
  const fingerprint = address?.url === server.url ? address.fingerprint : null;
  const joinToken = await joinTokenOf(context, server, given.options);
  return startServerNode({
    home: await prepareHome(context.home),
    server: { url: readServerUrl(server.url), fingerprint, ...(joinToken === null ? {} : { joinToken }) },
    node: { ...given.wanted, name },
    onNote: (message) => context.output.note(message),
  });
}

/** From the file; for whoever is signed in as an administrator it is made on the spot. */
async function joinTokenOf(
  context: Context,
  server: NonNullable<NodePlace['server']>,
  options: Options,
): Promise<string | null> {
  const path = textOption(options, 'tokenFile');
  if (path !== undefined) return readTokenFile(resolve(context.cwd, path), server.hasJoined);
  if (server.hasJoined || context.server()?.token == null) return null;
  return (await (await context.client()).tokens.createJoin()).token;
}

/** A node that has joined needs it no more, so that it may be gone by then. */
async function readTokenFile(path: string, hasJoined: boolean): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (hasJoined && code === 'ENOENT') return null;
    const what =
      code === 'ENOENT' ? `--token-file ${path} does not exist` : `the join token cannot be read: ${message}`;
    const hint = 'an administrator makes one: yard tokens create --join > FILE';
    // Nothing that is tried again changes that: an agent in the background is not started again.
    throw new RefusalError(refuse('MISSING_KEY', what, { path: 'token-file', hint }));
  }
}
