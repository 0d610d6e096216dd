/**
 * Compares two strings by the bytes of their UTF-8 form, which is the order of manifests and listings on every machine.
 * UTF-16 order, JavaScript's own, differs where surrogate pairs meet U+E000 to U+FFFF.
 */
export function compareByBytes(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let i = 0; i < length; i++) {
    const a = left.charCodeAt(i);
    const b = right.charCodeAt(i);
    if (a !== b) return rank(a) - rank(b);
  }
  return left.length - right.length;
}

/** Lifts surrogates above the rest of the plane, as their four-byte UTF-8 forms stand. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
