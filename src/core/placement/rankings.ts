import type { Job } from '../job/job.ts';
import type { Needs } from '../profile/settings.ts';
import { closedSecrets, nothingClosed } from '../secrets/openers.ts';
import type { State } from '../state.ts';
import { Ranking } from './ranking.ts';
import { companyOf } from './spread.ts';

/** Rankings that are kept from one pass to the next. */
const mostKept = 32;

/**
 * The nodes as work sees them, kept from pass to pass by what the work needs. What depends on more than the nodes, such
 * as the company of replicas or who can open a secret, is ranked anew in each pass.
 */
export class Rankings {
  readonly #kept = new Map<string, Ranking>();

  of(state: State, job: Job): Ranking {
    const { resources } = job.settings;
    const company = companyOf(state, job);
    const closed = closedSecrets(state, job);
    if (company.spread !== 'none' || closed !== nothingClosed) return new Ranking(resources, company, closed);
    return this.#keep(resources);
  }

  #keep(needs: Needs): Ranking {
    const key = JSON.stringify(needs);
    const kept = this.#kept.get(key) ?? new Ranking(needs, { spread: 'none', replicas: new Map() }, nothingClosed);
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > mostKept && oldest !== undefined) this.#kept.delete(oldest);
    return kept;
  }
}
