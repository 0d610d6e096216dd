import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createTemporaryHost } from './node-host.testsuite.ts';
import { type Noted, noted } from './noted.testsuite.ts';
import { openSqliteLog } from './sqlite.ts';

/** What one process did in its time. */
export interface WriterReport {
  readonly name: string;
  readonly commits: number;
  readonly worstWaitMs: number;
}

/** A process of its own: says it is ready, waits for a line, then appends without pause for a time (on a busy machine, longer) and reports. */
async function main([path = '', name = '', forMs = '', untilSeq = '', tells]: readonly string[]): Promise<void> {
  const { host, remove } = createTemporaryHost();
  const log = await openSqliteLog<Noted>({ path, host, pid: process.pid });
  console.log('ready');
  for await (const line of createInterface({ input: process.stdin })) if (line === 'go') break;
  let [commits, worstWaitMs, afterSeq] = [0, 0, 0];
  const startedMs = host.clock.bootMs();
  for (let nowMs = startedMs; nowMs - startedMs < Number(forMs) || afterSeq < Number(untilSeq); ) {
    const { tail, appended } = await log.append({ afterSeq }, () => ({ facts: [noted(name, commits)] }));
    afterSeq = appended?.seq ?? afterSeq + tail.length;
    commits += 1;
    // Written before the next one begins: what was told of a commit was told after it was acknowledged.
    if (tells === 'tells') writeSync(1, `acknowledged ${commits}\n`);
    const doneMs = host.clock.bootMs();
    worstWaitMs = Math.max(worstWaitMs, doneMs - nowMs);
    nowMs = doneMs;
  }
  await log.close();
  remove();
  console.log(JSON.stringify({ name, commits, worstWaitMs } satisfies WriterReport));
  process.exit(0);
}

await main(process.argv.slice(2));
