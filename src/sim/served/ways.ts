import type { Machine } from '../machine.ts';
import type { Random } from '../random.ts';
import { noServedRates, type ServedRates, type WireChanceKind } from './rates.ts';

/** One direction between a machine and the server's. */
export interface Way {
  readonly to: Machine;
  isOpen: boolean;
  /** What was sent since it was closed: it is sent again until it arrives or nobody wants it any more. */
  readonly held: (() => void)[];
}

/** Both directions between one machine and the server's. */
export interface Path {
  readonly toServer: Way;
  readonly fromServer: Way;
}

/** The network: every machine has a way to the server's machine, and one back. */
export class Ways {
  /** Faults of this moment; none once the world has been healed. */
  rates: ServedRates;
  readonly #random: Random;
  readonly #server: Machine;
  /** Kinds that have struck. */
  readonly #faults: Set<string>;
  #isHealed = false;
  readonly #paths = new Map<string, Path>();

  constructor(server: Machine, random: Random, { rates, faults }: { rates: ServedRates; faults: Set<string> }) {
    this.#faults = faults;
    this.#server = server;
    this.#random = random;
    this.rates = rates;
  }

  get server(): Machine {
    return this.#server;
  }

  pathOf(machine: Machine): Path {
    const known = this.#paths.get(machine.name);
    if (known !== undefined) return known;
    const way = (to: Machine): Way => ({ to, isOpen: true, held: [] });
    const path = { toServer: way(this.#server), fromServer: way(machine) };
    this.#paths.set(machine.name, path);
    return path;
  }

  get all(): readonly Way[] {
    return [...this.#paths.values()].flatMap(({ toServer, fromServer }) => [toServer, fromServer]);
  }

  happens(kind: WireChanceKind): boolean {
    const chance = this.rates.chances[kind];
    const strikes = chance > 0 && this.#random.happens(chance);
    if (strikes) this.#faults.add(kind);
    return strikes;
  }

  /** How long the next thing takes, in milliseconds. */
  delayMs(): number {
    const { between } = this.#random;
    if (this.happens('stall')) return between(20_000, 50_000);
    return this.happens('lag') ? between(200, 6000) : between(0.1, 3);
  }

  /** `arrive` is called on the other machine, as soon as the way there is open and that machine is awake. */
  send(way: Way, delayMs: number, arrive: () => void): void {
    const { world } = this.#server;
    const go = (): void => {
      if (way.isOpen) way.to.whenAwake(arrive);
      else way.held.push(go);
    };
    world.schedule(delayMs, go);
  }

  close(way: Way): void {
    if (this.#isHealed) return;
    way.isOpen = false;
  }

  /** Nothing is closed any more. */
  heal(): void {
    this.#isHealed = true;
    this.rates = noServedRates;
    for (const way of this.all) this.open(way);
  }

  open(way: Way): void {
    way.isOpen = true;
    for (const go of way.held.splice(0)) this.#server.world.schedule(0, go);
  }
}
