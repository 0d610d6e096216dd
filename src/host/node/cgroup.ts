import { mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LimitVerdict } from '../processes.ts';
import { type CgroupHierarchy, findCgroupHierarchies } from './cgroup-hierarchies.ts';
import { codeOf, isAbsent, toHostError } from './system-error.ts';

/** The attempt's directory remembers its cgroups in this file, one path a line: the next agent may live elsewhere. */
const recordName = 'cgroups';

/** A cgroup per attempt, where the system lets us make one. Without any, every call answers as if there were nothing. */
export interface Cgroups {
  /** Returns the files that a process writes `0` to in order to join; empty where no cgroup could be made. */
  create(directory: string, limits: CgroupLimits): readonly string[];
  members(directory: string): ReadonlySet<number>;
  /** Kills all members at once; false where the kernel has no `cgroup.kill`. */
  kill(directory: string): boolean;
  release(directory: string): Promise<LimitVerdict>;
}

export interface CgroupLimits {
  readonly name: string;
  readonly maxProcesses: number | null;
  readonly memoryMiB: number | null;
}

export function createCgroups(): Cgroups {
  let usable: readonly CgroupHierarchy[] | null = null;
  return {
    create: (directory, limits) => {
      usable ??= findCgroupHierarchies();
      const made = usable.filter((hierarchy) => isWanted(hierarchy, limits) && make(hierarchy, limits));
      const paths = made.map((hierarchy) => join(hierarchy.base, limits.name));
      if (paths.length > 0) writeFileSync(join(directory, recordName), `${paths.join('\n')}\n`);
      // A hierarchy that refused once (read-only, not delegated) will refuse for every attempt.
      usable = usable.filter((hierarchy) => !isWanted(hierarchy, limits) || made.includes(hierarchy));
      return paths.map((path) => join(path, 'cgroup.procs'));
    },
    members: (directory) => new Set(recorded(directory).flatMap(readMembers)),
    kill: (directory) => recorded(directory).filter(killAll).length > 0,
    release,
  };
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

function make(hierarchy: CgroupHierarchy, limits: CgroupLimits): boolean {
  const path = join(hierarchy.base, limits.name);
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

async function release(directory: string): Promise<LimitVerdict> {
  const paths = recorded(directory);
  const outOfMemory = paths.some((path) => countOutOfMemoryKills(path) > 0);
  for (const path of paths) await removeCgroup(path);
  rmSync(join(directory, recordName), { force: true });
  return { outOfMemory };
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

function countOutOfMemoryKills(path: string): number {
  const text = readOrEmpty(join(path, 'memory.events')) + readOrEmpty(join(path, 'memory.oom_control'));
  return Number(/^oom_kill (\d+)/m.exec(text)?.[1] ?? 0);
}

function readMembers(path: string): number[] {
  return readOrEmpty(join(path, 'cgroup.procs')).split('\n').filter(Boolean).map(Number);
}

function killAll(path: string): boolean {
  try {
    writeFileSync(join(path, 'cgroup.kill'), '1', { flag: 'r+' });
    return true;
  } catch {
    // Before Linux 5.14, or in an old hierarchy: the caller signals the members one by one.
    return false;
  }
}

function recorded(directory: string): readonly string[] {
  return readOrEmpty(join(directory, recordName)).split('\n').filter(Boolean);
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isAbsent(error) || codeOf(error) === 'ENODEV') return '';
    throw toHostError(error, path);
  }
}
