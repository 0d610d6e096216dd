import { type Fact, factKinds } from '../core/fact.ts';
import { plainFormats } from '../log/formats.ts';

/** The formats of facts that this version reads and writes. */
export const factFormats = plainFormats<Fact>(factKinds);
