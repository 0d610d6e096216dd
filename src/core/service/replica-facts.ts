import type { Fact } from '../fact.ts';
import type { State } from '../state.ts';
import type { Service } from './service.ts';

/** A replica is told to stop, and is not counted on from then on. */
export function dismissal(state: State, service: string, id: string, reason: string): readonly Fact[] {
  const job = state.jobs.get(id);
  const dismissed: Fact = { kind: 'ReplicaDismissed', service, job: id, reason };
  if (job === undefined || job.outcome !== null) return [dismissed];
  const { graceMs } = job.settings;
  return [
    dismissed,
    { kind: 'OperatorStop', job: id, indices: null, by: 'runyard', graceMs, message: `dismissed: ${reason}` },
  ];
}

/** Replicas of these revisions, each an ordinary job under the lowest number that no replica has (X21). */
export function submissions(
  service: Service,
  revisions: readonly number[],
  drawId: (name: string) => string,
): readonly Fact[] {
  const indices = freeIndices(service, revisions.length);
  return revisions.flatMap((number, position) => {
    const fact = replicaSubmitted(service, number, indices[position] ?? 0, drawId);
    return fact === null ? [] : [fact];
  });
}

function replicaSubmitted(
  service: Service,
  number: number,
  index: number,
  drawId: (name: string) => string,
): Fact | null {
  const revision = service.revisions.get(number);
  if (revision === undefined) return null;
  const { spec, source, settings, origins, profile, workspace } = revision;
  const { name, project, owner } = service;
  return {
    kind: 'JobSubmitted',
    job: drawId(name),
    name,
    project,
    owner,
    spec,
    source,
    settings,
    origins,
    profile,
    workspace,
    retryOf: null,
    indices: null,
    service: { name, index, revision: number },
  };
}

function freeIndices(service: Service, count: number): readonly number[] {
  const taken = new Set([...service.replicas.values()].map(({ index }) => index));
  const free: number[] = [];
  for (let index = 0; free.length < count; index += 1) if (!taken.has(index)) free.push(index);
  return free;
}
