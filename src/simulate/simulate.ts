import { Ledger, type PartRecord } from './ledger/ledger.ts';
import type { Plan } from './plan.ts';
import { makeReport, type SimulationReport } from './report.ts';
import { Simulation } from './world/simulation.ts';

export interface SimulateOptions {
  /** Told of every part as it ends, and of those that have not when the simulation does: in the order of their ends. */
  readonly onPart?: (record: PartRecord) => void;
  /** Called now and then with the time of the simulation, milliseconds after its start, and how many parts have ended. */
  readonly onProgress?: (nowMs: number, ended: number) => void;
}

/**
 * What this work would do on that cluster (B9): the production core decides, in virtual time. Pure, and the same plan
 * gives the same report. Memory grows with what is alive at once, never with how long the workload is.
 */
export function simulate(
  plan: Plan,
  { onPart = () => {}, onProgress = () => {} }: SimulateOptions = {},
): SimulationReport {
  const ledger: Ledger = new Ledger(plan.nodes, () => simulation.cluster, onPart);
  const simulation = new Simulation(plan, ledger);
  simulation.run((nowMs) => onProgress(nowMs, ledger.ended));
  ledger.finish();
  const unended = ledger.alive();
  for (const record of unended) onPart(record);
  return makeReport(plan, ledger);
}
