import { describe, expect, it } from 'vitest';
import { freshHealth, type Health } from '../../core/supervision/probe.ts';
import type { Readiness } from './journal.ts';
import { newsOf } from './run-watch.ts';

const fresh = freshHealth(1, { startup: null, liveness: null, readiness: null });
const ready: Health = { ...fresh, ready: true };
const failing = (count: number): Health => ({
  ...fresh,
  ready: false,
  startupFailures: count,
  reason: `startup ${count} of 60, port 1 refused`,
});

describe('what is reported of readiness', () => {
  const told: Readiness = { ready: false, reason: 'startup 6 of 60, port 1 refused' };
  const table: [string, Health, Readiness | null, number, Readiness | null][] = [
    ['that it became ready, once [X6]', ready, null, 100, { ready: true, reason: null }],
    ['nothing while it stays ready [X6]', ready, { ready: true, reason: null }, 100, null],
    [
      'that it ceased to be, with the reason',
      failing(3),
      { ready: true, reason: null },
      100,
      { ready: false, reason: 'startup 3 of 60, port 1 refused' },
    ],
    ['nothing of a start that is only just under way', failing(1), null, 900, null],
    ['why a slow start is not ready', failing(6), null, 5000, told],
    [
      'nothing that an agent before noted, until it is seen anew [X6] [B3]',
      { ...failing(6), startupFailures: 0 },
      null,
      9000,
      null,
    ],
    ['nothing of further failures for the same reason [X6]', failing(7), told, 6000, null],
    [
      'why it was given up',
      { ...failing(60), dead: 'startup 60 of 60, port 1 refused' },
      told,
      60_000,
      { ready: false, reason: 'startup 60 of 60, port 1 refused' },
    ],
  ];
  it.each(table)('is %s', (_, health, before, ageMs, news) => {
    expect(newsOf(health, before, ageMs)).toEqual(news);
  });
});
