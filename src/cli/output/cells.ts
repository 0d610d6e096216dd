const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;
const none = /[\p{Mn}\p{Me}\p{Cf}]/u;

/** How many cells of a terminal a text takes: two for each wide character, such as those of Chinese. */
export function cellsOf(text: string): number {
  let cells = 0;
  for (const character of text) cells += cellsOfCharacter(character);
  return cells;
}

/** The text where it fits into so many cells; otherwise as much of it as fits before `…`. */
export function cutToCells(text: string, room: number): string {
  if (cellsOf(text) <= room) return text;
  let kept = '';
  let left = room - 1;
  for (const character of text) {
    left -= cellsOfCharacter(character);
    if (left < 0) break;
    kept += character;
  }
  return room <= 0 ? '' : `${kept}…`;
}

function cellsOfCharacter(character: string): number {
  if (character < '\u0300') return 1;
  if (none.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}
