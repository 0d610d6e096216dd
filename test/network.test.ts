import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isFull, until } from './lab.ts';
import type { LabHost } from './network-lab.ts';
import { whyNoNetworkLab } from './network-lab.ts';
import { Site } from './network-site.ts';

const whyNot = whyNoNetworkLab();

/** How long each of the three sleeps: by that its processes are told apart. */
const replace = 7001;
const wait = 7002;
const service = 7003;

const serviceFile = `[service]
name = "web"
run = "sleep ${service}"

[profile]
replicas = 1
port = false
resources = { cpus = 0.1 }
rollout = { minReady = "0s" }
`;

describe.skipIf(whyNot !== null)(`a server and its nodes${whyNot === null ? '' : ` (skipped: ${whyNot})`}`, () => {
  let site: Site;
  let replaced: string;
  let waiting: string;

  beforeEach(async () => {
    site = await Site.open();
    replaced = await site.begin('replaced', replace, 'retry = { maxAttempts = 20 }');
    waiting = await site.begin('waiting', wait, 'onNodeLoss = "wait"');
    writeFileSync(join(site.laptop.folder, 'web.toml'), serviceFile);
    expect(await site.yard(['apply', 'web.toml'])).toMatchObject({ code: 0 });
  }, 120_000);
  afterEach(() => site.close());

  const nodeOf = (seconds: number): LabHost => {
    const [copy] = site.copies(seconds);
    if (copy === undefined) throw new Error(`nothing sleeps ${seconds} s`);
    return copy.node;
  };

  /** Exactly one live copy of each, and the control plane knows it. */
  const converged = async (): Promise<boolean> => {
    if ([replace, wait, service].some((seconds) => site.copies(seconds).length !== 1)) return false;
    for (const node of site.nodes) if ((await site.stateOf(node)) !== 'READY') return false;
    const jobs = [await site.job(replaced), await site.job(waiting)];
    const web = await site.service('web');
    const said = [...jobs, ...web.replicas].map((job) => job.tasks.find(({ step }) => step === 'run')?.node);
    const true_ = [replace, wait, service].map((seconds) => nodeOf(seconds).name);
    return web.ready === 1 && JSON.stringify(said) === JSON.stringify(true_);
  };

  it('replace what a lost node ran, wait for it, or serve elsewhere; once healed one copy of each lives [C8] [X12] [X4] [I12] [S11]', async () => {
    const attempts = site.copies(replace);
    const cut = new Set([replace, wait, service].map(nodeOf));
    // One node stays, or nobody could take over.
    const spare = site.nodes.find((node) => !cut.has(node)) ?? nodeOf(wait);
    for (const node of cut) if (node !== spare) site.lab.cut(node, site.host);
    for (const node of cut) if (node !== spare) await site.untilNode(node, 'LOST');
    if (nodeOf(replace) !== spare || attempts.length > 1) {
      await until(() => site.copies(replace).length === 2, 'a second copy elsewhere');
    }
    expect(site.copies(wait)).toHaveLength(1);
    const asked = await site.job(waiting);
    expect(asked).toMatchObject({ state: 'RUNNING', attempt: 1 });
    for (const node of cut) site.lab.heal(node);
    await until(converged, 'one copy of each');
    expect((await site.job(waiting)).attempt).toBe(1);
  });

  it('come to the same when only one direction of a link fails [C8] [X12]', async () => {
    const node = nodeOf(replace);
    site.lab.cutOneWay(site.host, node);
    await site.untilNode(node, 'LOST');
    site.lab.heal(node);
    await until(converged, 'one copy of each');
    const other = nodeOf(replace);
    site.lab.cutOneWay(other, site.host);
    await site.untilNode(other, 'LOST');
    site.lab.heal(other);
    await until(converged, 'one copy of each');
  });

  it('lose nothing and nobody through an outage of the server itself [X12] [G10]', async () => {
    const before = [replace, wait, service].map((seconds) => site.copies(seconds)[0]?.pid);
    const ending = await site.yard([
      'submit',
      '--no-workspace',
      '--quiet',
      '--',
      'sh',
      '-c',
      'sleep 3; echo LAST; exit 7',
    ]);
    await site.killServer();
    // Longer than the lease and the grace together: it was the server that was away.
    await new Promise((done) => setTimeout(done, 9000));
    await site.startServer();
    expect((await site.yard(['wait', ending.stdout.trim()])).code).toBe(7);
    expect((await site.yard(['logs', ending.stdout.trim()])).stdout).toBe('LAST\n');
    await until(converged, 'one copy of each');
    expect([replace, wait, service].map((seconds) => site.copies(seconds)[0]?.pid)).toEqual(before);
    const { stdout } = await site.yard(['events', '--json']);
    expect(stdout).not.toContain('"NodeDeclaredLost"');
  });

  it(
    `converge after cuts, heals and kills at random, ${isFull ? 'a hundred' : 'a few'} times [C8] [X12] [I12]`,
    async () => {
      for (let round = 1; round <= (isFull ? 100 : 2); round += 1) {
        const chance = createChance(round);
        for (let step = 0; step < 4; step += 1) await strike(site, chance);
        for (const node of site.nodes) {
          site.lab.heal(node);
          await site.startAgent(node);
        }
        await until(converged, `one copy of each after round ${round}`);
        // What must never run twice is still what it was at first.
        expect((await site.job(waiting)).attempt).toBe(1);
      }
    },
    isFull ? 3_600_000 : 240_000,
  );
});

/** One thing that goes wrong, and a while in which it does. */
async function strike(site: Site, chance: () => number): Promise<void> {
  const node = site.nodes[Math.floor(chance() * site.nodes.length)] ?? site.host;
  const kinds = [
    async () => site.lab.cut(node, site.host),
    async () => site.lab.cutOneWay(node, site.host),
    async () => site.lab.cutOneWay(site.host, node),
    async () => site.lab.lose(node, 20),
    async () => site.lab.heal(node),
    async () => {
      await site.killServer();
      await site.startServer();
    },
    async () => {
      await node.yard(['down', '--name', node.name, '--keep']);
    },
  ];
  await kinds[Math.floor(chance() * kinds.length)]?.();
  await new Promise((done) => setTimeout(done, Math.floor(chance() * 9000)));
}

/** Numbers from 0 to 1, the same for the same seed: Lehmer's generator. */
function createChance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
