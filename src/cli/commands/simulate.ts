import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { describeDuration } from '../../core/units.ts';
import type { PartRecord } from '../../simulate/ledger/ledger.ts';
import { drawReport } from '../../simulate/picture/draw-report.ts';
import { simulate } from '../../simulate/simulate.ts';
import { type Context, type Invocation, textOption } from '../context.ts';
import { readPlan } from '../simulate/read-plan.ts';
import { simulationTable } from '../views/simulation-table.ts';

/** Parts that `--json` lists one by one, as `each`; of more there is `--jobs FILE`. */
const mostListed = 1000;

/** What a workload would do on a cluster (B9). */
export async function execute(context: Context, invocation: Invocation): Promise<number> {
  const plan = await readPlan(context, invocation);
  const { svg, jobs } = pathsOf(context, invocation);
  const listed: PartRecord[] = [];
  const sink = jobs === null ? null : createSink(jobs);
  const onPart = (record: PartRecord): void => {
    if (listed.length <= mostListed) listed.push(record);
    sink?.write(record);
  };
  const { untilMs } = plan;
  const onProgress = (nowMs: number, ended: number): void => {
    const detail = `${describeDuration(nowMs)} simulated, ${ended.toLocaleString('en')} jobs ended`;
    const fraction = untilMs === null ? {} : { fraction: nowMs / untilMs };
    context.output.live({
      id: plan.title,
      label: 'simulating',
      detail,
      document: { kind: 'progress', nowMs, ended },
      ...fraction,
    });
  };
  try {
    const report = simulate(plan, { onPart, onProgress });
    context.output.live(null);
    if (svg !== null) writeFileSync(svg, drawReport(report));
    const document = { ...report, each: listed.length > mostListed ? null : listed };
    context.output.answer(document, (width) => simulationTable(report, width));
  } finally {
    sink?.close();
  }
  if (svg !== null) context.output.note(`picture in ${svg}`);
  if (jobs !== null) context.output.note(`each job in ${jobs}`);
  return 0;
}

function pathsOf(
  context: Context,
  { options }: Invocation,
): { readonly svg: string | null; readonly jobs: string | null } {
  const [svg, jobs] = ['svg', 'jobs'].map((name) => textOption(options, name));
  return {
    svg: svg === undefined ? null : resolve(context.cwd, svg),
    jobs: jobs === undefined ? null : resolve(context.cwd, jobs),
  };
}

/** An object a line, written in pieces: a week of jobs is never held as a whole. */
function createSink(path: string): { write(record: PartRecord): void; close(): void } {
  const file = openSync(path, 'w');
  let held = '';
  const flush = (): void => {
    if (held !== '') writeSync(file, held);
    held = '';
  };
  return {
    write(record) {
      held += `${JSON.stringify(record)}\n`;
      if (held.length > 65_536) flush();
    },
    close() {
      flush();
      closeSync(file);
    },
  };
}
