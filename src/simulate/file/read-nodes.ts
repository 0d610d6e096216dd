import { checkName } from '../../core/job/check-spec.ts';
import { DocumentError, documentError, type KeyPath } from '../../wire/document-error.ts';
import { readTable } from '../../wire/read-table.ts';
import { type Moment, type NodesTable, nodesTable } from '../../wire/simulation-table.ts';
import type { NodeGroup } from '../plan.ts';
import { readAt } from './file-error.ts';

export type WrittenNodes = NodesTable;

const defaultRepairMs = 3_600_000;
const defaultGpuMemoryMiB = 80 * 1024;

/** Each `[[nodes]]` as it is written. Throws a DocumentError. */
export function readNodes(written: unknown): readonly WrittenNodes[] {
  return entriesOf(written, 'nodes').map((entry, position) =>
    readAt(['nodes', position], () => readTable(nodesTable, entry, 'nodes')),
  );
}

/** The groups of nodes, each with names of its own. Throws a DocumentError. */
export function toGroups(
  written: readonly WrittenNodes[],
  after: (moment: Moment, path: KeyPath) => number,
): readonly NodeGroup[] {
  const groups = written.map((table, position) => toGroup(table, position, written.length, after));
  const taken = new Map<string, number>();
  for (const [position, group] of groups.entries()) {
    for (let number = 1; number <= group.count; number += 1) {
      const name = nodeName(group, number);
      const before = taken.get(name);
      taken.set(name, position);
      if (before === undefined) continue;
      const path = ['nodes', position, 'name'];
      throw documentError(
        'BAD_VALUE',
        `two nodes would be called ${name}`,
        path,
        'give each group a name such as "gpu-%d"',
      );
    }
  }
  return groups;
}

/** `h100-7`. */
export function nodeName({ name, names }: Pick<NodeGroup, 'name' | 'names'>, number: number): string {
  return names?.[number - 1] ?? name.replace('%d', String(number));
}

function toGroup(
  table: WrittenNodes,
  position: number,
  groups: number,
  after: (moment: Moment, path: KeyPath) => number,
): NodeGroup {
  const { gpus = 0, count = 1, failures } = table;
  const at = (key: string): KeyPath => ['nodes', position, key];
  const name = table.name ?? (groups === 1 ? 'node-%d' : `node-${String.fromCharCode(97 + (position % 26))}%d`);
  const wrong = checkName(nodeName({ name, names: null }, count), 'nodes.name');
  if (wrong !== null) throw new DocumentError({ ...wrong, path: at('name').join('.') }, at('name'));
  if (count > 1 && !name.includes('%d')) {
    const hint = `name = "${name}-%d"`;
    throw documentError('BAD_VALUE', `${count} nodes cannot all be called ${JSON.stringify(name)}`, at('name'), hint);
  }
  const fromMs = table.from === undefined ? 0 : after(table.from, at('from'));
  const untilMs = table.until === undefined ? null : after(table.until, at('until'));
  if (untilMs !== null && untilMs <= fromMs) {
    throw documentError('RANGE', 'until is not after from: these nodes would never be there', at('until'));
  }
  return {
    name,
    names: null,
    count,
    cpus: table.cpus,
    memoryMiB: table.memory,
    gpus,
    gpuType: table.gpuType ?? 'GPU',
    gpuMemoryMiB: table.gpuMemory ?? defaultGpuMemoryMiB,
    labels: { ...table.labels },
    fromMs,
    untilMs,
    failures:
      failures === undefined
        ? null
        : { everyMs: atLeastOne(failures.every), repairMs: failures.repair ?? defaultRepairMs },
  };
}

function atLeastOne(ms: number): number {
  return Math.max(1, ms);
}

/** The tables of `[[nodes]]` or `[[jobs]]`; a single `[nodes]` is one. */
export function entriesOf(written: unknown, key: string): readonly unknown[] {
  if (written === undefined) return [];
  if (Array.isArray(written)) return written;
  if (typeof written === 'object' && written !== null) {
    throw documentError('BAD_VALUE', `[${key}] is one table, and there may be several`, [key], `write [[${key}]]`);
  }
  throw documentError('BAD_VALUE', `${key} is no list of tables`, [key], `write [[${key}]]`);
}
