import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { refuse } from '../core/refusal.ts';
import { RefusalError } from './refusal-error.ts';

/** The home as an absolute path, made when it is absent; refused when others may look into it (G8, R4.26). */
export function prepareHome(wanted: string | undefined): Promise<string> {
  const home = resolve(wanted ?? process.env.RUNYARD_HOME ?? join(homedir(), '.runyard'));
  const isNew = mkdirSync(home, { recursive: true, mode: 0o700 }) !== undefined;
  if (isNew) chmodSync(home, 0o700);
  const { mode, uid } = statSync(home);
  if (process.getuid !== undefined && uid !== process.getuid()) {
    const message = `${home} belongs to user ${uid}, not to the one who runs yard (${process.getuid()})`;
    return Promise.reject(new RefusalError(refuse('PRIVILEGE', message, { hint: 'name another one with --home' })));
  }
  if ((mode & 0o077) !== 0) {
    const message = `${home} has mode ${(mode & 0o777).toString(8)}: others could read or change what is in it`;
    return Promise.reject(new RefusalError(refuse('PRIVILEGE', message, { hint: `chmod 700 ${home}` })));
  }
  return Promise.resolve(home);
}
