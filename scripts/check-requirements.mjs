// Holds docs/requirements.md to the tests: every id that it marks as working is named in brackets by the title of a
// test, and every id that a title names is listed there. Exits 1 and lists them when one is not.
//
//   node scripts/check-requirements.mjs                titles as they stand in the sources
//   node scripts/check-requirements.mjs results.json   titles of the tests that passed, from vitest's JSON report

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const idForm = /^(?:[UGXSBIC]\d{1,2}|R4\.\d{1,2})$/;
const marks = new Set(['works', 'partly', 'planned']);

const required = readRequirements(readFileSync(join(root, 'docs/requirements.md'), 'utf8'));
const [resultsFile] = process.argv.slice(2);
const named = new Set((resultsFile === undefined ? titlesInSources() : titlesThatPassed(resultsFile)).flatMap(idsIn));

const due = [...required].filter(([, mark]) => mark !== 'planned').map(([id]) => id);
const unproved = due.filter((id) => !named.has(id));
const unknown = [...named].filter((id) => !required.has(id));
if (unproved.length > 0)
  console.error(`error: marked as working in docs/requirements.md, but no test names it: ${unproved.join(', ')}`);
if (unknown.length > 0)
  console.error(`error: named by a test, but not listed in docs/requirements.md: ${unknown.join(', ')}`);
if (unproved.length + unknown.length === 0)
  console.log(`requirements: ${due.length} of ${required.size} work, each named by a test`);
process.exitCode = unproved.length + unknown.length === 0 ? 0 : 1;

/** Rows `| id | what | mark |` of every table, as id → mark. */
function readRequirements(text) {
  const found = new Map();
  for (const line of text.split('\n')) {
    const cells = line.split('|').map((cell) => cell.trim());
    const [, id, , mark] = cells;
    if (cells.length !== 5 || id === undefined || !idForm.test(id)) continue;
    if (!marks.has(mark))
      throw new Error(
        `docs/requirements.md: ${id} is marked ${JSON.stringify(mark)}; expected one of ${[...marks].join(', ')}`,
      );
    if (found.has(id)) throw new Error(`docs/requirements.md: ${id} is listed twice`);
    found.set(id, mark);
  }
  if (found.size === 0)
    throw new Error('docs/requirements.md lists no ids; its tables have the columns id, what and today');
  return found;
}

function titlesThatPassed(file) {
  const { testResults } = JSON.parse(readFileSync(file, 'utf8'));
  return testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'passed').map(({ fullName }) => fullName),
  );
}

/** Every line of a test file that is no comment: a bracketed id stands nowhere else than in a title. */
function titlesInSources() {
  return ['src', 'test']
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((name) => join(root, folder, name)))
    .filter((path) => /\.(?:test|testsuite)\.ts$/.test(path))
    .flatMap((path) => readFileSync(path, 'utf8').split('\n'))
    .filter((line) => !/^\s*(?:\/\/|\*|\/\*)/.test(line));
}

/** `[S4]`, `[R4.12]`, and several in one pair of brackets: `[C9, B3]`. */
function idsIn(title) {
  return [...title.matchAll(/\[([^\][]+)\]/g)]
    .flatMap(([, inside]) => inside.split(/[,\s]+/))
    .filter((word) => idForm.test(word));
}
