import { parseSimulationFile } from './file/simulation-file.ts';
import type { PartRecord } from './ledger/ledger.ts';
import type { Plan } from './plan.ts';
import type { SimulationReport } from './report.ts';
import { simulate } from './simulate.ts';

/** A plan from the text of a file; others that it names are given as well. */
export async function planOf(text: string, others: Readonly<Record<string, string>> = {}): Promise<Plan> {
  const file = await parseSimulationFile(text, 'plan.toml', (path) => Promise.resolve(others[path] ?? ''));
  return { title: 'plan.toml', notes: [], ...file, seed: file.seed ?? 1 };
}

export interface Ran {
  readonly report: SimulationReport;
  /** In the order in which they ended. */
  readonly parts: readonly PartRecord[];
}

export async function run(text: string, others: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const parts: PartRecord[] = [];
  const report = simulate(await planOf(text, others), { onPart: (record) => parts.push(record) });
  return { report, parts };
}

/** `name started–ended on nodes: how`, in seconds, by start. */
export function lines({ parts }: Ran): readonly string[] {
  const seconds = (ms: number | null): string => (ms === null ? '…' : String(ms / 1000));
  return [...parts]
    .sort((a, b) => (a.startedMs ?? Number.POSITIVE_INFINITY) - (b.startedMs ?? Number.POSITIVE_INFINITY))
    .map(({ id, index, startedMs, endedMs, nodes, ended }) => {
      const part = index === null ? id : `${id}/${index}`;
      return `${part} ${seconds(startedMs)}–${seconds(endedMs)} on ${nodes.join(' ') || 'none'}: ${ended ?? 'goes on'}`;
    });
}

export const oneNode = '[[nodes]]\nname = "n%d"\ncpus = 4\nmemory = "16GiB"\n';
