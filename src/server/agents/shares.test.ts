import { generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { shareSecrets } from '../../agent/secrets/share-secrets.ts';
import type { HomeKey } from '../../client/secrets/home-key.ts';
import { sealingOf } from '../../client/secrets/sealing.ts';
import { capacityOf } from '../../core/scenario.testsuite.ts';
import type { ShareRequest } from '../../core/secrets/shares.ts';
import { type AgentLab, openAgentLab, type TestAgent } from './agents.testsuite.ts';

let lab: AgentLab;
beforeEach(async () => {
  lab = await openAgentLab();
  for (const node of ['n1', 'n2']) await lab.admit(node);
});
afterEach(() => lab.close());

const keys = { n1: drawKey(), n2: drawKey() };

function drawKey(): HomeKey {
  const { x = '', d = '' } = generateKeyPairSync('x25519').privateKey.export({ format: 'jwk' });
  const [publicKey = '', privateKey = ''] = [x, d].map((half) => Buffer.from(half, 'base64url').toString('base64'));
  return { publicKey, privateKey };
}

function join(agent: TestAgent, node: keyof typeof keys): Promise<void> {
  const { publicKey } = keys[node];
  return agent.channel.join(() =>
    Promise.resolve({
      node,
      instance: 'i1',
      bootId: 'boot',
      capacity: capacityOf(),
      advertise: '127.0.0.1',
      platform: 'linux',
      version: '0.1.0',
      inventory: [],
      publicKey,
    }),
  );
}

it('asks an agent over the network to share a secret with a node that came later, and takes its boxes [G14] [I14]', async () => {
  const { plane } = lab.embedded;
  const old = lab.agent('n1');
  await join(old, 'n1');
  const sealing = sealingOf(keys.n1);
  const box = await sealing.seal(new TextEncoder().encode('a value'), keys.n1.publicKey);
  const boxes = { [keys.n1.publicKey]: box };
  await plane.execute({ kind: 'SetSecret', project: 'default', name: 'hf', boxes, by: 'ada' });
  const asked: ShareRequest[] = [];
  old.channel.followShares((requests) => asked.push(...requests));
  await join(lab.agent('n2'), 'n2');
  await lab.time.pass(10);
  expect(asked).toEqual([{ project: 'default', name: 'hf', box, publicKeys: [keys.n2.publicKey] }]);
  const shared = await shareSecrets(sealing, asked);
  await old.channel.report({ events: [], released: [], shared });
  await lab.time.pass(10);
  const stored = plane.state.secrets.get('default/hf')?.boxes.get(keys.n2.publicKey);
  expect(stored).toBe(shared[0]?.boxes[keys.n2.publicKey]);
  // Nothing is left to ask, also of an agent that connects again.
  old.network.drop();
  await lab.time.pass(5000);
  expect(asked).toHaveLength(1);
  expect(lab.faults).toEqual([]);
});
