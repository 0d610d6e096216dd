import type { Materialised } from '../blobs/materialise.ts';
import type { Files } from '../host/files.ts';
import type { Attempt } from './attempt.ts';

/** Where the record of what was pushed stands: collecting compares with it. */
export function materialisedPath(attempt: Attempt): string {
  return `${attempt.directory}/materialised.json`;
}

export async function readMaterialised(files: Files, attempt: Attempt): Promise<Materialised | null> {
  const bytes = await files.read(materialisedPath(attempt));
  return bytes === null ? null : (JSON.parse(new TextDecoder().decode(bytes)) as Materialised);
}
