// Figures and how they are printed.

/** Milliseconds that an action takes. */
export async function timeMs(action) {
  const startedMs = performance.now();
  await action();
  return performance.now() - startedMs;
}

/** Runs each action in turn, round after round, so that a noisy moment meets all of them; returns lists by name. */
export async function interleave(rounds, actions) {
  const figures = Object.fromEntries(Object.keys(actions).map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, action] of Object.entries(actions)) figures[name].push(await action(round));
  }
  return figures;
}

export function median(figures) {
  return quantile(figures, 0.5);
}

export function quantile(figures, share) {
  const sorted = [...figures].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** One line: what, its figure with the spread, and what it is in proportion to ours. */
export function print(name, figures, { unit, digits = 1, ratioTo = null, note = '' }) {
  const middle = median(figures);
  const spread =
    figures.length > 1 ? ` (${Math.min(...figures).toFixed(digits)}–${Math.max(...figures).toFixed(digits)})` : '';
  const ratio = ratioTo === null ? '' : `   ours is ${(median(ratioTo) / middle).toFixed(2)} × that`;
  console.log(
    `  ${name.padEnd(46)} ${middle.toFixed(digits)} ${unit}${spread}${ratio}${note === '' ? '' : `   ${note}`}`,
  );
}

export function printSkipped(name, why) {
  console.log(`  ${name.padEnd(46)} skipped: ${why}`);
}
