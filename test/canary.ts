import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A value that must not be found where it does not belong, and the forms in which it might be. */
export interface Canary {
  readonly value: string;
  /** Where in `bytes` it stands: as it is, in hex, or in base64 of any alignment. */
  isIn(bytes: Uint8Array | string): boolean;
  /** Files below the folders that hold it, none excepted. */
  filesWithIt(...folders: readonly string[]): readonly string[];
  /** Processes of this machine whose arguments hold it. */
  processesWithIt(): readonly string[];
}

export function createCanary(value: string): Canary {
  const forms = formsOf(value);
  const isIn = (bytes: Uint8Array | string): boolean => {
    const text = Buffer.from(bytes as Uint8Array).toString('latin1');
    return forms.some((form) => text.includes(form));
  };
  return {
    value,
    isIn,
    filesWithIt: (...folders) => folders.flatMap((folder) => [...files(folder)]).filter((path) => isIn(read(path))),
    processesWithIt: () =>
      readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .filter((pid) => isIn(read(`/proc/${pid}/cmdline`))),
  };
}

function formsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  const hex = bytes.toString('hex');
  // Whatever stands before it in what was encoded shifts it by up to two bytes; its first and last characters mix with that.
  const base64 = [0, 1, 2].flatMap((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replaceAll('=', '')
      .slice(4, -2);
    return [encoded, encoded.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [bytes.toString('latin1'), hex, hex.toUpperCase(), ...base64];
}

function* files(path: string): Generator<string> {
  if (!existsSync(path)) return;
  const stat = lstatSync(path);
  if (stat.isDirectory()) for (const name of readdirSync(path)) yield* files(join(path, name));
  // The reserve of a full disk is a quarter of a GiB of nothing.
  else if (stat.isFile() && !path.endsWith('/ballast')) yield path;
}

/** Empty for what went away meanwhile. */
function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}
