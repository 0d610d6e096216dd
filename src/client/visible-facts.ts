import { authorizeAction, isAdministrator } from '../core/access/authorize.ts';
import { type AccessFact, isAccessFact } from '../core/access/facts.ts';
import type { FactSubject } from '../core/describe.ts';
import type { Fact } from '../core/fact.ts';
import type { Embedded } from './embedded.ts';
import { loadJob } from './find-job.ts';
import { sees } from './visible.ts';

/** Which facts whoever asks may see: those of their projects, and of no project. Fed with every fact, in order. */
export class VisibleFacts {
  readonly #embedded: Embedded;
  readonly #jobs = new Map<string, string>();
  readonly #services = new Map<string, string>();

  constructor(embedded: Embedded) {
    this.#embedded = embedded;
  }

  /** Notes which project things are of: the state forgets those that have gone. */
  learn(fact: Fact): void {
    if (this.#seesAll()) return;
    if (fact.kind === 'JobSubmitted') this.#jobs.set(fact.job, fact.project);
    if (fact.kind === 'ServiceApplied') this.#services.set(fact.service, fact.project);
  }

  async shows(fact: Fact, { job, service }: FactSubject): Promise<boolean> {
    if (this.#seesAll()) return true;
    if (isAccessFact(fact)) return this.#showsAccess(fact);
    if (job !== null) {
      const project = this.#jobs.get(job);
      return project === undefined ? (await loadJob(this.#embedded, job)) !== null : sees(this.#embedded, project);
    }
    if (service !== null) {
      const project = this.#services.get(service) ?? this.#embedded.plane.state.services.get(service)?.project;
      return project !== undefined && sees(this.#embedded, project);
    }
    return !('project' in fact) || sees(this.#embedded, fact.project);
  }

  #showsAccess(fact: AccessFact): boolean {
    switch (fact.kind) {
      case 'TokenCreated':
        return fact.token.kind === 'user' && fact.token.user === this.#embedded.actor.name;
      case 'TokenRevoked':
        return false;
      case 'AccessRefused':
        return authorizeAction(this.#embedded.plane.state, this.#embedded.actor, 'read-audit') === null;
      case 'NodeAdmitted':
        return true;
      default:
        return sees(this.#embedded, fact.project);
    }
  }

  #seesAll(): boolean {
    return isAdministrator(this.#embedded.plane.state, this.#embedded.actor);
  }
}
