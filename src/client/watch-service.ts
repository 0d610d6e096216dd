import { factSubject } from '../core/describe.ts';
import type { Fact } from '../core/fact.ts';
import type { ServiceView } from '../core/service/view.ts';
import type { State } from '../core/state.ts';
import type { Embedded } from './embedded.ts';
import { findService, viewNow } from './service-handle.ts';
import { createSignalBox } from './signal-box.ts';

/** While something is under way its deadline comes nearer without a fact. */
const lookAgainMs = 1000;

/** The service now, again after each batch that may concern it, and every second until it is settled; ends when it is gone. */
export async function* watchService(
  embedded: Embedded,
  name: string,
  signal?: AbortSignal,
): AsyncGenerator<ServiceView> {
  const { plane, host } = embedded;
  const box = createSignalBox(signal);
  const end = plane.subscribe((batch, state) => {
    if (batch.facts.some((fact) => mayConcern(fact, name, state))) box.ring();
  }, box.close);
  let cancelLook = (): void => {};
  try {
    await plane.catchUp();
    for (;;) {
      const service = findService(embedded, name);
      if (service === null || box.isEnded()) return;
      const view = viewNow(embedded, service);
      yield view;
      if (!isSettled(view)) cancelLook = host.timers.after(lookAgainMs, () => box.ring());
      await box.wait();
      cancelLook();
    }
  } finally {
    cancelLook();
    end();
  }
}

function isSettled({ state, replicas }: ServiceView): boolean {
  return state !== 'UPDATING' && state !== 'WAITING' && replicas.every((replica) => !replica.stopping);
}

/** Everything but what is about the jobs of others. */
export function mayConcern(fact: Fact, name: string, state: State): boolean {
  const { job, service } = factSubject(fact);
  if (service !== null || job === null) return service === null || service === name;
  const known = state.jobs.get(job);
  return known === undefined || known.service?.name === name;
}
