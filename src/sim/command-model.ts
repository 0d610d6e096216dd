import { parseTaskKey } from '../core/job/job.ts';
import { signalNumber } from '../core/reason.ts';
import type { Launch, Signal } from '../host/processes.ts';
import type { Machine } from './machine.ts';
import type { VirtualProcess } from './process-table.ts';
import { type Child, exitCodeOf, type Program, readProgram } from './program.ts';
import { answerAt, type PortAnswer, portTakenCode, runLengthMs, type Serving } from './serving.ts';
import { attemptOfMark, isRun, type TrueProcess, type Truth } from './truth.ts';

export interface Exit {
  readonly code: number | null;
  readonly signal: number | null;
}

export interface CommandOptions {
  readonly machine: Machine;
  readonly launch: Launch;
  readonly shim: VirtualProcess;
  readonly truth: Truth;
  /** Told once, with how it ended. */
  readonly onExit: (exit: Exit) => void;
}

/** The process that the shim forked for the command, before it becomes the command. */
export interface ForkedCommand {
  readonly process: VirtualProcess;
  /** It becomes the command and does what its program says. */
  exec(): void;
}

/** Forks the command's process. Like the shim it carries the mark, and it holds the logs open. */
export function forkCommand(options: CommandOptions): ForkedCommand {
  const { machine, launch, shim, onExit } = options;
  const program = readProgram(launch.argv);
  let actual: TrueProcess | null = null;
  let own: Exit | null = null;
  const finish = (exit: Exit): void => {
    own = exit;
    machine.table.end(process, null);
  };
  const process: VirtualProcess = machine.table.start({
    role: 'command',
    parent: shim,
    leads: false,
    mark: launch.mark,
    logsIn: launch.directory,
    onSignal: (signal) => {
      if (signal === 'SIGTERM') onTerm(options, process, program, finish);
    },
    onEnd: (signal) => {
      const exit = own ?? { code: null, signal: signalNumber(signal ?? 'SIGKILL') };
      if (actual === null) options.truth.troubled.add(attemptOfMark(launch.mark));
      else end(options, actual, exit);
      closePorts(machine, process);
      onExit(exit);
    },
  });
  return {
    process,
    exec: () => {
      actual = begin(options, 'command', program);
      if (program === null) finish({ code: 127, signal: null });
      else if (program.serves === null) perform(options, process, program, finish);
      else serve(options, { process, actual }, { ...program.serves, stuckMs: program.stuckMs }, finish);
    },
  };
}

function perform(
  options: CommandOptions,
  process: VirtualProcess,
  program: Program,
  finish: (exit: Exit) => void,
): void {
  const { machine, launch } = options;
  const { world } = machine;
  process.unkillableUntilMs = program.stuckMs > 0 ? world.nowMs + program.lastsMs + program.stuckMs : 0;
  const port = portOf(launch);
  if (port !== null) {
    machine.schedule(program.lastsMs / 4, () => {
      // A job of another node of the machine may have been given the same one; it goes on without.
      if (process.alive && machine.isPortFree(port)) machine.listening.set(port, { process, answer: () => 'ok' });
    });
  }
  for (const child of program.children) startChild(options, process, child);
  print(options, process, program.lastsMs);
  machine.schedule(program.lastsMs / 2, () => process.alive && writeOutputs(options, program));
  machine.schedule(program.lastsMs + program.stuckMs, () => {
    if (!process.alive) return;
    const attempt = Number(launch.env.RUNYARD_ATTEMPT ?? '1');
    finish(
      program.dies === null
        ? { code: exitCodeOf(program, attempt), signal: null }
        : { code: null, signal: program.dies },
    );
  });
}

/** A process that finds its port taken goes, as servers do. */
function serve(
  { machine, launch, truth }: CommandOptions,
  { process, actual }: { readonly process: VirtualProcess; readonly actual: TrueProcess },
  serving: Serving & Pick<Program, 'stuckMs'>,
  finish: (exit: Exit) => void,
): void {
  const { world } = machine;
  const startMs = world.nowMs;
  if (serving.missing) {
    const words = new TextEncoder().encode('bash: line 1: sim: command not found\n');
    if (machine.disk.freeBytes > words.length) machine.disk.append(`${launch.directory}/${launch.label}.err`, words);
    finish({ code: 127, signal: null });
    return;
  }
  process.unkillableUntilMs = serving.stuckMs > 0 ? startMs + serving.stuckMs : 0;
  const own = portOf(launch);
  const port = own !== null && serving.elsewhere ? own + portsAway : own;
  if (port !== null && serving.opensMs !== null) {
    machine.schedule(serving.opensMs, () => {
      if (!process.alive) return;
      const answer = (): PortAnswer => answerAt(serving, world.nowMs - startMs);
      if (!machine.isPortFree(port)) return finish({ code: portTakenCode, signal: null });
      machine.listening.set(port, { process, answer });
      if (port !== own) return;
      actual.openSeq = truth.logSeq();
      machine.schedule(latestAnswerMs, () => {
        actual.heardSeq = truth.logSeq();
      });
    });
  }
  const attempt = attemptOfMark(launch.mark);
  const run = truth.processes.filter((one) => one.attempt === attempt && isRun(one)).length;
  machine.schedule(runLengthMs(serving, run), () => process.alive && finish({ code: serving.exitCode, signal: null }));
}

/** From a question that a probe asked to the fact that its answer makes, with commits that failed in between. */
const latestAnswerMs = 5000;

/** How far from its own the port of a command is that chooses another: outside of what agents give away. */
const portsAway = 30_000;

function closePorts({ listening }: Machine, process: VirtualProcess): void {
  for (const [port, listener] of listening) if (listener.process === process) listening.delete(port);
}

function onTerm(
  { machine }: CommandOptions,
  process: VirtualProcess,
  program: Program | null,
  finish: (exit: Exit) => void,
): void {
  if (process.unkillableUntilMs > machine.world.nowMs) return;
  switch (program?.onTerm ?? 'die') {
    case 'die':
      finish({ code: null, signal: 15 });
      return;
    case 'leave':
      machine.schedule(200, () => process.alive && finish({ code: 3, signal: null }));
      return;
    case 'ignore':
  }
}

function startChild(options: CommandOptions, parent: VirtualProcess, child: Child): void {
  const { machine, launch } = options;
  const actual = begin(options, 'child', null);
  const process = machine.table.start({
    role: 'child',
    parent,
    leads: child.leaves,
    mark: child.scrubbed ? null : launch.mark,
    logsIn: launch.directory,
    onSignal: (signal: Signal) => {
      if (signal === 'SIGTERM' && !child.ignoresTerm) machine.table.end(process, 'SIGTERM');
    },
    onEnd: (signal) => {
      const exit = signal === null ? { code: 0, signal: null } : { code: null, signal: signalNumber(signal) };
      end(options, actual, exit);
    },
  });
  machine.schedule(child.lastsMs, () => machine.table.end(process, null));
}

/** A line at its start, some while it runs, and one just before its end, to both streams in turn. */
function print({ machine, launch, truth }: CommandOptions, process: VirtualProcess, lastsMs: number): void {
  const attempt = attemptOfMark(launch.mark);
  for (const [number, share] of [0, 0.3, 0.6, 1].entries()) {
    const file = `${launch.label}.${number % 2 === 0 ? 'out' : 'err'}`;
    machine.schedule(lastsMs * share, () => {
      const text = `${attempt} ${launch.label} ${number}\n`;
      // What finds no room, or no place any more, is lost to the program, too.
      const isLost = machine.disk.freeBytes < 1000 || machine.disk.find(launch.directory) === null;
      if (!process.alive || isLost) return;
      machine.disk.append(`${launch.directory}/${file}`, new TextEncoder().encode(text));
      const place = `${attempt}/${file}`;
      truth.printed.set(place, (truth.printed.get(place) ?? '') + text);
    });
  }
}

/** A job that finds no room for what it writes goes on without. */
function writeOutputs({ machine, launch }: CommandOptions, program: Program): void {
  for (const name of program.writes) {
    const path = `${launch.workdir}/${name}`;
    if (machine.disk.find(launch.workdir) === null || machine.disk.freeBytes < 1000) continue;
    const file = machine.disk.open(path);
    if (file !== null) machine.disk.setBytes(path, file, new TextEncoder().encode(`${launch.mark} wrote ${name}\n`));
  }
}

function begin(
  { machine, launch, truth }: CommandOptions,
  role: 'command' | 'child',
  program: Program | null,
): TrueProcess {
  const [node = ''] = launch.mark.split('/');
  const attempt = attemptOfMark(launch.mark);
  const devices = (launch.env.CUDA_VISIBLE_DEVICES ?? '').split(',').filter((uuid) => uuid !== '');
  const port = role === 'command' ? portOf(launch) : null;
  const { label } = launch;
  const startMs = machine.world.nowMs;
  const serves = program?.serves ?? null;
  const startSeq = truth.logSeq();
  const one: TrueProcess = {
    attempt,
    label,
    role,
    node,
    machine: machine.name,
    devices,
    port,
    secrets: role === 'command' ? secretsOf(machine, launch) : {},
    serves,
    startMs,
    startSeq,
    openSeq: null,
    heardSeq: null,
    endMs: null,
    endSeq: null,
    exit: null,
  };
  if (parseTaskKey(attempt) === null) throw new Error(`the mark ${launch.mark} names no attempt`);
  truth.processes.push(one);
  if (role === 'command') machine.world.note(node, `${label} of ${attempt} starts`);
  return one;
}

/** Variables that hold secrets are called after them. */
function secretsOf({ disk }: Machine, { secretEnv = {} }: Launch): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(secretEnv).map(([variable, value]) => {
      const text = value.startsWith('/') ? new TextDecoder().decode(disk.read(value) ?? undefined) : value;
      return [variable.replace('SECRET_', ''), text];
    }),
  );
}

function end({ machine, truth }: CommandOptions, actual: TrueProcess, exit: Exit): void {
  actual.endMs = machine.world.nowMs;
  actual.endSeq = truth.logSeq();
  actual.exit = exit;
  if (actual.role === 'child') return;
  const how = exit.signal === null ? `code ${exit.code}` : `signal ${exit.signal}`;
  machine.world.note(actual.node, `${actual.label} of ${actual.attempt} ends with ${how}`);
}

export function portOf(launch: Launch): number | null {
  const { PORT: port } = launch.env;
  return port === undefined ? null : Number(port);
}
