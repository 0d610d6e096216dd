import type { JobHandle, RunyardClient, ServiceHandle } from '../../client/api.ts';
import { RefusalError } from '../../client/refusal-error.ts';
import { refuse } from '../../core/refusal.ts';

/** What `ID|SERVICE` means: a service by its whole name, else a job. */
export type Subject =
  | { readonly kind: 'service'; readonly service: ServiceHandle }
  | { readonly kind: 'job'; readonly job: JobHandle };

export async function findSubject(client: RunyardClient, reference: string): Promise<Subject> {
  const service = await findService(client, reference);
  return service === null ? { kind: 'job', job: await client.jobs.get(reference) } : { kind: 'service', service };
}

/** The service of exactly this name; null when there is none. */
export async function findService(client: RunyardClient, name: string): Promise<ServiceHandle | null> {
  try {
    return await client.services.get(name);
  } catch (error) {
    if (error instanceof RefusalError && error.code === 'NOT_FOUND') return null;
    throw error;
  }
}

/**
 * Refuses the name of a service where a job is meant: it would stand for the latest replica, which nobody who types it
 * has in mind. `ours` is the command that does something of the kind with a service.
 */
export async function refuseService(
  client: RunyardClient,
  reference: string,
  { verb, ours }: { readonly verb: string; readonly ours: string },
): Promise<void> {
  if ((await findService(client, reference)) === null) return;
  const hint = `yard ${ours} ${reference}; one replica: yard ${verb} ID (yard services ${reference} lists them)`;
  throw new RefusalError(refuse('AMBIGUOUS', `${reference} is a service, not a job`, { hint }));
}
