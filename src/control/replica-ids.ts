import { customRandom } from 'nanoid';
import type { Command } from '../core/command.ts';
import { idAlphabet, idSuffixLength } from '../core/job/job-id.ts';
import type { State } from '../core/state.ts';
import type { Chance } from '../host/chance.ts';

/** Candidates for each service: more than one commit ever starts beyond this many, and those are drawn unchecked. */
const candidatesEach = 4;

/** Fresh ids for the replicas that a step may start, drawn before it: chance is an argument of the core. */
export class ReplicaIds {
  readonly #draw: () => string;
  readonly #candidates = new Map<string, string[]>();

  constructor(chance: Chance) {
    this.#draw = customRandom(idAlphabet, idSuffixLength, (length) => chance.bytes(length));
  }

  /** Ids to look up in the archive, for the services that are short of replicas or about to be changed. */
  prepare(state: State, commands: readonly Command[]): readonly string[] {
    this.#candidates.clear();
    const names = new Set<string>();
    for (const service of state.services.values()) {
      const isOpen = service.rollout !== null && service.rollout.state === 'progressing';
      if (service.standing === 'wanted' && (isOpen || service.replicas.size < service.desired)) names.add(service.name);
    }
    for (const command of commands) {
      if (command.kind === 'ApplyService') names.add(command.spec.name);
      else if ('service' in command && typeof command.service === 'string') names.add(command.service);
    }
    for (const name of names)
      this.#candidates.set(
        name,
        Array.from({ length: candidatesEach }, () => this.#fresh(name)),
      );
    return [...this.#candidates.values()].flat();
  }

  /** An id that neither the archive nor the state has, as far as it was looked up. */
  drawId(name: string, state: State, archivedIds: ReadonlySet<string>): string {
    const candidates = this.#candidates.get(name) ?? [];
    for (;;) {
      const id = candidates.shift() ?? this.#fresh(name);
      if (!archivedIds.has(id) && !state.jobs.has(id)) return id;
    }
  }

  #fresh(name: string): string {
    return `${name}-${this.#draw()}`;
  }
}
