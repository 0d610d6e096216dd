import type { ServiceHandle } from '../../client/api.ts';
import type { ServiceView } from '../../core/service/view.ts';
import type { Context } from '../context.ts';
import { failed } from '../exit-code.ts';
import type { Output } from '../output/output.ts';
import { createServiceNarrator } from './service-narrator.ts';
import { type Verdict, verdictOn } from './verdict.ts';

const defaultDeadlineMs = 600_000;

/**
 * Follows what was applied to its end and returns the exit code: 0 when it is as asked for, 1 when it is not, with the
 * reason. Letting go of it stops nothing.
 */
export async function followService(context: Context, service: ServiceHandle, revision: number): Promise<number> {
  const letGo = new AbortController();
  const releases = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((signal) =>
    context.onSignal(signal, () => letGo.abort()),
  );
  const narrator = createServiceNarrator({ output: context.output, nowMs: () => Date.now() });
  const patience = createPatience(() => performance.now());
  let verdict: Verdict | null = null;
  try {
    for await (const view of service.watch({ signal: letGo.signal })) {
      narrator.see(view);
      verdict = verdictOn(view, revision) ?? patience.see(view);
      if (verdict !== null) break;
    }
  } finally {
    narrator.end();
    for (const release of releases) release();
  }
  if (verdict !== null) {
    tell(context.output, verdict);
    return verdict.ok ? 0 : failed;
  }
  const what = letGo.signal.aborted ? 'goes on without this command' : 'was removed';
  context.output.note(`${service.name}  ${what}${letGo.signal.aborted ? `\n  yard services ${service.name}` : ''}`);
  return failed;
}

function tell(output: Output, { ok, line }: Verdict): void {
  if (!ok && output.kind === 'quiet') {
    const hint = line.below?.join('\n') ?? null;
    output.error({ code: 'FAILED', message: `${line.id}: ${line.detail}`, hint, path: null, excerpt: null });
  } else output.status(line);
}

/** A rollout has its deadline in the log; scaling and starting again have as long from one ready replica to the next. */
function createPatience(nowMs: () => number): { see(view: ServiceView): Verdict | null } {
  let ready = -1;
  let sinceMs = nowMs();
  return {
    see(view) {
      if (view.ready !== ready) sinceMs = nowMs();
      ready = view.ready;
      const deadlineMs = view.replicas[0]?.settings.rollout.progressDeadlineMs ?? defaultDeadlineMs;
      if (view.rollout?.state === 'progressing' || nowMs() - sinceMs < deadlineMs) return null;
      const detail = `${view.ready} of ${view.desired} ready: ${view.reason ?? 'no reason is known'}`;
      const below = [`yard explain ${view.name}`];
      const document = { kind: 'ended', ok: false, service: view };
      return { ok: false, line: { id: view.name, label: view.state, detail, tone: 'bad', below, document } };
    },
  };
}
