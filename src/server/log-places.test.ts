import { describe, expect, it } from 'vitest';
import { readLogPlaces, writeLogPlaces } from './log-places.ts';

function places(job: string, tasks: number): Map<string, Map<string, Map<string, number>>> {
  const offsets = new Map([
    ['setup.out', 0],
    ['setup.err', 7],
    ['run.out', 2 ** 41],
    ['run.err', 35],
  ]);
  const all = Array.from({ length: tasks }, (_, index) => [`${job}.${index}.0.1`, offsets] as const);
  return new Map([[job, new Map(all)]]);
}

describe('places in logs, as ids of events', () => {
  it('come back as they went', () => {
    const both = new Map([...places('llm-a', 3), ...places('llm-b', 1), ['llm-c', new Map()]]);
    const id = writeLogPlaces(both);
    expect(id).toMatch(/^[\x21-\x7e]+$/);
    expect(readLogPlaces(id)).toEqual(both);
  });

  it('are short enough for a header, or none that could be gone on from', () => {
    expect(writeLogPlaces(places('sweep-k3f9q2', 1000)).length).toBeLessThan(48 * 1024);
    const id = writeLogPlaces(places('sweep-k3f9q2', 100_000));
    expect(() => readLogPlaces(id)).toThrow('the log of so many tasks cannot be gone on with where it was cut');
  });

  it('are refused when they are none', () => {
    for (const id of ['x:y', 'a:0.0.1=1.2.3', 'a:0.0.1=1.2.3.4.5', '../b:0.0.1=0.0.0.0', 'a:9999999999.0.1=0.0.0.0']) {
      expect(() => readLogPlaces(id)).toThrow('the Last-Event-ID is none of this stream');
    }
  });
});
