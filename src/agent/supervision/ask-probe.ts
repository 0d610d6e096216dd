import type { Probe, ProbeKind } from '../../core/supervision/probe.ts';
import { HostError } from '../../host/files.ts';
import type { Host } from '../../host/host.ts';
import { findProgram } from '../command.ts';

/** What probes are asked of: one task's own port, and commands in its own environment. */
export interface ProbeSubject {
  readonly host: Pick<Host, 'network' | 'processes' | 'files'>;
  readonly port: number | null;
  readonly env: Readonly<Record<string, string>>;
  /** The values that the task's own command was started with; asked for commands only. */
  readonly secrets: () => Promise<Readonly<Record<string, string>>>;
  readonly workdir: string;
  /** The attempt's mark. */
  readonly mark: string;
  /** Ends a command that is under way. */
  readonly signal: AbortSignal;
  /** Ports on which the task's processes listen instead; asked when its own is refused. */
  readonly listening: () => Promise<readonly number[]>;
}

export interface Answer {
  readonly ok: boolean;
  /** What was seen, for people: `port 41873 refused`, `503`. */
  readonly detail: string;
}

/** Asks once. Never throws for what the task does; a timeout is a wrong answer. */
export async function askProbe(subject: ProbeSubject, kind: ProbeKind, probe: Probe): Promise<Answer> {
  const { ask, timeoutMs } = probe;
  if (ask.kind === 'command') return askCommand(subject, kind, ask.command, timeoutMs);
  const { port, host } = subject;
  if (port === null) return { ok: false, detail: 'it has no port to ask (port = true)' };
  if (ask.kind === 'tcp') {
    return (await host.network.canConnect(port, timeoutMs)) ? { ok: true, detail: 'open' } : refused(subject, port);
  }
  const answer = await host.network.httpGet(port, ask.path, timeoutMs);
  switch (answer.kind) {
    case 'answered': {
      const ok = answer.status >= 200 && answer.status < 400;
      return { ok, detail: `GET ${ask.path} answered ${answer.status}` };
    }
    case 'refused':
      return refused(subject, port);
    case 'timed-out':
      return { ok: false, detail: `GET ${ask.path} had no answer within ${timeoutMs / 1000} s` };
    case 'broken':
      return { ok: false, detail: `GET ${ask.path} failed: ${answer.message}` };
  }
}

/** Says where the task listens instead, as the usual cause is a port of its own choice. */
async function refused(subject: ProbeSubject, port: number): Promise<Answer> {
  const others = (await subject.listening()).filter((other) => other !== port);
  const where = others.length === 0 ? '' : `; the process listens on ${others.join(', ')}`;
  return { ok: false, detail: `port ${port} refused${where}` };
}

const mostDetail = 200;
const mostOutputBytes = 64 * 1024;

/** Variables that would change the programs of a probe rather than what they ask (LD_PRELOAD and its like). */
const withheld = /^(LD_.*|NODE_OPTIONS|PYTHONSTARTUP)$/;

async function askCommand(
  subject: ProbeSubject,
  kind: ProbeKind,
  command: string | readonly string[],
  timeoutMs: number,
): Promise<Answer> {
  const { host, workdir, mark, signal } = subject;
  const all = { ...subject.env, ...(await subject.secrets()) };
  const env = Object.fromEntries(Object.entries(all).filter(([name]) => !withheld.test(name)));
  const options = { timeoutMs, env, cwd: workdir, maxBytes: mostOutputBytes, mark: probeMark(mark, kind), signal };
  try {
    const argv = await argvOf(subject, command);
    const result = await host.processes.runHelper(argv, options);
    if (result.timedOut) return { ok: false, detail: `the command did not end within ${timeoutMs / 1000} s` };
    if (result.exitCode === 0) return { ok: true, detail: 'exited with code 0' };
    const how = result.exitCode === null ? `killed by ${result.signal}` : `exited with code ${result.exitCode}`;
    const words = (result.stderr.trim() || result.stdout.trim()).split('\n').at(-1)?.slice(0, mostDetail) ?? '';
    return { ok: false, detail: words === '' ? `the command ${how}` : `the command ${how}: ${words}` };
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return { ok: false, detail: `the command could not be started: ${error.message}` };
  }
}

/** By which the tree of a probe is found after the agent that asked it has died. */
export function probeMark(mark: string, kind: ProbeKind): string {
  return `${mark}/${kind}`;
}

async function argvOf({ host, env }: ProbeSubject, command: string | readonly string[]): Promise<readonly string[]> {
  if (typeof command !== 'string') return command;
  const bash = await findProgram(host.files, env.PATH ?? '', 'bash');
  return bash === null ? ['sh', '-e', '-c', command] : [bash, '-eo', 'pipefail', '-c', command];
}
