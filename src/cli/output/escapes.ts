/** Colours and text attributes: the one kind of escape that can do no harm. */
const colorEscape = /^\x1b\[[0-9;:]*m/;
const unfinished = /\x1b(?:\[[0-9;:]*)?$/;

/**
 * Makes a job's output harmless for a terminal: control characters become visible, but for line ends, tabs, carriage
 * returns and colours [R4.38]. Keeps an escape that was cut between two pieces until the rest of it comes.
 */
export function createNeutraliser(): (text: string) => string {
  let kept = '';
  return (text) => {
    const whole = kept + text;
    kept = unfinished.exec(whole)?.[0] ?? '';
    return neutralise(kept === '' ? whole : whole.slice(0, -kept.length));
  };
}

/** The same for a text that is whole. */
export function neutralise(text: string): string {
  let result = '';
  let start = 0;
  for (const { index, 0: found } of text.matchAll(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g)) {
    if (index < start) continue;
    const color = found === '\x1b' ? colorEscape.exec(text.slice(index, index + 64))?.[0] : undefined;
    if (color !== undefined) continue;
    result += text.slice(start, index) + visible(found);
    start = index + 1;
  }
  return result + text.slice(start);
}

/** `^[` for an escape, `\x9b` for the eight-bit ones. */
function visible(control: string): string {
  const code = control.charCodeAt(0);
  if (code < 32) return `^${String.fromCharCode(code + 64)}`;
  return code === 127 ? '^?' : `\\x${code.toString(16)}`;
}
