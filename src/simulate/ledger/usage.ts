import type { Allocation } from '../../core/job/facts.ts';
import type { NodeGroup } from '../plan.ts';
import type { VirtualNode } from '../world/cluster.ts';
import { Quantiles } from './quantiles.ts';
import { type Series, Timeline } from './timeline.ts';

/** How full one kind of thing was: shares of what was there, 0 to 1. */
export interface Utilisation {
  readonly mean: number;
  readonly p95: number;
  readonly peak: number;
  /** Most that there was at once. */
  readonly capacity: number;
}

/** Names with a band of their own in the picture. */
const mostBands = 40;

/** What is there, what of it is taken, by whom and where; over time. */
export class Usage {
  readonly #timeline = new Timeline();
  readonly #groups: readonly NodeGroup[];
  readonly #gpus: Resource;
  readonly #cores: Resource;
  readonly #waiting: number;
  readonly #running: number;
  readonly #byGroup: readonly number[];
  readonly #byName = new Map<string, number>();
  readonly countsGpus: boolean;

  constructor(groups: readonly NodeGroup[]) {
    this.#groups = groups;
    this.#gpus = new Resource(this.#timeline);
    this.#cores = new Resource(this.#timeline);
    this.#waiting = this.#timeline.channel();
    this.#running = this.#timeline.channel();
    this.#byGroup = groups.map(() => this.#timeline.channel());
    this.countsGpus = groups.some(({ gpus }) => gpus > 0);
  }

  get nowMs(): number {
    return this.#timeline.nowMs;
  }

  pass(toMs: number): void {
    const lastsMs = toMs - this.#timeline.nowMs;
    this.#timeline.pass(toMs);
    this.#gpus.pass(lastsMs);
    this.#cores.pass(lastsMs);
  }

  capacity(node: VirtualNode, sign: 1 | -1): void {
    const { gpus = 0, cpus = 0 } = this.#groups[node.group] ?? {};
    this.#gpus.offer(sign * gpus);
    this.#cores.offer(sign * cpus);
  }

  waiting(by: number): void {
    this.#timeline.change(this.#waiting, by);
  }

  /** An attempt of that name takes what it was given, or gives it back. */
  take(name: string, tasks: readonly (Allocation & { readonly group: number })[], sign: 1 | -1): void {
    this.#timeline.change(this.#running, sign);
    for (const { devices, cpus, group } of tasks) {
      this.#gpus.take(sign * devices.length);
      this.#cores.take(sign * cpus);
      const amount = sign * (this.countsGpus ? devices.length : cpus);
      this.#timeline.change(this.#byGroup[group] ?? 0, amount);
      this.#timeline.change(this.#bandOf(name), amount);
    }
  }

  figures(): { readonly gpus: Utilisation | null; readonly cores: Utilisation } {
    return { gpus: this.countsGpus ? this.#gpus.figures() : null, cores: this.#cores.figures() };
  }

  /** Everything over time: amounts of GPUs where there are any, else of cores. */
  series() {
    const main = this.countsGpus ? this.#gpus : this.#cores;
    const of = (channel: number): Series => this.#timeline.series(channel);
    return {
      used: of(main.used),
      capacity: of(main.capacity),
      waiting: of(this.#waiting),
      running: of(this.#running),
      byName: [...this.#byName].map(([name, channel]) => ({ name, ...of(channel) })),
      byGroup: this.#byGroup.map((channel, position) => this.#groupSeries(channel, position)),
    };
  }

  #groupSeries(channel: number, position: number) {
    const { name = '', count = 0, gpus = 0, cpus = 0 } = this.#groups[position] ?? {};
    const capacity = count * (this.countsGpus ? gpus : cpus);
    return { name: name.replace(/-?%d/, ''), capacity, ...this.#timeline.series(channel) };
  }

  #bandOf(name: string): number {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    if (this.#byName.size >= mostBands && name !== '(others)') return this.#bandOf('(others)');
    const channel = this.#timeline.channel();
    this.#byName.set(name, channel);
    return channel;
  }
}

class Resource {
  readonly used: number;
  readonly capacity: number;
  readonly #timeline: Timeline;
  readonly #shares = new Quantiles();
  #usedMs = 0;
  #offeredMs = 0;
  #most = 0;

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
    this.used = timeline.channel();
    this.capacity = timeline.channel();
  }

  offer(by: number): void {
    this.#timeline.change(this.capacity, by);
    this.#most = Math.max(this.#most, this.#timeline.value(this.capacity));
  }

  take(by: number): void {
    this.#timeline.change(this.used, by);
  }

  pass(lastsMs: number): void {
    const [used, capacity] = [this.#timeline.value(this.used), this.#timeline.value(this.capacity)];
    if (lastsMs <= 0 || capacity <= 0) return;
    // What is on a node that fell silent counts as taken until its loss is noticed, and is no longer there.
    this.#usedMs += Math.min(used, capacity) * lastsMs;
    this.#offeredMs += capacity * lastsMs;
    // On the scale of the buckets, which begin at 1.
    this.#shares.add(Math.min(1, used / capacity) * scale, lastsMs);
  }

  figures(): Utilisation {
    const mean = this.#offeredMs === 0 ? 0 : this.#usedMs / this.#offeredMs;
    const [p95, peak] = [this.#shares.at(0.95), this.#shares.max].map((value) => Math.min(1, value / scale));
    return { mean, p95: p95 ?? 0, peak: peak ?? 0, capacity: this.#most };
  }
}

const scale = 10_000;
