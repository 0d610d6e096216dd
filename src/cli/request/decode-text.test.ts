import { expect, it } from 'vitest';
import { decodeText } from './decode-text.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');

it('reads UTF-8, with and without a byte order mark', () => {
  expect(decodeText(Buffer.from('\ufeffrun = "é"'), 'job.toml')).toBe('run = "é"');
  expect(decodeText(new Uint8Array(), 'job.toml')).toBe('');
});

it.each([
  ['a byte of Latin-1', '[job]\nname = "a"\nrun = "echo \xe9"\nb = 1\n', 3],
  ['a sequence that is cut off by the end', 'a\n\xc3', 2],
  ['a sequence that is cut off by a line end', '\xc3\nb', 1],
  ['half of a surrogate pair', 'a\n\xed\xa0\x80', 2],
])('refuses %s with its line, and puts nothing else in its place [R4.20]', (_what, text, line) => {
  expect(() => decodeText(bytes(text), 'job.toml')).toThrow(`job.toml is not UTF-8 text: line ${line} has other bytes`);
});
