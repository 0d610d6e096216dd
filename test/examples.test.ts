import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseJobFile, parseProfileFile } from '../src/wire/parse-file.ts';

/** Whatever we show people to write is read by the very code that reads what they write. */

const root = fileURLToPath(new URL('..', import.meta.url));

describe('the examples', () => {
  const examples = readdirSync(join(root, 'examples')).map((name) => join('examples', name, 'job.toml'));

  it.each(examples)('%s is a job file', async (file) => {
    const { spec } = await parseJobFile(readFileSync(join(root, file), 'utf8'), file);
    expect(spec.name).toMatch(/^[a-z0-9-]+$/);
  });
});

describe('the documentation', () => {
  const pages = ['README.md', ...inFolder('docs', /\.md$/)];
  const files = pages.flatMap((page) => blocksOf(page).map((text, index) => ({ name: `${page} #${index + 1}`, text })));

  it.each(files)('$name is a job file, a part of one, or a profile', async ({ name, text }) => {
    if (/^\[profile\]\nname = /.test(text)) await parseProfileFile(text, name);
    else await parseJobFile(complete(text), name);
  });
});

/** TOML shown on a page. */
function blocksOf(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/```toml\n([\s\S]*?)```/g)].flatMap(([, block]) => block ?? []);
}

/** A guide often shows only the part that it speaks of. */
function complete(text: string): string {
  if (!/^\[job\]/m.test(text)) return `[job]\nname = "shown"\nrun = "true"\n\n${text}`;
  const missing = ['name = "shown"', 'run = "true"'].filter((line) => !text.includes(`\n${line.split(' ')[0]} = `));
  return text.replace(/^\[job\].*$/m, (head) => [head, ...missing].join('\n'));
}

function inFolder(folder: string, pattern: RegExp): string[] {
  return readdirSync(join(root, folder), { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((name) => pattern.test(name));
}
