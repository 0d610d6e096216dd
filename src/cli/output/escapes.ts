/** Colours and text attributes, after their escape character: the one kind that can do no harm. */
const color = /^.\[[0-9;:]*m/s;
const unfinishedColor = /^.(?:\[[0-9;:]*)?$/s;
const longestColor = 64;
const escapeCharacter = '\x1b';

/**
 * Makes a job's output harmless for a terminal: control characters become visible, but for line ends, tabs, carriage
 * returns and colours [R4.38]. Keeps an escape that was cut between two pieces until the rest of it comes.
 */
export function createNeutraliser(): (text: string) => string {
  let kept = '';
  return (text) => {
    const whole = kept + text;
    const last = whole.lastIndexOf(escapeCharacter);
    const tail = last < 0 || whole.length - last > longestColor ? '' : whole.slice(last);
    kept = unfinishedColor.test(tail) ? tail : '';
    return neutralise(whole.slice(0, whole.length - kept.length));
  };
}

/** The same for a text that is whole. */
export function neutralise(text: string): string {
  let result = '';
  let start = 0;
  for (const { index, 0: found } of text.matchAll(/(?![\t\n\r])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu)) {
    if (found === escapeCharacter && color.test(text.slice(index, index + longestColor))) continue;
    result += text.slice(start, index) + visible(found);
    start = index + 1;
  }
  return result + text.slice(start);
}

/** `^[` for an escape, `\x9b` for the eight-bit ones, `\u202e` for what turns the direction of writing. */
function visible(control: string): string {
  const code = control.charCodeAt(0);
  if (code < 32) return `^${String.fromCharCode(code + 64)}`;
  if (code > 255) return `\\u${code.toString(16)}`;
  return code === 127 ? '^?' : `\\x${code.toString(16)}`;
}
