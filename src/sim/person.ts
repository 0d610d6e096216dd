import { type ClientContext, submit } from './client-actions.ts';
import { describeFault } from './expected-fault.ts';
import { meddleWithService, removeServices } from './service-actions.ts';
import type { Intent } from './workload.ts';

/** Somebody with a terminal: what they want, and in what mood they are. */
export interface Person {
  readonly name: string;
  readonly intents: readonly Intent[];
  readonly services: readonly string[];
  /** Set once the world has healed: then what is open is brought to its end, and nothing new is thought of. */
  readonly isCalm: boolean;
  /** Set at the end of a seed with services: none may stay up. */
  readonly isClosing: boolean;
}

/** What differs between those who share a home and those at a server. Shares are from 0 to 1. */
export interface Habits {
  readonly submits: number;
  readonly meddles: number;
  readonly meddle: (context: ClientContext) => Promise<void>;
  readonly sample: (context: ClientContext) => Promise<void>;
  /** Whoever shares a home has to read what others did; a server knows it. */
  readonly readsFirst: boolean;
  /** Opens what somebody closed. */
  readonly bringToRest: (context: ClientContext) => Promise<void>;
}

/** Rarely enough for rollouts to come to their end, often enough to meet them in the middle. */
const serviceShare = 0.35;

/** One thing that a person does; what may go wrong today is noted, and tried again another time. */
export async function act(person: Person, context: ClientContext, habits: Habits): Promise<void> {
  try {
    await (person.isCalm ? calmly(person, context, habits) : atRandom(person, context, habits));
  } catch (error) {
    const { isExpected, text } = describeFault(error);
    if (!isExpected) throw error;
    context.cluster.world.note(person.name, `tries again: ${text.split('\n', 1)[0]}`);
  }
}

async function calmly(person: Person, context: ClientContext, { readsFirst, bringToRest }: Habits): Promise<void> {
  if (readsFirst) await context.plane.catchUp();
  const first = person.intents.find((intent) => !intent.isAnswered);
  await (first === undefined ? bringToRest(context) : submit(context, first));
  if (person.isClosing) await removeServices(context);
}

async function atRandom({ intents, services }: Person, context: ClientContext, habits: Habits): Promise<void> {
  const { random } = context.cluster;
  if (services.length > 0 && random.happens(serviceShare)) {
    await meddleWithService(context, random.pick(services));
    return;
  }
  const open = intents.filter((intent) => !intent.isAnswered);
  const known = intents.filter((intent) => intent.isAnswered);
  if (open.length > 0 && random.happens(habits.submits)) await submit(context, random.pick(open));
  else if (known.length > 0 && random.happens(0.1)) await submit(context, random.pick(known));
  else if (random.happens(habits.meddles)) await habits.meddle(context);
  else await habits.sample(context);
}
