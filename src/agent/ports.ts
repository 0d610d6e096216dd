import type { Host } from '../host/host.ts';

/** The ports that this node's tasks hold. */
export interface Ports {
  /** Picks a free port and keeps it taken until it is released. Throws when no port of the range is free. */
  take(): Promise<number>;
  /** Marks a port as taken that an adopted task holds already. */
  hold(port: number): void;
  /** Only when the process that had it is confirmed dead. */
  release(port: number): void;
}

/** Above what services of a system use, below what Linux and macOS give to outgoing connections. */
const lowestPort = 20_000;
const highestPort = 32_767;

/** From one try to the next, so that a block of ports that somebody holds is left at once. A prime, to come to all of them. */
const stride = 7919;

const ephemeralRangePath = '/proc/sys/net/ipv4/ip_local_port_range';

/** Where the kernel does not say (macOS), its ephemeral ports are 49152 to 65535. */
const usualEphemeral: PortRange = { low: 49_152, high: 65_535 };

interface PortRange {
  readonly low: number;
  readonly high: number;
}

export async function createPorts(host: Pick<Host, 'files' | 'network' | 'chance'>): Promise<Ports> {
  const range = chooseRange((await readEphemeralRange(host)) ?? usualEphemeral);
  const size = range.high - range.low + 1;
  const step = size % stride === 0 ? 1 : stride;
  const taken = new Set<number>();
  return {
    take: async () => {
      // From a random place, so that a port that was just given back rests, and two nodes of a machine seldom meet.
      const first = Math.floor(host.chance.fraction() * size);
      for (let tried = 0; tried < size; tried += 1) {
        const port = range.low + ((first + tried * step) % size);
        if (taken.has(port)) continue;
        // Taken before the test, so that two callers never test the same one.
        taken.add(port);
        if (await host.network.isPortFree(port)) return port;
        taken.delete(port);
      }
      throw new Error(
        `no free port between ${range.low} and ${range.high}: ${taken.size} are held by tasks of this node`,
      );
    },
    hold: (port) => {
      taken.add(port);
    },
    release: (port) => {
      taken.delete(port);
    },
  };
}

/** The widest part of our range that the kernel does not hand out; a kernel that hands out all of it leaves us no choice. */
export function chooseRange(ephemeral: PortRange): PortRange {
  const below = { low: lowestPort, high: Math.min(highestPort, ephemeral.low - 1) };
  const above = { low: Math.max(lowestPort, ephemeral.high + 1), high: highestPort };
  const widest = below.high - below.low >= above.high - above.low ? below : above;
  if (widest.high >= widest.low) return widest;
  const lower = { low: 1024, high: Math.min(lowestPort, ephemeral.low) - 1 };
  return lower.high - lower.low >= 1000 ? lower : { low: lowestPort, high: highestPort };
}

async function readEphemeralRange(host: Pick<Host, 'files'>): Promise<PortRange | null> {
  const bytes = await host.files.read(ephemeralRangePath);
  if (bytes === null) return null;
  const [low, high] = new TextDecoder().decode(bytes).trim().split(/\s+/).map(Number);
  return low === undefined || high === undefined || Number.isNaN(low + high) ? null : { low, high };
}
