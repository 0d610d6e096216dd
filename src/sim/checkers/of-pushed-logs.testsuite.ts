import type { History } from '../history.ts';
import { PushedLogs } from '../served/pushed-logs.ts';
import { attempt, history, wholeLife } from './histories.testsuite.ts';

/** A command printed two lines, and the server has this of them. */
export function printedAs(text: string, struck = ''): History {
  return history(wholeLife, (made) => {
    made.truth.printed.set(`${attempt}/run.out`, 'one\ntwo\n');
    made.truth.troubled.add(struck);
    made.rest = { startSeq: 9, endSeq: 9 };
    made.logs = new PushedLogs();
    const bytes = new TextEncoder().encode(text);
    made.logs.take({ task: attempt, file: 'run.out', offset: 0, droppedFrom: null, bytes });
  });
}
