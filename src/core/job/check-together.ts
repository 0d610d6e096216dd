import type { Settings } from '../profile/settings.ts';
import { type Refusal, refuse } from '../refusal.ts';
import type { JobSpec } from './spec.ts';

/** What to do and how to run it, where the one contradicts the other; null when nothing does. */
export function checkTogether(spec: JobSpec, settings: Settings): Refusal | null {
  return checkPort(spec, settings) ?? checkProbePorts(settings);
}

/** `$PORT` is the port that the node chose [R4.11]; a value beside it would win or be lost without a word. */
function checkPort(spec: JobSpec, { port }: Settings): Refusal | null {
  if (!port || !Object.hasOwn(spec.env, 'PORT')) return null;
  return refuse('PORT_CONFLICT', 'env.PORT is set, and port = true sets PORT to a free port of the node', {
    path: 'job.env.PORT',
    hint: 'remove env.PORT and listen on $PORT, or write port = false',
  });
}

/** A probe asks the task's own port, so there has to be one. */
function checkProbePorts(settings: Settings): Refusal | null {
  if (settings.port) return null;
  for (const kind of ['startup', 'liveness', 'readiness'] as const) {
    const ask = settings[kind]?.ask;
    if (ask === undefined || ask.kind === 'command') continue;
    return refuse('BAD_VALUE', `${kind} asks by ${ask.kind}, but there is no port to ask`, {
      path: `profile.${kind}`,
      hint: 'write port = true and listen on $PORT, or ask by command = "…"',
    });
  }
  return null;
}
