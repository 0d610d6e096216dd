import { toHex } from '../../host/hex.ts';
import type { Host } from '../../host/host.ts';

/**
 * Values that tasks get as files: mode 0600 in a folder of this node's own, outside every work directory, in memory
 * (tmpfs) where the system has such a place. They go with their attempt, by this agent or by the next.
 */
export interface SecretFiles {
  /** Writes a value for an attempt, over an older one; returns its path. */
  write(attempt: string, name: string, value: Uint8Array): Promise<string>;
  /** Removes what the attempt was given; safe to repeat. */
  remove(attempt: string): Promise<void>;
  /** Removes what all other attempts were given, whichever agent gave it. */
  keepOnly(attempts: readonly string[]): Promise<void>;
}

const memoryDirectory = '/dev/shm';
/** How folders of it are called where there is no such place. */
const onDisk = 'secret-files-';

/** Which folder it is stands here, with the boot in which it was made: a name of an older boot may be anybody's by now. */
interface Place {
  readonly bootId: string;
  readonly directory: string;
}

/** `directory` is the node's own. The folder is made at the first use. */
export async function openSecretFiles(
  host: Pick<Host, 'files' | 'chance' | 'clock'>,
  directory: string,
): Promise<SecretFiles> {
  const { files } = host;
  let place = await readPlace(host, directory);
  let turn: Promise<unknown> = Promise.resolve();

  /** One at a time: the folder goes with the last file in it. */
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = turn.then(work);
    turn = result.catch(() => {});
    return result;
  };
  const open = async (): Promise<string> => {
    if (place === null || (await files.lstat(place))?.kind !== 'directory') place = await makePlace(host, directory);
    return place;
  };
  const removeAll = async (open: string, attempts: readonly string[]): Promise<void> => {
    for (const attempt of attempts) await files.remove(`${open}/${attempt}`);
    if (await files.removeEmptyDirectory(open)) place = null;
  };
  return {
    write: (attempt, name, value) =>
      inTurn(async () => {
        const folder = `${await open()}/${attempt}`;
        await files.makeDirectory(folder, { mode: 0o700 });
        await files.writeAtomic(`${folder}/${name}`, value, { mode: 0o600 });
        return `${folder}/${name}`;
      }),
    remove: (attempt) =>
      inTurn(async () => {
        if (place !== null) await removeAll(place, [attempt]);
      }),
    keepOnly: (attempts) =>
      inTurn(async () => {
        for (const orphan of await orphansIn(files, directory, place)) await files.remove(orphan);
        if (place === null) return;
        const names = ((await files.list(place)) ?? []).map(({ name }) => name);
        await removeAll(
          place,
          names.filter((name) => !attempts.includes(name)),
        );
      }),
  };
}

/** Folders on the disk of which a loss of power left only themselves, and not the word where they are. */
async function orphansIn(files: Host['files'], directory: string, place: string | null): Promise<readonly string[]> {
  return ((await files.list(directory)) ?? [])
    .filter(({ name, kind }) => kind === 'directory' && name.startsWith(onDisk))
    .map(({ name }) => `${directory}/${name}`)
    .filter((path) => path !== place);
}

async function readPlace({ files, clock }: Pick<Host, 'files' | 'clock'>, directory: string): Promise<string | null> {
  const bytes = await files.read(placePath(directory));
  if (bytes === null) return null;
  try {
    const place = JSON.parse(new TextDecoder().decode(bytes)) as Place;
    // On a disk it outlives the boot, and nobody else can have made it there.
    return place.bootId === clock.bootId() || place.directory.startsWith(`${directory}/`) ? place.directory : null;
  } catch {
    return null;
  }
}

/** Created, not found: a folder that somebody else made under a name that they guessed is never used. */
async function makePlace(
  { files, chance, clock }: Pick<Host, 'files' | 'chance' | 'clock'>,
  directory: string,
): Promise<string> {
  const inMemory = (await files.stat(memoryDirectory))?.kind === 'directory';
  for (;;) {
    const suffix = toHex(chance.bytes(8));
    const made = inMemory ? `${memoryDirectory}/runyard-${suffix}` : `${directory}/${onDisk}${suffix}`;
    const place: Place = { bootId: clock.bootId(), directory: made };
    // Noted first, so that the next agent finds it whenever this one dies.
    await files.writeAtomic(placePath(directory), new TextEncoder().encode(JSON.stringify(place)), { mode: 0o600 });
    if (await files.createDirectory(made, { mode: 0o700 })) return made;
  }
}

function placePath(directory: string): string {
  return `${directory}/secret-files`;
}
