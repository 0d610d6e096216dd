import { toHex } from '../host/hex.ts';
import type { BlobHash } from './blob-store.ts';

/**
 * A pack holds many small blobs in one file, so that storing thousands costs one flush. Its layout, integers big-endian:
 *
 *     16 bytes   "runyard pack 1\n\0"
 *     records    32 bytes SHA-256, 4 bytes length, content
 *     36 bytes   of 255, which no record can be: the records end here
 *     index      per blob, sorted by hash: 32 bytes SHA-256, 4 bytes offset of the content, 4 bytes length
 *     trailer    4 bytes offset of the index, 4 bytes count, 32 bytes SHA-256 of the index
 *
 * The index repeats what the records say: when it is damaged it is built again from them.
 */
export interface PackIndex {
  /** The index part, as in the file. */
  readonly entries: Uint8Array;
  readonly count: number;
}

export interface PackSlot {
  readonly hash: BlobHash;
  readonly offset: number;
  readonly length: number;
}

export const trailerBytes = 40;
export const entryBytes = 40;
const hashBytes = 32;
const recordHeaderBytes = 36;
const magic = new TextEncoder().encode('runyard pack 1\n\0');

/** The whole file for these blobs, whose hashes are given as raw bytes and differ from each other. */
export function encodePack(
  blobs: readonly { readonly key: Uint8Array; readonly bytes: Uint8Array }[],
  digest: (bytes: Uint8Array) => Uint8Array,
): Uint8Array {
  const contentBytes = blobs.reduce((sum, { bytes }) => sum + recordHeaderBytes + bytes.length, 0);
  const indexAt = magic.length + contentBytes + recordHeaderBytes;
  const file = new Uint8Array(indexAt + blobs.length * entryBytes + trailerBytes);
  const view = new DataView(file.buffer);
  file.set(magic);
  let at = magic.length;
  const slots = blobs.map(({ key, bytes }) => {
    file.set(key, at);
    view.setUint32(at + hashBytes, bytes.length);
    file.set(bytes, at + recordHeaderBytes);
    const slot = { key, offset: at + recordHeaderBytes, length: bytes.length };
    at = slot.offset + bytes.length;
    return slot;
  });
  file.fill(0xff, at, indexAt);
  const index = encodeIndex(slots);
  file.set(index, indexAt);
  const trailerAt = indexAt + index.length;
  view.setUint32(trailerAt, indexAt);
  view.setUint32(trailerAt + 4, blobs.length);
  file.set(digest(index), trailerAt + 8);
  return file;
}

/** True for bytes that begin as a pack does. */
export function isPack(file: Uint8Array): boolean {
  return magic.every((byte, i) => file[i] === byte);
}

/** Where the index lies according to the trailer; null when the trailer makes no sense for a file of this size. */
export function readTrailer(
  trailer: Uint8Array,
  fileBytes: number,
): { indexAt: number; indexBytes: number; digest: Uint8Array } | null {
  if (trailer.length !== trailerBytes) return null;
  const view = new DataView(trailer.buffer, trailer.byteOffset, trailer.length);
  const indexAt = view.getUint32(0);
  const indexBytes = view.getUint32(4) * entryBytes;
  if (indexAt < magic.length || indexAt + indexBytes + trailerBytes !== fileBytes) return null;
  return { indexAt, indexBytes, digest: trailer.subarray(8) };
}

/** Builds the index from the records; keeps what lies before the first record that makes no sense. */
export function rebuildIndex(file: Uint8Array): PackIndex {
  const view = new DataView(file.buffer, file.byteOffset, file.length);
  const slots: { key: Uint8Array; offset: number; length: number }[] = [];
  for (let at = magic.length; at + recordHeaderBytes <= file.length; ) {
    const length = view.getUint32(at + hashBytes);
    const offset = at + recordHeaderBytes;
    if (offset + length > file.length) break;
    slots.push({ key: file.slice(at, at + hashBytes), offset, length });
    at = offset + length;
  }
  return { entries: encodeIndex(slots), count: slots.length };
}

/** Looks a blob up by its raw hash. */
export function findInIndex(index: PackIndex, key: Uint8Array): { offset: number; length: number } | null {
  let low = 0;
  let high = index.count - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const order = compareAt(index.entries, middle * entryBytes, key);
    if (order === 0) return positionAt(index, middle);
    if (order < 0) low = middle + 1;
    else high = middle - 1;
  }
  return null;
}

export function listIndex(index: PackIndex): readonly PackSlot[] {
  return Array.from({ length: index.count }, (_, i) => {
    const hash = toHex(index.entries.subarray(i * entryBytes, i * entryBytes + hashBytes));
    return { hash, ...positionAt(index, i) };
  });
}

function positionAt(index: PackIndex, i: number): { offset: number; length: number } {
  const view = new DataView(index.entries.buffer, index.entries.byteOffset + i * entryBytes, entryBytes);
  return { offset: view.getUint32(hashBytes), length: view.getUint32(hashBytes + 4) };
}

function encodeIndex(slots: readonly { key: Uint8Array; offset: number; length: number }[]): Uint8Array {
  const sorted = [...slots].sort((left, right) => compareAt(left.key, 0, right.key));
  const entries = new Uint8Array(sorted.length * entryBytes);
  const view = new DataView(entries.buffer);
  sorted.forEach(({ key, offset, length }, i) => {
    entries.set(key, i * entryBytes);
    view.setUint32(i * entryBytes + hashBytes, offset);
    view.setUint32(i * entryBytes + hashBytes + 4, length);
  });
  return entries;
}

function compareAt(bytes: Uint8Array, at: number, key: Uint8Array): number {
  for (let i = 0; i < hashBytes; i++) {
    const order = (bytes[at + i] ?? 0) - (key[i] ?? 0);
    if (order !== 0) return order;
  }
  return 0;
}
