import { jobsMutations } from './mutations/jobs.mjs';
import { peopleMutations } from './mutations/people.mjs';
import { servedMutations } from './mutations/served.mjs';
import { servicesMutations } from './mutations/services.mjs';

/**
 * Deliberate faults, each of which the simulator must find: whoever cannot see these would not see a true one either.
 * `find` stands exactly once in the file; `also` is a second place, where two of them hold the same promise. `services`
 * says that people must meddle with services for it to show, and `served` that it takes a server and a network.
 */
export const mutations = [...jobsMutations, ...servicesMutations, ...servedMutations, ...peopleMutations];
