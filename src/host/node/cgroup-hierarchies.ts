import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** One cgroup file system, and the place in it below which this process may try to make cgroups. */
export interface CgroupHierarchy {
  readonly version: 1 | 2;
  readonly base: string;
  /** Controllers whose limits hold in children of `base`. */
  readonly controllers: ReadonlySet<string>;
}

/** Finds the hierarchies that are of use: the unified one, and the old ones for process counts and memory. */
export function findCgroupHierarchies(): readonly CgroupHierarchy[] {
  if (process.platform !== 'linux') return [];
  const own = readOwnPaths(readFileSync('/proc/self/cgroup', 'utf8'));
  return readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .flatMap((line) => toHierarchy(line.split(' '), own) ?? []);
}

/** Parses /proc/self/cgroup into the path of each controller; the unified hierarchy's has the empty name. */
function readOwnPaths(text: string): ReadonlyMap<string, string> {
  const paths = new Map<string, string>();
  for (const line of text.split('\n')) {
    const match = /^\d+:([^:]*):(.*)$/.exec(line);
    for (const controller of match?.[1]?.split(',') ?? []) paths.set(controller, match?.[2] ?? '/');
  }
  return paths;
}

function toHierarchy(mount: readonly string[], own: ReadonlyMap<string, string>): CgroupHierarchy | null {
  const [, point = '', type, options = ''] = mount;
  if (type === 'cgroup2') {
    const base = baseBelow(point, own.get(''));
    return { version: 2, base, controllers: enableControllers(base) };
  }
  if (type !== 'cgroup') return null;
  const controllers = options.split(',').filter((option) => option === 'pids' || option === 'memory');
  const first = controllers[0];
  if (first === undefined) return null;
  return { version: 1, base: baseBelow(point, own.get(first)), controllers: new Set(controllers) };
}

/** In a container the path may be one of the machine's, which is not visible inside. */
function baseBelow(point: string, ownPath = '/'): string {
  const base = join(point, ownPath);
  return existsSync(base) ? base : point;
}

/** Children have limits only for controllers that the parent passes on; asking for them may be refused. */
function enableControllers(base: string): ReadonlySet<string> {
  const file = join(base, 'cgroup.subtree_control');
  try {
    const available = readFileSync(join(base, 'cgroup.controllers'), 'utf8').split(/\s+/);
    const wanted = ['pids', 'memory'].filter((controller) => available.includes(controller));
    if (wanted.length > 0) writeFileSync(file, wanted.map((controller) => `+${controller}`).join(' '));
  } catch {
    // Refused (not ours, or a parent that holds processes itself): what is passed on already must do.
  }
  try {
    return new Set(readFileSync(file, 'utf8').split(/\s+/).filter(Boolean));
  } catch {
    return new Set();
  }
}
