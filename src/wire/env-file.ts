import { documentError } from './document-error.ts';

/**
 * The variables of a `KEY=VALUE` file, in order. Empty lines and lines that start with `#` are skipped, `export ` is
 * allowed. A value in double quotes knows \n, \t, \" and \\ and may span lines; one in single quotes is taken as it
 * is. Throws a DocumentError with the line.
 */
export function parseEnvFile(text: string, fileName: string): readonly (readonly [string, string])[] {
  const entries: [string, string][] = [];
  const source = text.replace(/^\ufeff/, '').replace(/\r\n/g, '\n');
  const entry = /[ \t]*(?:export[ \t]+)?([^\s=#]+)=(?:"((?:[^"\\]|\\[\s\S])*)"|'([^']*)'|([^\n]*))[ \t]*(?:\n|$)/y;
  const blank = /[ \t]*(?:#[^\n]*)?(?:\n|$)/y;
  let position = 0;
  while (position < source.length) {
    blank.lastIndex = position;
    if (blank.test(source)) {
      position = blank.lastIndex;
      continue;
    }
    entry.lastIndex = position;
    const found = entry.exec(source);
    if (found?.[1] === undefined) throw badLine(source, position, fileName);
    entries.push([found[1], unquote(found[2], found[3], found[4])]);
    position = entry.lastIndex;
  }
  return entries;
}

function unquote(double: string | undefined, single: string | undefined, bare: string | undefined): string {
  if (double !== undefined) return double.replace(/\\([\s\S])/g, (_, escaped: string) => escapes[escaped] ?? escaped);
  return single ?? (bare ?? '').trim();
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

function badLine(source: string, position: number, fileName: string): Error {
  const line = source.slice(0, position).split('\n').length;
  return documentError('BAD_VALUE', `${fileName}:${line} is no KEY=VALUE`, [], 'write one variable a line, KEY=VALUE');
}
