import type { ReplicaPlaces } from '../client/service-logs.ts';
import { parseTaskKey } from '../core/job/job.ts';
import { refused } from './http-refusal.ts';

/**
 * How far logs have been read, as the id of an event: `job:index.rank.attempt=a.b.c.d,…;job:…`, where a to d are the
 * bytes read of the setup's stdout and stderr and the run's, in base 36. It comes back in a header, which has room for a
 * few thousand tasks; for more there is no id that could be gone on from.
 */
const streams = ['setup.out', 'setup.err', 'run.out', 'run.err'] as const;
const mostBytes = 48 * 1024;
const tooMany = 'too-many-tasks';

export function writeLogPlaces(places: ReplicaPlaces): string {
  const text = [...places]
    .map(([job, tasks]) => {
      const each = [...tasks].map(([task, offsets]) => {
        const numbers = streams.map((stream) => (offsets.get(stream) ?? 0).toString(36)).join('.');
        return `${task.slice(job.length + 1)}=${numbers}`;
      });
      return `${job}:${each.join(',')}`;
    })
    .join(';');
  return text.length > mostBytes ? tooMany : text;
}

export function readLogPlaces(id: string): ReplicaPlaces {
  if (id === tooMany) {
    throw refused('WRONG_STATE', 'the log of so many tasks cannot be gone on with where it was cut', {
      hint: 'read it again from its beginning, or one task at a time',
    });
  }
  return new Map(id.split(';').map(readJob));
}

function readJob(text: string): [string, ReadonlyMap<string, ReadonlyMap<string, number>>] {
  const [job = '', each = ''] = text.split(':');
  const tasks = each === '' ? [] : each.split(',');
  return [job, new Map(tasks.map((task) => readTask(job, task)))];
}

function readTask(job: string, text: string): [string, ReadonlyMap<string, number>] {
  const found = /^(\d{1,9}\.\d{1,9}\.\d{1,9})=([0-9a-z]{1,11}(?:\.[0-9a-z]{1,11}){3})$/.exec(text);
  const task = `${job}.${found?.[1] ?? ''}`;
  if (found?.[2] === undefined || parseTaskKey(task) === null) {
    throw refused('BAD_VALUE', 'the Last-Event-ID is none of this stream', { path: 'Last-Event-ID' });
  }
  const numbers = found[2].split('.').map((number) => Number.parseInt(number, 36));
  return [task, new Map(streams.map((stream, i) => [stream, numbers[i] ?? 0]))];
}
