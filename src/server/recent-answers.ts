import type { Clock } from '../host/clock.ts';
import { refused } from './http-refusal.ts';

/**
 * Answers that nothing may keep, such as new tokens: remembered in memory for a while, so that whoever lost the answer
 * on the way and asks again under the same key gets it.
 */
export interface RecentAnswers {
  once<Answer>(key: string | undefined, body: unknown, work: () => Promise<Answer>): Promise<Answer>;
}

const keptMs = 10 * 60_000;
const mostKept = 1_000;

interface Kept {
  readonly sinceMs: number;
  readonly body: string;
  readonly answer: Promise<unknown>;
}

export function createRecentAnswers(clock: Clock): RecentAnswers {
  const kept = new Map<string, Kept>();
  return {
    once<Answer>(key: string | undefined, given: unknown, work: () => Promise<Answer>): Promise<Answer> {
      if (key === undefined) return work();
      const body = JSON.stringify(given);
      const known = kept.get(key);
      if (known !== undefined && clock.bootMs() - known.sinceMs < keptMs) {
        if (known.body === body) return known.answer as Promise<Answer>;
        throw refused('IDEMPOTENCY_MISMATCH', 'the idempotency key was used for another request', {
          hint: 'draw a new key',
        });
      }
      const answer = work();
      kept.delete(key);
      kept.set(key, { sinceMs: clock.bootMs(), body, answer });
      // What failed had no effect, and may be tried again.
      answer.catch(() => kept.delete(key));
      for (const oldest of kept.keys()) {
        if (kept.size <= mostKept) break;
        kept.delete(oldest);
      }
      return answer;
    },
  };
}
