/** A map that reports, for each change, how to take it back. Keys keep the order in which they first came. */
export interface UndoableMap<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
  delete(key: Key): void;
  values(): Iterable<Value>;
  entries(): Iterable<[Key, Value]>;
}

export function undoableMap<Key, Value>(
  record: (undo: () => void) => void,
  initial: readonly (readonly [Key, Value])[] = [],
): UndoableMap<Key, Value> {
  const map = new Map<Key, Value>(initial);
  const remember = (key: Key): void => {
    const before = map.get(key);
    const isNew = !map.has(key);
    record(() => {
      if (isNew || before === undefined) map.delete(key);
      else map.set(key, before);
    });
  };
  return {
    get: (key) => map.get(key),
    set: (key, value) => {
      remember(key);
      map.set(key, value);
    },
    delete: (key) => {
      if (!map.has(key)) return;
      remember(key);
      map.delete(key);
    },
    values: () => map.values(),
    entries: () => map.entries(),
  };
}
