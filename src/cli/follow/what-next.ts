import type { JobView } from '../../core/job/view.ts';
import type { Outcome } from '../../core/reason.ts';
import { writeDuration, writeSize } from '../../core/units.ts';
import { hintInReason } from '../services/replica-line.ts';

/** What to do about a job that failed: every failure says what to do next. */
export function whatNext(view: JobView): readonly string[] {
  const { outcome, id, settings, service } = view;
  if (outcome === null) return [];
  if (service !== null && isForRetry(outcome)) {
    return [`yard services ${service} shows what takes its place`];
  }
  switch (outcome.reason) {
    case 'exit':
      return [afterExit(view)];
    case 'setup-failed':
      return [`yard logs ${id} --step setup`];
    case 'timed-out':
      return [settings.timeoutMs === null ? `yard retry ${id}` : `--timeout ${writeDuration(settings.timeoutMs * 2)}`];
    case 'stopped':
      return [`yard retry ${id} runs it again`];
    case 'node-lost':
      return settings.retry.maxAttempts > 1 ? [`yard retry ${id}`] : ['--max-attempts 3 tries it again by itself'];
    case 'node-fault':
      return [`yard doctor; then yard retry ${id}`];
    case 'gave-up':
      return [hintInReason(outcome.message, null) ?? `yard logs ${id}`];
    case 'unschedulable':
      return ['yard nodes shows what there is'];
  }
}

/** A replica is not run again as a job of its own: its service brings another, if it wants one. */
function isForRetry({ reason }: Outcome): boolean {
  return reason === 'stopped' || reason === 'timed-out' || reason === 'node-lost' || reason === 'node-fault';
}

function afterExit({ id, outcome, settings, array }: JobView): string {
  if (outcome?.message.includes('out of memory') === true) {
    const limitMiB = settings.resources.memoryMiB;
    if (limitMiB !== null) return `--memory ${writeSize(limitMiB * 2)}`;
  }
  if (array !== null) return `yard retry ${id} --failed`;
  if (outcome?.exitCode === 127) return 'the node has no such command on its PATH; setup can install it';
  if (outcome?.exitCode === 126) return 'make it executable: chmod +x';
  return `yard logs ${id}`;
}
