import type { Cluster } from './cluster.ts';
import { KeptProgram } from './kept-program.ts';
import type { Machine } from './machine.ts';
import type { Person } from './person.ts';
import type { ClientProgram } from './strikes.ts';
import type { Intent } from './workload.ts';

export interface PersonOptions {
  readonly name: string;
  readonly machine: Machine;
  readonly intents: readonly Intent[];
  readonly services: readonly string[];
}

/** Somebody with a terminal, who starts the program again when it was killed. */
export abstract class KeptPerson extends KeptProgram implements ClientProgram, Person {
  readonly intents: readonly Intent[];
  readonly services: readonly string[];
  isCalm = false;
  isClosing = false;

  constructor(cluster: Cluster, options: PersonOptions) {
    super(cluster, { ...options, role: 'client' });
    this.intents = options.intents;
    this.services = options.services;
  }

  protected override pauseMs(): number {
    return this.cluster.random.between(10, 3000);
  }
}
