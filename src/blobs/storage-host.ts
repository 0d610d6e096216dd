import type { Host } from '../host/host.ts';

/** The parts of the outside that keeping and moving bytes needs. */
export type StorageHost = Pick<Host, 'files' | 'digests' | 'clock' | 'chance'>;
