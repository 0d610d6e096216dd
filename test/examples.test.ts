import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseSimulationFile } from '../src/simulate/file/simulation-file.ts';
import { parseJobFile, parseProfileFile, parseServiceFile } from '../src/wire/parse-file.ts';

/** Whatever we show people to write is read by the very code that reads what they write. */

const root = fileURLToPath(new URL('..', import.meta.url));

describe('the examples', () => {
  const examples = readdirSync(join(root, 'examples'));
  const files = ['job.toml', 'service.toml']
    .flatMap((name) => examples.map((example) => join('examples', example, name)))
    .filter((file) => existsSync(join(root, file)));

  it('are all a job or a service, but for those to simulate', () => {
    expect(new Set([...files.map((file) => file.split('/')[1]), 'simulate'])).toEqual(new Set(examples));
  });

  it.each(inFolder('examples/simulate', /\.toml$/))('%s can be simulated', async (file) => {
    const read = (name: string) => Promise.resolve(readFileSync(join(root, 'examples/simulate', name), 'utf8'));
    const { nodes, work, trace } = await parseSimulationFile(readFileSync(join(root, file), 'utf8'), file, read);
    expect(nodes.length + work.length + trace.length).toBeGreaterThan(0);
  });

  it.each(files)('%s is what its name says, and named as its folder is', async (file) => {
    const text = readFileSync(join(root, file), 'utf8');
    const { spec } = await (file.endsWith('job.toml') ? parseJobFile(text, file) : parseServiceFile(text, file));
    expect(spec.name).toBe(file.split('/')[1]);
  });
});

describe('the documentation', () => {
  const pages = ['README.md', ...inFolder('docs', /\.md$/)];
  const files = pages.flatMap((page) => blocksOf(page).map((text, index) => ({ name: `${page} #${index + 1}`, text })));

  it.each(files)(
    '$name is a job or service file, a part of one, a profile, or a simulation',
    async ({ name, text }) => {
      if (/^\[profile\]\nname = /.test(text)) await parseProfileFile(text, name);
      else if (/^\[\[|^workload/m.test(text)) await parseSimulationFile(text, name, () => Promise.resolve(''));
      else if (/^\[service\]/m.test(text)) await parseServiceFile(completeTable(text, 'service'), name);
      else await parseJobFile(complete(text), name);
    },
  );
});

/** TOML shown on a page. */
function blocksOf(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/```toml\n([\s\S]*?)```/g)].flatMap(([, block]) => block ?? []);
}

/** A guide often shows only the part that it speaks of. */
function complete(text: string): string {
  return /^\[job\]/m.test(text) ? completeTable(text, 'job') : `[job]\nname = "shown"\nrun = "true"\n\n${text}`;
}

function completeTable(text: string, table: 'job' | 'service'): string {
  const missing = ['name = "shown"', 'run = "true"'].filter((line) => !text.includes(`\n${line.split(' ')[0]} = `));
  return text.replace(new RegExp(`^\\[${table}\\].*$`, 'm'), (head) => [head, ...missing].join('\n'));
}

function inFolder(folder: string, pattern: RegExp): string[] {
  return readdirSync(join(root, folder), { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((name) => pattern.test(name));
}
