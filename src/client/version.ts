import { createRequire } from 'node:module';

/** This package's version. */
export const version: string = readVersion();

function readVersion(): string {
  const require = createRequire(import.meta.url);
  // Bundled, this file lies in dist/; as a source, in src/client/.
  for (const path of ['../package.json', '../../package.json']) {
    try {
      const found = require(path) as { name?: string; version?: string };
      if (found.name === 'runyard' && found.version !== undefined) return found.version;
    } catch {
      // Not at this place; the other one is tried.
    }
  }
  return '0.0.0';
}
