import { mkdirSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { add } from './contract-store.testsuite.ts';
import type { FactLog } from './fact-log.ts';
import { type Formats, plainFormats, raiseFormat } from './formats.ts';
import { UnknownFactError } from './log-error.ts';
import { createTemporaryHost } from './node-host.testsuite.ts';
import { type Noted, noted } from './noted.testsuite.ts';
import { openSqliteLog } from './sqlite.ts';

const real = createTemporaryHost();
afterAll(real.remove);

const older = plainFormats<Noted>();

/** Format 2 writes `by` and `count` as one word; format 1 is read as ever. */
const newer: Formats<Noted> = {
  current: [1, 2],
  encode: (fact, format) => (format === 1 ? fact : { kind: fact.kind, word: `${fact.by}:${fact.count}` }),
  decode: (json, format) => {
    if (format === 1) return json as Noted;
    const { kind, word } = json as { kind: string; word: string };
    if (kind !== 'Noted') throw new UnknownFactError(kind, format);
    const [by = '', count = ''] = word.split(':');
    return { kind, by, count: Number(count) };
  },
};

let made = 0;
function newPath(): string {
  made += 1;
  mkdirSync(`${real.directory}/${made}`);
  return `${real.directory}/${made}/log.db`;
}

function open(path: string, formats: Formats<Noted>, pid = process.pid): Promise<FactLog<Noted>> {
  return openSqliteLog<Noted>({ path, host: real.host, pid, formats });
}

async function readFacts(log: FactLog<Noted>): Promise<readonly Noted[]> {
  return (await log.readAfter(0)).flatMap((batch) => batch.facts);
}

describe('the format of a log', () => {
  it('stays at what the oldest live process reads, so that a newer one beside it blinds neither', async () => {
    const path = newPath();
    const agent = await open(path, older);
    const cli = await open(path, newer);
    expect(await add(cli, [noted('cli', 1)])).toMatchObject({ format: 1 });
    expect(await add(agent, [noted('agent', 2)])).toMatchObject({ format: 1 });
    const facts = [noted('cli', 1), noted('agent', 2)];
    expect(await readFacts(agent)).toEqual(facts);
    expect(await readFacts(cli)).toEqual(facts);
    await agent.close();
    await cli.close();
  });

  it('rises once every live process reads the next, and facts of both formats are read', async () => {
    const path = newPath();
    const agent = await open(path, older);
    await add(agent, [noted('agent', 1)]);
    const cli = await open(path, newer);
    await agent.close();
    const raised = await add(cli, [noted('cli', 2)]);
    expect(raised).toMatchObject({ format: 2, facts: [noted('cli', 2)] });
    expect(await readFacts(cli)).toEqual([noted('agent', 1), noted('cli', 2)]);
    await cli.close();
  });

  it('is not held back by a process that died', async () => {
    const path = newPath();
    const identity = await real.host.processes.identify(process.pid);
    if (identity === null) throw new Error('expected to find this process');
    const dead = { ...identity, startTicks: identity.startTicks - 1 };
    const processes = { ...real.host.processes, identify: async () => dead };
    const cli = await open(path, newer);
    const crashed = await openSqliteLog<Noted>({
      ...{ path, pid: process.pid, formats: older },
      host: { ...real.host, processes },
    });
    expect(await add(cli, [noted('cli', 1)])).toMatchObject({ format: 2 });
    await crashed.close();
    await cli.close();
  });

  it('is refused by a process that cannot read it, with both numbers, and nothing is written', async () => {
    const path = newPath();
    const cli = await open(path, newer);
    await add(cli, [noted('cli', 1)]);
    await expect(open(path, older)).rejects.toThrow(
      'the log is in format 2, and this version reads format 1 only; nothing was written. Use a version at least as new',
    );
    expect(await readFacts(cli)).toEqual([noted('cli', 1)]);
    await cli.close();
  });

  it('makes a process that meets an unknown fact read-only: it skips nothing and writes nothing', async () => {
    const path = newPath();
    const [writer, reader] = [await open(path, newer), await open(path, newer)];
    await add(writer, [noted('a', 1)]);
    await writer.append({ afterSeq: 1 }, () => ({ facts: [noted('a', 2)] }));
    const future = await open(path, { ...newer, decode: (json) => json as Noted });
    await future.append({ afterSeq: 2 }, () => ({ facts: [{ ...noted('b', 3), kind: 'Future' }] }));
    await expect(reader.readAfter(0)).rejects.toThrow(
      'a fact of kind "Future" (format 2) that this version does not know',
    );
    await expect(reader.append({ afterSeq: 3 }, () => null)).rejects.toBeInstanceOf(UnknownFactError);
    await expect(reader.recordBlobs(['b1'])).rejects.toBeInstanceOf(UnknownFactError);
    for (const log of [writer, reader, future]) await log.close();
  });

  it('knows only the kinds that it was given', () => {
    const formats = plainFormats<Noted>(['Noted']);
    expect(formats.decode(noted('a', 1), 1)).toEqual(noted('a', 1));
    expect(() => formats.decode({ kind: 'Future' }, 1)).toThrow(UnknownFactError);
  });

  it('rises in single steps that everybody supports', () => {
    expect(
      raiseFormat(1, [
        [1, 2, 3],
        [1, 2],
      ]),
    ).toBe(2);
    expect(raiseFormat(1, [[1, 3]])).toBe(1);
    expect(raiseFormat(1, [])).toBe(1);
  });
});
