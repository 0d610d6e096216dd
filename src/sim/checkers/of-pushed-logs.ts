import type { Checker } from './checker.ts';

/** What is promised of the logs of nodes elsewhere. */
export const pushedLogCheckers: readonly Checker[] = [
  {
    id: 'C10',
    says: 'the server has what commands printed: all of it in the end, and never anything else',
    open: ({ logs, truth, cloned, rest }, report) => ({
      finish: () => {
        if (logs === null) return;
        const { texts } = logs;
        const nodes = new Map(truth.processes.map(({ attempt, node }) => [attempt, node]));
        for (const [place, printed] of truth.printed) {
          const [attempt = ''] = place.split('/');
          const node = nodes.get(attempt) ?? '';
          if (cloned.has(node)) continue;
          const has = texts.get(place) ?? '';
          // A machine that lost its power may have lost what was not on its disk yet.
          const isWhole = has === printed || rest === null || truth.troubled.has(node);
          if (!isWhole) report(`of ${place} it has ${JSON.stringify(has)}, and not ${JSON.stringify(printed)}`);
          else if (!printed.startsWith(has)) report(`${place} holds ${JSON.stringify(has)}, which was never printed`);
        }
      },
    }),
  },
];
