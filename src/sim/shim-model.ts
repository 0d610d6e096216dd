import { HostError } from '../host/files.ts';
import type { Launch } from '../host/processes.ts';
import { type Exit, forkCommand } from './command-model.ts';
import type { Machine } from './machine.ts';
import type { VirtualProcess } from './process-table.ts';
import { attemptOfMark, type Truth } from './truth.ts';

export interface ShimOptions {
  readonly machine: Machine;
  readonly launch: Launch;
  readonly truth: Truth;
  /** How long a step takes as a rule, in milliseconds. */
  readonly stepMs: () => number;
  /** How much longer the next one takes, in milliseconds; 0 nearly always. */
  readonly stallMs: () => number;
  /** Whether it is killed before its next step. */
  readonly dies: () => boolean;
}

/**
 * The shim as its records show it: it claims the start or goes away, forks the command, which writes its own run record
 * and becomes the command, and writes the exit record and rings when that has ended. It may die between any two steps.
 */
export function startShim(options: ShimOptions): void {
  const { machine, launch, dies } = options;
  const shim = machine.table.start({
    role: 'shim',
    parent: null,
    leads: true,
    reaps: machine.shimReaps,
    mark: launch.mark,
    logsIn: null,
    onEnd: (signal) => {
      if (signal !== null) options.truth.troubled.add(attemptOfMark(launch.mark));
    },
  });
  const base = `${launch.directory}/${launch.label}`;
  const claim = `${base}.claim.${launch.nonce}`;
  const step = (work: () => void): void => {
    machine.schedule(nextStepMs(options), () => {
      if (shim.alive && dies()) machine.table.signal(shim, 'SIGKILL');
      if (shim.alive) leavingOnError(machine, shim, work);
    });
  };
  step(() => {
    const file = machine.disk.open(claim, { exclusive: true });
    if (file === null) {
      machine.table.end(shim, null);
      return;
    }
    step(() => {
      reserve(machine, claim, `${base}.exit.json`, `{${identityOf(machine, shim)},"end":true}\n`);
      step(() => run(options, shim, { base, step }));
    });
  });
}

/** Whoever is not given time may be taken for dead, and its attempt may end with a fault. */
function nextStepMs({ launch, truth, stepMs, stallMs }: ShimOptions): number {
  const stalledMs = stallMs();
  if (stalledMs > 0) truth.troubled.add(attemptOfMark(launch.mark));
  return stepMs() + stalledMs;
}

/** An exit record's room is taken before the command starts. */
const exitLength = 200;

interface ShimParts {
  /** Path that every record's name begins with. */
  readonly base: string;
  readonly step: (work: () => void) => void;
}

function run(options: ShimOptions, shim: VirtualProcess, parts: ShimParts): void {
  const { machine, launch, truth, dies } = options;
  const { base, step } = parts;
  if (machine.disk.stat(launch.workdir)?.kind !== 'directory') {
    finish(options, shim, parts, '"fault":"workdir"');
    return;
  }
  let hasRecord = false;
  const onExit = ({ code, signal }: Exit): void => {
    if (!shim.alive) return;
    step(() => {
      const alone = machine.shimReaps && !machine.table.hasChildren(shim) ? ',"alone":true' : '';
      finish(options, shim, parts, `${hasRecord ? `"code":${code},"signal":${signal}` : '"fault":"start"'}${alone}`);
    });
  };
  const command = forkCommand({ machine, launch, shim, truth, onExit });
  machine.schedule(nextStepMs(options), () => {
    if (!command.process.alive) return;
    if (shim.alive && dies()) machine.table.signal(shim, 'SIGKILL');
    try {
      for (const log of ['out', 'err']) machine.disk.append(`${base}.${log}`, new Uint8Array());
      record(machine, `${base}.run.json`, `{${identityOf(machine, command.process)},"end":true}\n`);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      machine.table.end(command.process, null);
      return;
    }
    hasRecord = true;
    command.exec();
  });
}

function finish(
  { machine, launch }: ShimOptions,
  shim: VirtualProcess,
  { base, step }: ShimParts,
  fields: string,
): void {
  record(machine, `${base}.exit.json`, `{${fields},"end":true}\n`.padStart(exitLength));
  step(() => {
    if (launch.bell !== null) machine.disk.append(launch.bell, new TextEncoder().encode(`${launch.directory}\n`));
    machine.table.end(shim, null);
  });
}

function identityOf(machine: Machine, process: VirtualProcess): string {
  return `"pid":${process.pid},"startTicks":${process.startTicks},"bootId":"${machine.bootId()}"`;
}

/** Writes the claim and takes the room for the exit record; without room for both there is no claim. */
function reserve(machine: Machine, claim: string, exit: string, text: string): void {
  try {
    record(machine, claim, text);
    record(machine, exit, '\n'.repeat(exitLength));
  } catch (error) {
    machine.disk.remove(claim);
    throw error;
  }
}

function record(machine: Machine, path: string, text: string): void {
  const file = machine.disk.open(path);
  if (file !== null) machine.disk.setBytes(path, file, new TextEncoder().encode(text));
}

/** A shim that cannot write its record has nobody to tell, and goes. */
function leavingOnError(machine: Machine, shim: VirtualProcess, work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    machine.table.end(shim, null);
  }
}
