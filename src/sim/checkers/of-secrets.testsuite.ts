import type { Fact } from '../../core/fact.ts';
import type { History } from '../history.ts';
import { writeBox } from '../virtual-sealing.ts';
import { history, joined, runOf, submitted } from './histories.testsuite.ts';

export const setTo = (value: string): Fact => {
  const boxes = { key: writeBox({ publicKey: 'key', value }) };
  return { kind: 'SecretSet', project: 'default', name: 's', boxes, by: 'x' };
};
export const removed: Fact = { kind: 'SecretRemoved', project: 'default', name: 's', by: 'x' };

/** What a run was given that started once the log held so many facts. */
export function runWith(facts: readonly Fact[], secrets: Readonly<Record<string, string>>, startSeq = 4): History {
  return history([joined, submitted('a-1'), ...facts], ({ truth }) => {
    truth.processes.splice(0, 1, runOf({ secrets, startSeq }));
  });
}
