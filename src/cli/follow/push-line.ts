import type { PushProgress } from '../../client/api.ts';
import { describeBytes, describeDuration } from '../../core/units.ts';
import type { Output, StatusLine } from '../output/output.ts';

/** The line of a push: a bar while it lasts, one line when it is done and the job has its id. */
export function showPush(output: Output): { see(progress: PushProgress): void; end(id: string): void } {
  const beganMs = performance.now();
  let last: PushProgress | null = null;
  return {
    see(progress) {
      last = progress;
      output.live(
        progress.phase === 'walking' ? walkingLine(progress) : pushLine('', progress, performance.now() - beganMs),
      );
    },
    end(id) {
      output.live(null);
      if (last !== null) output.status(pushLine(id, last, performance.now() - beganMs));
    },
  };
}

function walkingLine({ files }: PushProgress): StatusLine {
  return { id: '', label: 'reading workspace', detail: `${grouped(files)} files`, document: { kind: 'push' } };
}

export function pushLine(id: string, progress: PushProgress, elapsedMs: number): StatusLine {
  const { files, bytes, fraction, sentBytes } = progress;
  return {
    id,
    label: 'pushing workspace',
    detail: `${grouped(files)} ${files === 1 ? 'file' : 'files'}  ${describeBytes(bytes)}`,
    fraction,
    afterBar: describeDuration(elapsedMs),
    document: { kind: 'push', job: id, files, bytes, sentBytes, elapsedMs: Math.round(elapsedMs) },
  };
}

/** `1,204`. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}
