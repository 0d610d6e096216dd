import type { Refusal } from '../core/refusal.ts';

/**
 * The refusal of a secret that is not set, with the place that names it in brackets: `job.toml:7 env.HF_TOKEN` where
 * the core only knows `env.HF_TOKEN`.
 */
export function placeUnsetSecret(refusal: Refusal, place: string): Refusal {
  if (refusal.code !== 'SECRET_NOT_SET') return refusal;
  return { ...refusal, message: refusal.message.replace(/\(env\.[^()]*\)$/, `(${place})`) };
}
