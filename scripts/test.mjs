// What `npm test` runs: the build, the packages that some tests need, every test in one go, then whether each requirement
// that works is named by a test that passed. The last line says how many passed and failed; the exit code is 0 only when
// none failed.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const scratch = mkdtempSync(join(tmpdir(), 'runyard-test-'));
try {
  process.exitCode = testAll(join(scratch, 'results.json'), process.argv.slice(2));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** Returns the exit code. With file names or other arguments for vitest only those tests run, and nothing else. */
function testAll(resultsFile, vitestArguments) {
  if (!runs('scripts/build.mjs')) return finish({ passed: 0, failed: 1, skipped: 0 });
  if (vitestArguments.length === 0) runs('scripts/test-packages.mjs');
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--reporter=default', '--reporter=json'];
  const succeeded = runs(...vitest, `--outputFile.json=${resultsFile}`, ...vitestArguments);
  const counts = count(resultsFile);
  // A file that cannot even be loaded, or an error outside any test, fails the run without failing a test.
  if (!succeeded && counts.failed === 0) counts.failed = 1;
  if (vitestArguments.length === 0 && !runs('scripts/check-requirements.mjs', resultsFile)) counts.failed += 1;
  return finish(counts);
}

/** True when the program, started with this very Node, ended well. */
function runs(...programArguments) {
  const ended = spawnSync(process.execPath, programArguments, { cwd: root, stdio: 'inherit' });
  if (ended.error !== undefined) throw ended.error;
  return ended.status === 0;
}

function count(resultsFile) {
  let results;
  try {
    results = JSON.parse(readFileSync(resultsFile, 'utf8'));
  } catch (cause) {
    console.error(`error: the test run left no results (${cause.message}); what it printed above says why`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
  return {
    passed: results.numPassedTests,
    failed: results.numFailedTests,
    skipped: results.numPendingTests + results.numTodoTests,
  };
}

function finish({ passed, failed, skipped }) {
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  return failed === 0 ? 0 : 1;
}
