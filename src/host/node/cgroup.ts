import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LimitVerdict } from '../processes.ts';
import { type CgroupHierarchy, findCgroupHierarchies } from './cgroup-hierarchies.ts';
import { codeOf, isAbsent, toHostError } from './system-error.ts';

/** Places in which agents of this node ever made cgroups, one a line: the next agent may live elsewhere. */
const basesName = 'cgroup-bases';

/** A cgroup per attempt, where the system lets us make one. Without any, every call answers as if there were nothing. */
export interface Cgroups {
  /** Returns the files that a process writes `0` to in order to join; empty where no cgroup could be made. */
  create(mark: string, limits: CgroupLimits): readonly string[];
  /** The cgroup that all attempts without limits of their own share: a fork bomb ends at its limit, not at the machine's (R4.42). */
  share(): readonly string[];
  members(mark: string): ReadonlySet<number>;
  /** Kills all members at once, where the kernel can (`cgroup.kill`, Linux 5.14). */
  kill(mark: string): void;
  release(mark: string): Promise<LimitVerdict>;
}

/** Most processes of all attempts of a node that share its cgroup. */
const mostProcesses = 32_768;

export interface CgroupLimits {
  readonly maxProcesses: number | null;
  readonly memoryMiB: number | null;
}

/** `directory` is the node's own. */
export function createCgroups(directory: string): Cgroups {
  const basesPath = join(directory, basesName);
  const bases = new Set(readOrEmpty(basesPath).split('\n').filter(Boolean));
  let usable: readonly CgroupHierarchy[] | null = null;
  let shared: readonly string[] | null = null;
  const pathsOf = (mark: string): string[] => [...bases].map((base) => join(base, nameOf(mark)));

  return {
    create: (mark, limits) => {
      usable ??= findCgroupHierarchies();
      const wanted = usable.filter((hierarchy) => isWanted(hierarchy, limits));
      const made = wanted.filter((hierarchy) => make(hierarchy, nameOf(mark), limits));
      for (const { base } of made) {
        if (bases.has(base)) continue;
        bases.add(base);
        mkdirSync(directory, { recursive: true });
        appendFileSync(basesPath, `${base}\n`);
      }
      // A hierarchy that refused once (read-only, not delegated) will refuse for every attempt.
      usable = usable.filter((hierarchy) => !wanted.includes(hierarchy) || made.includes(hierarchy));
      return made.map(({ base }) => join(base, nameOf(mark), 'cgroup.procs'));
    },
    share: () => {
      if (shared !== null) return shared;
      usable ??= findCgroupHierarchies();
      const limits = { maxProcesses: mostProcesses, memoryMiB: null };
      const name = nameOf(directory);
      const made = usable.filter((one) => one.controllers.has('pids') && make(one, name, limits));
      shared = made.map(({ base }) => join(base, name, 'cgroup.procs'));
      return shared;
    },
    members: (mark) => new Set(pathsOf(mark).flatMap(readMembers)),
    kill: (mark) => pathsOf(mark).forEach(killAll),
    release: async (mark) => {
      const paths = pathsOf(mark).filter((path) => existsSync(path));
      const outOfMemory = paths.some(hadOutOfMemoryKill);
      for (const path of paths) await removeCgroup(path);
      return { outOfMemory };
    },
  };
}

/** A mark may hold anything; the name of a cgroup may not. */
function nameOf(mark: string): string {
  return `runyard-${createHash('sha256').update(mark).digest('hex').slice(0, 24)}`;
}

/** The unified hierarchy is joined by every attempt (it can kill); the older ones only for the limit they keep. */
function isWanted(hierarchy: CgroupHierarchy, limits: CgroupLimits): boolean {
  if (hierarchy.version === 2) return true;
  const { controllers } = hierarchy;
  return (
    (limits.maxProcesses !== null && controllers.has('pids')) ||
    (limits.memoryMiB !== null && controllers.has('memory'))
  );
}

function make(hierarchy: CgroupHierarchy, name: string, limits: CgroupLimits): boolean {
  const path = join(hierarchy.base, name);
  const memoryFile = hierarchy.version === 2 ? 'memory.max' : 'memory.limit_in_bytes';
  try {
    mkdirSync(path, { recursive: true });
    if (limits.maxProcesses !== null && hierarchy.controllers.has('pids')) {
      writeFileSync(join(path, 'pids.max'), String(limits.maxProcesses));
    }
    if (limits.memoryMiB !== null && hierarchy.controllers.has('memory')) {
      writeFileSync(join(path, memoryFile), String(limits.memoryMiB * 1024 * 1024));
    }
    return true;
  } catch {
    // Whatever the reason, the attempt runs without this one; the kernel promises no cgroup to anybody.
    return false;
  }
}

/** The kernel answers EBUSY for a moment after the last member died. */
async function removeCgroup(path: string): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      rmdirSync(path);
      return;
    } catch (error) {
      if (isAbsent(error)) return;
      if (codeOf(error) !== 'EBUSY' || tries === 20) throw toHostError(error, path);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

function hadOutOfMemoryKill(path: string): boolean {
  const text = readOrEmpty(join(path, 'memory.events')) + readOrEmpty(join(path, 'memory.oom_control'));
  return Number(/^oom_kill (\d+)/m.exec(text)?.[1] ?? 0) > 0;
}

function readMembers(path: string): number[] {
  return readOrEmpty(join(path, 'cgroup.procs')).split('\n').filter(Boolean).map(Number);
}

function killAll(path: string): void {
  try {
    writeFileSync(join(path, 'cgroup.kill'), '1', { flag: 'r+' });
  } catch {
    // No such cgroup, or a kernel without this file: the caller signals the members one by one.
  }
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isAbsent(error) || codeOf(error) === 'ENODEV') return '';
    throw toHostError(error, path);
  }
}
