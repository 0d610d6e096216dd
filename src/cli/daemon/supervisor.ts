import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { processesOf, readRecord, removeRecord, writeRecord } from './daemon-record.ts';
import { type DaemonEnd, supervise } from './supervise.ts';

/**
 * The program behind `yard up`: starts the agent, and starts it again when it dies. It holds nothing and knows nothing
 * beside that, so that its own death costs no more than the next restart.
 * Arguments: home, node name, then the agent's own command.
 */
const [home = '', node = '', program = '', ...args] = process.argv.slice(2);

let child: ChildProcess | null = null;
let isStopping = false;
let wake = (): void => {};

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  process.on(signal, () => {
    isStopping = true;
    child?.kill('SIGTERM');
    wake();
  });
}

function run(): Promise<DaemonEnd> {
  return new Promise((resolve, reject) => {
    child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'], cwd: '/' });
    if (isStopping) child.kill('SIGTERM');
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
}

async function isRecorded(): Promise<boolean> {
  const processes = processesOf(home);
  const recorded = await readRecord(home, node, processes, 'supervisor');
  processes.close();
  return recorded?.pid === process.pid;
}

await writeRecord(home, node, 'supervisor');
const end = await supervise(
  {
    run,
    isStopping: () => isStopping,
    isReplaced: async () => !(await isRecorded()),
    pause: (delayMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, delayMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
    nowMs: () => performance.now(),
    say: (line) => process.stderr.write(`${line}\n`),
  },
  node,
);
if (await isRecorded()) await removeRecord(home, node, 'supervisor');
const signalCode = end.signal === null ? 0 : 128 + (constants.signals[end.signal as NodeJS.Signals] ?? 0);
process.exitCode = isStopping ? 0 : (end.code ?? signalCode);
