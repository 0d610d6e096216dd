import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BlobStore } from '../../blobs/blob-store.ts';
import { openDirectoryStore } from '../../blobs/directory-store.ts';
import { createCachedStore } from './cached-store.ts';
import { createRemoteHost } from './remote.ts';

let place: string;
let local: BlobStore;
let server: BlobStore;
let asked: string[];
let cached: BlobStore;

beforeEach(async () => {
  place = mkdtempSync(join(tmpdir(), 'yard-cache-'));
  const host = createRemoteHost();
  local = await openDirectoryStore({ directory: join(place, 'local'), host });
  server = await openDirectoryStore({ directory: join(place, 'server'), host });
  asked = [];
  cached = createCachedStore(local, {
    ...server,
    get: (hash) => note('get', server.get(hash)),
    getMany: (hashes) => note(`getMany ${hashes.length}`, server.getMany(hashes)),
    extract: (...args) => note('extract', server.extract(...args)),
  });
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

function note<Answer>(question: string, answer: Answer): Answer {
  asked.push(question);
  return answer;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('a store of a server with local copies', () => {
  it('fetches each content once, however it is asked for', async () => {
    const one = await server.put(bytes('one'));
    const two = await server.put(bytes('two'));
    expect(await cached.get(one)).toEqual(bytes('one'));
    expect(await cached.get(one)).toEqual(bytes('one'));
    expect([...(await cached.getMany([one, two])).keys()].sort()).toEqual([one, two].sort());
    expect((await cached.getMany([one, two])).size).toBe(2);
    expect(asked).toEqual(['get', 'getMany 1']);
  });

  it('extracts large ones from its copy the second time', async () => {
    writeFileSync(join(place, 'large'), 'x'.repeat(100_000));
    const { hash } = await server.putFile(join(place, 'large'));
    expect(await cached.extract(hash, join(place, 'first'), { mode: 0o600 })).toBe(true);
    expect(await cached.extract(hash, join(place, 'second'), { mode: 0o600 })).toBe(true);
    expect(asked).toEqual(['extract']);
  });

  it('stores at the server alone, and asks the server what is missing', async () => {
    const hash = await cached.put(bytes('mine'));
    expect(await server.get(hash)).toEqual(bytes('mine'));
    expect(await local.get(hash)).toBeNull();
    expect(await cached.missing([hash])).toEqual([]);
  });

  it('says what neither has', async () => {
    const hash = await local.put(bytes('elsewhere'));
    await local.collectGarbage({ keep: new Set(), graceMs: -1 });
    expect(await cached.get(hash)).toBeNull();
    expect(await cached.extract(hash, join(place, 'none'), { mode: 0o600 })).toBe(false);
  });
});
