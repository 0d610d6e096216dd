import { compareByBytes } from '../host/byte-order.ts';
import { BlobFault } from './blob-fault.ts';
import { isBlobHash } from './hex.ts';
import { leavesTree } from './link-target.ts';
import type { Manifest, ManifestEntry } from './manifest.ts';
import { parentOf, whyNotTreePath } from './tree-path.ts';

/** The one text form of a manifest: the same tree gives the same bytes, whoever built the objects. */
export function encodeManifest(manifest: Manifest): Uint8Array {
  const entries = manifest.entries.map(ordered);
  return new TextEncoder().encode(JSON.stringify({ version: manifest.version, entries }));
}

function ordered(entry: ManifestEntry): ManifestEntry {
  switch (entry.kind) {
    case 'file': {
      const { kind, path, mode, sizeBytes, hash } = entry;
      return { kind, path, mode, sizeBytes, hash };
    }
    case 'directory':
      return { kind: entry.kind, path: entry.path, mode: entry.mode };
    case 'link':
      return { kind: entry.kind, path: entry.path, target: entry.target };
  }
}

/** Reads and checks a manifest. Throws BlobFault `BAD_MANIFEST`. */
export function decodeManifest(bytes: Uint8Array): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new BlobFault('BAD_MANIFEST', `a manifest of ${bytes.length} bytes is not JSON`, null, error);
  }
  if (!isRecord(value) || value.version !== 1 || !Array.isArray(value.entries)) {
    throw new BlobFault(
      'BAD_MANIFEST',
      'a manifest has a "version" of 1 and a list of "entries"; this one has not',
      null,
    );
  }
  const entries = value.entries.map((entry: unknown, i) => toEntry(entry, i));
  const manifest: Manifest = { version: 1, entries };
  checkManifest(manifest);
  return manifest;
}

/** An allowlist of three kinds, read field by field: nothing else of what came in survives. */
function toEntry(entry: unknown, i: number): ManifestEntry {
  if (isRecord(entry) && typeof entry.path === 'string') {
    const { kind, path, mode, sizeBytes, hash, target } = entry;
    if (kind === 'directory' && isMode(mode)) return { kind, path, mode };
    if (kind === 'link' && typeof target === 'string') return { kind, path, target };
    const isSize = typeof sizeBytes === 'number' && Number.isSafeInteger(sizeBytes) && sizeBytes >= 0;
    if (kind === 'file' && isMode(mode) && isSize && typeof hash === 'string' && isBlobHash(hash)) {
      return { kind, path, mode, sizeBytes, hash };
    }
  }
  const found = JSON.stringify(entry)?.slice(0, 120);
  throw new BlobFault('BAD_MANIFEST', `manifest entry ${i} is no file, directory or link: ${found}`, null);
}

function isMode(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 0o777;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * What must hold before a tree is written anywhere: every path inside, in order, no name twice, every parent a
 * directory of this manifest (so never a link), no link that leaves. Throws BlobFault `BAD_MANIFEST`.
 */
export function checkManifest(manifest: Manifest): void {
  const directories = new Set(['']);
  const links = new Map(
    manifest.entries.flatMap((entry) => (entry.kind === 'link' ? [[entry.path, entry.target]] : [])),
  );
  const linkAt = (path: string): string | null => links.get(path) ?? null;
  let last: string | null = null;
  for (const entry of manifest.entries) {
    const { path } = entry;
    const why =
      whyNotTreePath(path) ??
      (last !== null && compareByBytes(last, path) >= 0 ? `stands after ${JSON.stringify(last)}` : null) ??
      (directories.has(parentOf(path)) ? null : 'lies in no directory of this manifest') ??
      (entry.kind === 'link' && (entry.target === '' || leavesTree(entry, linkAt))
        ? 'is a link that leaves the tree'
        : null) ??
      (entry.kind === 'link' && entry.target.includes('\0') ? 'is a link with a NUL byte' : null);
    if (why !== null) throw new BlobFault('BAD_MANIFEST', `manifest path ${JSON.stringify(path)} ${why}`, null);
    if (entry.kind === 'directory') directories.add(path);
    last = path;
  }
}
