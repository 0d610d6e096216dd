import { removeNodeSecret, writeNodeSecret } from '../../agent/secrets/node-secrets.ts';
import { checkName } from '../../core/job/check-spec.ts';
import { type Refusal, refuse } from '../../core/refusal.ts';
import { checkSecretName } from '../../core/secrets/check-secret.ts';
import { createNodeFiles } from '../../host/node/files.ts';
import { createNodeMachine } from '../../host/node/machine.ts';
import { defaultNodeName } from '../capacity.ts';
import { prepareHome } from '../home.ts';
import { RefusalError } from '../refusal-error.ts';
import { openHomeKey } from './home-key.ts';
import { secretBytes } from './seal-for-all.ts';
import { sealTo } from './sealing.ts';

/** Which secret of which node of this home; the node is the machine's own unless told. */
export interface NodeSecret {
  readonly home: string;
  readonly node: string | undefined;
  readonly name: string;
}

/**
 * Sets a secret that stays on a node of this home: sealed to the home's key, mode 0600, and sent nowhere. A running
 * agent tells its name at once, a later one when it joins. Returns the node's name.
 */
export async function setNodeSecret(secret: NodeSecret, value: Uint8Array | string): Promise<string> {
  const { home, node, name } = await checked(secret);
  const box = await sealTo(secretBytes(value), (await openHomeKey(home)).publicKey);
  await writeNodeSecret(createNodeFiles(), `${home}/nodes/${node}`, name, box);
  return node;
}

/** Returns the node's name. */
export async function deleteNodeSecret(secret: NodeSecret): Promise<string> {
  const { home, node, name } = await checked(secret);
  if (await removeNodeSecret(createNodeFiles(), `${home}/nodes/${node}`, name)) return node;
  throw new RefusalError(
    refuse('NOT_FOUND', `node ${node} keeps no secret ${JSON.stringify(name)}`, { hint: 'yard secrets lists them' }),
  );
}

async function checked({ home, node, name }: NodeSecret): Promise<NodeSecret & { readonly node: string }> {
  const nodeName = node ?? defaultNodeName({ machine: createNodeMachine() });
  throwRefusal(checkName(nodeName, 'node') ?? checkSecretName(name, 'name'));
  return { home: await prepareHome(home), node: nodeName, name };
}

function throwRefusal(refusal: Refusal | null): void {
  if (refusal !== null) throw new RefusalError(refusal);
}
