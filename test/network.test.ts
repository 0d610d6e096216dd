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
const all = [replace, wait, service];

const serviceFile = `[service]
name = "web"
run = "sleep ${service}"

[profile]
replicas = 1
port = false
resources = { cpus = 0.1 }
rollout = { minReady = "0s" }
`;

/** A site at work: a job that is replaced when its node is lost, one that waits, and a service. */
class Work {
  readonly site: Site;
  readonly #replaced: string;
  readonly #waiting: string;

  private constructor(site: Site, replaced: string, waiting: string) {
    this.site = site;
    this.#replaced = replaced;
    this.#waiting = waiting;
  }

  static async begin(): Promise<Work> {
    const site = await Site.open();
    const replaced = await site.begin('replaced', replace, 'retry = { maxAttempts = 1000 }');
    const waiting = await site.begin('waiting', wait, 'onNodeLoss = "wait"');
    writeFileSync(join(site.laptop.folder, 'web.toml'), serviceFile);
    expect(await site.yard(['apply', 'web.toml'])).toMatchObject({ code: 0 });
    return new Work(site, replaced, waiting);
  }

  nodeOf(seconds: number): LabHost {
    const [copy] = this.site.copies(seconds);
    if (copy === undefined) throw new Error(`nothing sleeps ${seconds} s`);
    return copy.node;
  }

  waiting() {
    return this.site.job(this.#waiting);
  }

  /** Exactly one live copy of each, every node there, and the control plane knows it all. */
  untilConverged(): Promise<void> {
    return until(async () => {
      const { site } = this;
      if (all.some((seconds) => site.copies(seconds).length !== 1)) return false;
      for (const node of site.nodes) if ((await site.stateOf(node)) !== 'READY') return false;
      const jobs = [await site.job(this.#replaced), await this.waiting()];
      const web = await site.service('web');
      const said = [...jobs, ...web.replicas].map((job) => job.tasks.find(({ step }) => step === 'run')?.node);
      const live = all.map((seconds) =>
        site
          .copies(seconds)
          .map(({ node }) => node.name)
          .join(),
      );
      return web.ready === 1 && said.join(' ') === live.join(' ');
    }, 'one copy of each');
  }
}

describe.skipIf(whyNot !== null)(`a server and its nodes${whyNot === null ? '' : ` (skipped: ${whyNot})`}`, () => {
  let work: Work;
  let site: Site;

  beforeEach(async () => {
    work = await Work.begin();
    site = work.site;
  });
  afterEach(() => site.close());

  it('replace what a lost node ran, wait for it, or serve elsewhere; once healed one copy of each lives [C8] [X12] [X4] [I12] [S11]', async () => {
    const before = work.nodeOf(replace);
    const cut = new Set([before, work.nodeOf(wait)]);
    for (const node of cut) site.lab.cut(node, site.host);
    for (const node of cut) await site.untilNode(node, 'LOST');
    await until(() => site.copies(replace).length === 2, 'a second copy elsewhere');
    expect(site.copies(wait)).toHaveLength(1);
    const waiting = await work.waiting();
    expect(waiting).toMatchObject({ state: 'RUNNING', attempt: 1, waiting: { reason: 'node-lost' } });
    for (const node of cut) site.lab.heal(node);
    await work.untilConverged();
    expect(work.nodeOf(replace)).not.toBe(before);
    expect((await work.waiting()).attempt).toBe(1);
  });

  it('come to the same when only one direction of a link fails [C8] [X12]', async () => {
    const deaf = work.nodeOf(replace);
    site.lab.cutOneWay(site.host, deaf);
    await site.untilNode(deaf, 'LOST');
    site.lab.heal(deaf);
    await work.untilConverged();
    const mute = work.nodeOf(service);
    site.lab.cutOneWay(mute, site.host);
    await site.untilNode(mute, 'LOST');
    site.lab.heal(mute);
    await work.untilConverged();
  });

  it('lose nothing and nobody through an outage of the server itself [X12] [G10]', async () => {
    const before = all.map((seconds) => site.copies(seconds)[0]?.pid);
    const command = ['sh', '-c', 'sleep 3; echo LAST; exit 7'];
    const ending = await site.yard(['submit', '--no-workspace', '--quiet', '--', ...command]);
    await site.killServer();
    // Longer than the lease and the grace together: it was the server that was away.
    await new Promise((done) => setTimeout(done, 9000));
    await site.startServer();
    expect((await site.yard(['wait', ending.stdout.trim()])).code).toBe(7);
    expect((await site.yard(['logs', ending.stdout.trim()])).stdout).toBe('LAST\n');
    await work.untilConverged();
    expect(all.map((seconds) => site.copies(seconds)[0]?.pid)).toEqual(before);
    const { stdout } = await site.yard(['events', '--json']);
    expect(stdout).not.toContain('"NodeDeclaredLost"');
  });
});

/** A hundred schedules take an hour in a row: four sites go through a quarter of them each. */
const sites = isFull ? 4 : 1;
const rounds = isFull ? 25 : 1;

describe.skipIf(whyNot !== null)(`${sites * rounds} random schedules of cuts, heals and kills`, () => {
  it('end with one live copy of each, and never had two of what must not run twice [C8] [X12] [I12]', async () => {
    await Promise.all(Array.from({ length: sites }, (_, number) => endure(number)));
  }, 3_600_000);
});

async function endure(number: number): Promise<void> {
  const work = await Work.begin();
  const { site } = work;
  try {
    const [first] = site.copies(wait);
    for (let round = 0; round < rounds; round += 1) {
      const chance = createChance(1 + number * rounds + round);
      for (let step = 0; step < 4; step += 1) await strike(site, chance);
      for (const node of site.nodes) {
        site.lab.heal(node);
        await site.startAgent(node);
      }
      await work.untilConverged();
      expect(site.copies(wait).map(({ pid }) => pid)).toEqual([first?.pid]);
      if (isFull) console.log(`site ${number}, schedule ${round}: converged`);
    }
  } finally {
    await site.close();
  }
}

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
  let state = seed * 7919;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
