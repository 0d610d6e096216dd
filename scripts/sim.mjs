// Runs the simulator: many seeds, or one of them again with its trace; or deliberate faults, each of which it must find.
//
//   npm run sim -- --seeds 1000        npm run sim -- --minutes 10        npm run sim -- --seed 42
//   npm run sim -- --served --seeds 100                  npm run sim -- --served --shrink 42
//   npm run sim -- --mutations         npm run sim -- --mutations "no backoff"
//
// package.json gives it more room for what is soon forgotten: nearly all that a seed makes. That saves it a tenth.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { mutations } from './mutations.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [first, ...more] = process.argv.slice(2);

process.exitCode = first === '--mutations' ? await findMutations(more) : await simulate(process.argv.slice(2));

async function simulate(words, { mutation = null, print = (line) => console.log(line) } = {}) {
  const { runSimulator } = await loadSimulator(mutation);
  return runSimulator(words, {
    // Node runs this once no promise is left that could settle, which is just what the simulator waits for.
    drain: () => new Promise((resolve) => process.nextTick(resolve)),
    print,
    elapsedMs: () => performance.now(),
    commit: commit(),
  });
}

/** The commit that is checked out, with a mark when files differ from it. */
function commit() {
  const git = (...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout?.trim() ?? '';
  const name = git('rev-parse', '--short', 'HEAD');
  if (name === '') return 'no commit';
  return git('status', '--porcelain', '--untracked-files=no', 'src') === '' ? name : `${name}, changed`;
}

/** Returns the exit code: 0 only when each was found. `--within N` says in how many seeds; `--list` only names them all. */
async function findMutations(words) {
  if (words.includes('--list')) return listMutations();
  const at = words.indexOf('--within');
  const within = at < 0 ? 100 : Number(words[at + 1]);
  const names = words.filter((_, position) => at < 0 || (position !== at && position !== at + 1));
  const wanted = names.length === 0 ? mutations : mutations.filter(({ name }) => names.includes(name));
  if (wanted.length === 0) throw new Error(`no mutation is called ${names.join(', ')}`);
  let found = 0;
  for (const mutation of wanted) {
    const report = await findMutation(mutation, within);
    if (report === null) console.log(`NOT FOUND in ${within} seeds: ${mutation.name}`);
    else console.log(`found at seed ${String(report.seed).padStart(3)}: ${mutation.name}  (${report.said})`);
    if (report !== null) found += 1;
  }
  console.log(`${found} of ${wanted.length} deliberate faults found`);
  return found === wanted.length ? 0 : 1;
}

/** Names each once it is sure that it can be planted. */
function listMutations() {
  for (const { name, also, ...edit } of mutations) {
    for (const one of [edit, also]) if (one !== undefined) plant(name, one, readFileSync(join(root, one.file), 'utf8'));
    console.log(name);
  }
  return 0;
}

/** A seed counts only if it passes without the fault. */
async function findMutation(mutation, within) {
  const said = [];
  const drain = () => new Promise((resolve) => process.nextTick(resolve));
  const io = { drain, print: (line) => said.push(line), elapsedMs: () => performance.now(), commit: 'none' };
  const [mutated, sound] = [await loadSimulator(mutation), await loadSimulator(null)];
  for (let seed = 1; seed <= within; seed += 1) {
    said.length = 0;
    const kind = [...(mutation.services ? ['--services'] : []), ...(mutation.served ? ['--served'] : [])];
    const words = ['--seeds', '1', '--from', String(seed), ...kind];
    if ((await mutated.runSimulator(words, io)) === 0) continue;
    const [first = ''] = said;
    if ((await sound.runSimulator(words, io)) === 0) return { seed, said: shorten(first) };
  }
  return null;
}

/** What a violation says, in one line of a terminal. */
function shorten(line) {
  const text = line.replace(/^seed \d+: /, '').split('\n', 1)[0];
  return text.length > 90 ? `${text.slice(0, 89)}…` : text;
}

/** Node 20 reads no TypeScript, so it is bundled first; a mutation is laid over the file that it names. */
async function loadSimulator(mutation) {
  const scratch = mkdtempSync(join(tmpdir(), 'runyard-sim-'));
  try {
    const outfile = join(scratch, 'sim.mjs');
    const entryPoints = [join(root, 'src/sim/main.ts')];
    const plugins = mutation === null ? [] : [mutating(mutation)];
    await build({ entryPoints, outfile, bundle: true, format: 'esm', platform: 'node', logLevel: 'error', plugins });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function mutating({ name, also, ...edit }) {
  const edits = [edit, ...(also === undefined ? [] : [also])];
  return {
    name: 'mutation',
    setup(context) {
      context.onLoad({ filter: /\.ts$/ }, (args) => {
        const changes = edits.filter(({ file }) => join(root, file) === args.path);
        if (changes.length === 0) return null;
        const sound = readFileSync(args.path, 'utf8');
        return { contents: changes.reduce((text, change) => plant(name, change, text), sound), loader: 'ts' };
      });
    },
  };
}

function plant(name, { file, find, replace }, text) {
  if (text.split(find).length !== 2) throw new Error(`mutation "${name}": its text stands not once in ${file}`);
  return text.replace(find, () => replace);
}
