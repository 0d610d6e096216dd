import { defaultProject } from '../../core/access/access.ts';
import { mayRead } from '../../core/access/authorize.ts';
import { checkSecretsSet } from '../../core/secrets/decide.ts';
import { viewSecrets } from '../../core/secrets/view.ts';
import type { State } from '../../core/state.ts';
import { type Embedded, execute } from '../embedded.ts';
import { RefusalError } from '../refusal-error.ts';
import type { SecretKey, Secrets } from '../secret-api.ts';
import { requireProject } from '../visible.ts';
import { openHomeKey } from './home-key.ts';
import { sealForAll } from './seal-for-all.ts';

export function createSecrets(embedded: Embedded): Secrets {
  const { plane, actor, home } = embedded;
  const secrets: Secrets = {
    async list(options = {}) {
      await plane.catchUp();
      if (options.project !== undefined) await requireProject(embedded, options.project);
      return viewSecrets(plane.state, options.project ?? null).filter(
        ({ project }) => project === null || mayRead(plane.state, actor, project),
      );
    },
    async set(name, value, options) {
      await plane.catchUp();
      const keys = keysOf(plane.state).map(({ publicKey }) => publicKey);
      await secrets.setSealed(name, await sealForAll(value, await withOwnKey(home, keys)), options);
    },
    async setSealed(name, boxes, { project = defaultProject } = {}) {
      await execute(embedded, { kind: 'SetSecret', project, name, boxes, by: actor.name });
    },
    async remove(name, { project = defaultProject } = {}) {
      await execute(embedded, { kind: 'RemoveSecret', project, name, by: actor.name });
    },
    async require(spec, options) {
      await plane.catchUp();
      requireSecrets(plane.state, spec, options?.project);
    },
    async keys() {
      await plane.catchUp();
      return keysOf(plane.state);
    },
  };
  return secrets;
}

/** Throws SECRET_NOT_SET where the environment names a secret that is not set. */
export function requireSecrets(
  state: State,
  spec: Parameters<typeof checkSecretsSet>[2],
  project: string = defaultProject,
): void {
  const unset = checkSecretsSet(state, project, spec);
  if (unset !== null) throw new RefusalError(unset);
}

/** The keys of the nodes that have joined; nodes of one home share theirs. */
function keysOf(state: State): readonly SecretKey[] {
  const nodes = new Map<string, string[]>();
  for (const { name, publicKey } of state.nodes.values()) {
    if (publicKey !== null) nodes.set(publicKey, [...(nodes.get(publicKey) ?? []), name]);
  }
  return [...nodes].map(([publicKey, names]) => ({ keyId: publicKey, publicKey, nodes: names.sort() }));
}

/**
 * Where the home serves its own nodes, its key is among them, or no node has joined yet and the first one will have it.
 * The home of a server whose nodes are elsewhere must not be able to open anything.
 */
async function withOwnKey(home: string, keys: readonly string[]): Promise<readonly string[]> {
  return keys.length === 0 ? [(await openHomeKey(home)).publicKey] : keys;
}
