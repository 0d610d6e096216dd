import type { EventView, RunyardClient } from '../../client/api.ts';
import { type Context, flagOption, type Invocation } from '../context.ts';
import { neutralise } from '../output/escapes.ts';
import { findSubject } from '../request/find-subject.ts';

/** Everything that happened, one line each, oldest first. */
export async function execute(context: Context, { args, options }: Invocation): Promise<number> {
  const client = await context.client();
  const [reference] = args;
  const about = reference === undefined ? {} : await filterFor(client, reference);
  const end = new AbortController();
  const release = context.onSignal('SIGINT', () => end.abort());
  try {
    const follow = flagOption(options, 'follow');
    const audit = flagOption(options, 'audit');
    for await (const event of client.events({ follow, audit, signal: end.signal, ...about })) {
      context.output.item(event, () => (audit ? auditLine(event) : eventLine(event)));
    }
  } finally {
    release();
  }
  return 0;
}

async function filterFor(client: RunyardClient, reference: string): Promise<{ job: string } | { service: string }> {
  const subject = await findSubject(client, reference);
  return subject.kind === 'service' ? { service: subject.service.name } : { job: subject.job.id };
}

/** Who first: the rest is looked for by name. */
export function auditLine({ seq, at, by, kind, message }: EventView): string {
  return neutralise(`${String(seq).padStart(6)}  ${at}  ${(by ?? '').padEnd(14)}  ${kind.padEnd(15)}  ${message}`);
}

export function eventLine({ seq, at, kind, job, node, service, message }: EventView): string {
  const subject = job ?? node ?? service ?? '';
  return neutralise(
    `${String(seq).padStart(6)}  ${at}  ${kind.padEnd(21)}  ${subject.padEnd(14)}  ${message}`.trimEnd(),
  );
}
