/** The word that was most likely meant: the nearest one, at most two letters off, and half of a short word. */
export function nearestWord(typed: string, known: readonly string[]): string | undefined {
  const far = known.map((word) => ({ word, off: distance(word.toLowerCase(), typed.toLowerCase()) }));
  return far.filter(({ word, off }) => off <= 2 && off * 2 <= word.length).sort((a, b) => a.off - b.off)[0]?.word;
}

/** Levenshtein distance. */
function distance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const swap = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
