import type { AST } from 'toml-eslint-parser';
import type { KeyPath } from './document-error.ts';
import { deepestNesting } from './document-guard.ts';

/** A place in a text: lines from 1, columns from 0. */
export interface Place {
  readonly line: number;
  readonly column: number;
  readonly length: number;
}

/**
 * Finds a key in TOML text that parses; where the key itself is absent, the nearest table that would hold it.
 * The parser that knows positions is loaded only here, when there is an error to show.
 */
export async function locateInToml(toml: string, path: KeyPath): Promise<Place | null> {
  if (path.length === 0) return null;
  const { parseTOML } = await import('toml-eslint-parser');
  let best: { readonly depth: number; readonly place: Place } | null = null;
  for (const { keys, place } of keyedPlaces(parseTOML(toml).body[0].body, [])) {
    const depth = sharedDepth(keys, path);
    if (depth === keys.length && depth > (best?.depth ?? 0)) best = { depth, place };
  }
  return best?.place ?? null;
}

/** `job.toml:4  gpus = 1` and carets under the key, cut to fit a narrow terminal. */
export function writeExcerpt(text: string, fileName: string, place: Place): string {
  const source = text.split(/\r?\n/)[place.line - 1] ?? '';
  const label = `${fileName}:${place.line}  `;
  const indent = source.length - source.trimStart().length;
  const room = Math.max(20, 76 - label.length);
  const start = place.column - indent + place.length <= room ? indent : place.column;
  const shown = printable(source.slice(start, start + room)).trimEnd();
  const length = Math.max(1, Math.min(place.length, room - (place.column - start)));
  return `${label}${shown}\n${' '.repeat(label.length + place.column - start)}${'^'.repeat(length)}`;
}

interface KeyedPlace {
  readonly keys: KeyPath;
  readonly place: Place;
}

function* keyedPlaces(nodes: readonly (AST.TOMLTable | AST.TOMLKeyValue)[], prefix: KeyPath): Generator<KeyedPlace> {
  for (const node of nodes) {
    const names = node.type === 'TOMLTable' ? node.resolvedKey : node.key.keys.map(keyName);
    const keys = [...prefix, ...names];
    yield* keyPlaces(prefix, node.key.keys);
    const last = node.key.keys.at(-1);
    // The head of a table within one of several, `[jobs.profile]` below `[[jobs]]`, leaves out which one it is in.
    if (node.type === 'TOMLTable' && last !== undefined) yield { keys, place: placeOf(last) };
    if (node.type === 'TOMLTable') yield* keyedPlaces(node.body, keys);
    else yield* valuePlaces(node.value, keys);
  }
}

/** Each part of a dotted key is a place of its own; those beyond what a document may nest are nobody's. */
function* keyPlaces(prefix: KeyPath, parts: readonly (AST.TOMLBare | AST.TOMLQuoted)[]): Generator<KeyedPlace> {
  for (const [index, part] of parts.slice(0, deepestNesting).entries()) {
    yield { keys: [...prefix, ...parts.slice(0, index + 1).map(keyName)], place: placeOf(part) };
  }
}

function* valuePlaces(value: AST.TOMLContentNode, keys: KeyPath): Generator<KeyedPlace> {
  if (value.type === 'TOMLInlineTable') yield* keyedPlaces(value.body, keys);
  if (value.type !== 'TOMLArray') return;
  for (const [index, item] of value.elements.entries()) {
    yield { keys: [...keys, index], place: placeOf(item) };
    yield* valuePlaces(item, [...keys, index]);
  }
}

function keyName(key: AST.TOMLBare | AST.TOMLQuoted): string {
  return key.type === 'TOMLBare' ? key.name : key.value;
}

function placeOf(node: AST.TOMLNode): Place {
  const { start, end } = node.loc;
  return { line: start.line, column: start.column, length: end.line === start.line ? end.column - start.column : 1 };
}

function sharedDepth(keys: KeyPath, path: KeyPath): number {
  let depth = 0;
  while (depth < keys.length && depth < path.length && String(keys[depth]) === String(path[depth])) depth += 1;
  return depth;
}

/** A control character of the file must not reach the terminal; it becomes a space, and the carets still fit. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ');
}
