import { ControlPlane } from '../control/control-plane.ts';
import { sleep } from '../host/clock.ts';
import { ask, type ClientContext, meddle, sample, submit } from './client-actions.ts';
import type { Cluster } from './cluster.ts';
import { describeFault } from './expected-fault.ts';
import { type Life, startLife } from './life.ts';
import type { Machine } from './machine.ts';
import { meddleWithService, removeServices } from './service-actions.ts';
import { openSimLog } from './sim-log.ts';
import type { Intent } from './workload.ts';

/** Somebody with a terminal: submits, meddles, and starts the program again when it was killed. */
export class SimClient {
  readonly name: string;
  readonly machine: Machine;
  readonly #cluster: Cluster;
  readonly #intents: readonly Intent[];
  readonly #services: readonly string[];
  #life: Life | null = null;
  /** Set once the world has healed: then what is open is brought to its end, and nothing new is thought of. */
  isCalm = false;
  /** Set at the end of a seed with services: none may stay up. */
  isClosing = false;

  constructor(
    cluster: Cluster,
    options: { name: string; machine: Machine; intents: readonly Intent[]; services: readonly string[] },
  ) {
    this.#cluster = cluster;
    this.name = options.name;
    this.machine = options.machine;
    this.#intents = options.intents;
    this.#services = options.services;
  }

  get life(): Life | null {
    return this.#life;
  }

  start(): void {
    if (this.#life !== null || !this.machine.isUp) return;
    const { name, machine } = this;
    this.#life = startLife(this.#cluster, {
      name,
      role: 'client',
      machine,
      main: (life) => this.#work(life),
      onEnd: () => {
        this.#life = null;
        this.#cluster.world.schedule(this.#cluster.random.between(10, 3000), () => this.start());
      },
    });
  }

  async #work(life: Life): Promise<void> {
    const { random, world } = this.#cluster;
    const log = await openSimLog(this.#cluster, life);
    const plane = await ControlPlane.open(log, life.host, life.fail);
    const context: ClientContext = { cluster: this.#cluster, life, plane };
    // Some wait for what happens; the others look when they want something.
    if (random.happens(0.5)) plane.subscribe(() => {});
    for (;;) {
      await sleep(life.host.timers, random.between(20, 5000));
      try {
        if (this.isCalm) await plane.catchUp();
        await this.#act(context);
      } catch (error) {
        const { isExpected, text } = describeFault(error);
        if (!isExpected) throw error;
        world.note(this.name, `tries again: ${text.split('\n', 1)[0]}`);
      }
    }
  }

  async #act(context: ClientContext): Promise<void> {
    const { random } = this.#cluster;
    const open = this.#intents.filter((intent) => !intent.isAnswered);
    if (this.isCalm) {
      const [first] = open;
      await (first === undefined ? bringToRest(context) : submit(context, first));
      if (this.isClosing) await removeServices(context);
      return;
    }
    if (this.#services.length > 0 && random.happens(serviceShare)) {
      await meddleWithService(context, random.pick(this.#services));
      return;
    }
    const known = this.#intents.filter((intent) => intent.isAnswered);
    if (open.length > 0 && random.happens(0.6)) await submit(context, random.pick(open));
    else if (known.length > 0 && random.happens(0.1)) await submit(context, random.pick(known));
    else if (random.happens(0.7)) await meddle(context);
    else await sample(context);
  }
}

/** Rarely enough for rollouts to come to their end, often enough to meet them in the middle. */
const serviceShare = 0.35;

/** Opens what somebody closed. */
async function bringToRest(context: ClientContext): Promise<void> {
  for (const node of context.plane.state.nodes.values()) {
    if (node.drain !== null) await ask(context, { kind: 'ResumeNode', node: node.name, by: context.life.name });
  }
}
