import { describe, expect, it } from 'vitest';
import { DocumentError } from '../../wire/document-error.ts';
import { oneNode, planOf } from '../plan.testsuite.ts';

async function refusal(text: string, others: Readonly<Record<string, string>> = {}): Promise<DocumentError> {
  try {
    await planOf(text, others);
  } catch (error) {
    if (error instanceof DocumentError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

/** `CODE message | excerpt's first line`. */
async function shown(text: string, others: Readonly<Record<string, string>> = {}): Promise<string> {
  const { code, message, excerpt } = await refusal(text, others);
  return `${code} ${message} | ${excerpt?.split('\n')[0] ?? 'no excerpt'}`;
}

const job = '[[jobs]]\nname = "a"\nruns = "1h"\n';

describe('a simulation file', () => {
  it('says nodes, work and times in the words of other files [B9]', async () => {
    const plan = await planOf(`start = "2026-12-01T00:00:00Z"
until = "7d"
seed = 7
[[nodes]]
name = "h100-%d"
count = 3
gpus = 8
gpuType = "H100"
cpus = 96
memory = "1TiB"
labels = { zone = "a" }
until = "2026-12-03T12:00:00Z"
failures = { every = "30d" }
[[jobs]]
name = "train"
at = "2026-12-01T06:00:00+01:00"
every = { mean = "1h", max = "3h" }
runs = "90m"
exit = 0.1
[jobs.profile]
resources = { gpus = 8, memory = "64GiB" }
`);
    expect(plan).toMatchObject({ startMs: Date.UTC(2026, 11, 1), untilMs: 604_800_000, seed: 7 });
    const failures = { everyMs: 2_592_000_000, repairMs: 3_600_000 };
    expect(plan.nodes).toMatchObject([{ count: 3, memoryMiB: 1_048_576, fromMs: 0, untilMs: 216_000_000, failures }]);
    expect(plan.work).toMatchObject([
      {
        kind: 'job',
        atMs: 18_000_000,
        every: { minMs: 0, meanMs: 3_600_000, maxMs: 10_800_000 },
        count: null,
        exit: { share: 0.1, code: 1 },
      },
    ]);
    expect(plan.work[0]?.layers[0]?.values.resources).toEqual({ gpus: 8, memoryMiB: 65_536 });
  });

  it('starts with its earliest date where it names no start, and has none without dates', async () => {
    const dated = `${oneNode}${job}at = "2026-12-01T06:00:00Z"\n[[jobs]]\nname = "b"\nruns = "1h"\nat = "2026-12-02"\n`;
    const plan = await planOf(dated);
    expect([plan.startMs, plan.work.map(({ atMs }) => atMs)]).toEqual([Date.UTC(2026, 11, 1, 6), [0, 64_800_000]]);
    expect((await planOf(oneNode + job)).startMs).toBeNull();
  });

  it.each([
    [
      'a key that does not exist, with the one that was meant',
      `${oneNode}${job}run = "2h"`,
      'UNKNOWN_KEY unknown key "run" in [jobs] | plan.toml:8  run = "2h"',
    ],
    [
      'a key of the profile that stands beside it',
      `${oneNode}${job}gpus = 1`,
      'UNKNOWN_KEY unknown key "gpus" in [jobs] | plan.toml:8  gpus = 1',
    ],
    [
      'what is wrong in a profile',
      `${oneNode}${job}[jobs.profile]\nnodes = 0`,
      'RANGE profile.nodes in [jobs] is 0; expected a whole number from 1 to 4096 | plan.toml:9  nodes = 0',
    ],
    [
      'a table of the profile that does not exist',
      `${oneNode}${job}[jobs.profile.x]`,
      'UNKNOWN_KEY unknown key "x" in profile of [jobs] | plan.toml:8  [jobs.profile.x]',
    ],
    [
      'a key at the top',
      `node = 1\n${oneNode}`,
      'UNKNOWN_KEY unknown key "node" at the top of the file | plan.toml:1  node = 1',
    ],
    ['nodes without cores', '[[nodes]]\nmemory = "1GiB"', 'MISSING_KEY [nodes] has no "cpus" | plan.toml:1  [[nodes]]'],
    [
      'nodes in one table',
      '[nodes]\ncpus = 1',
      'BAD_VALUE [nodes] is one table, and there may be several | plan.toml:1  [nodes]',
    ],
    ['nodes of one name', `${oneNode}${oneNode}`, 'BAD_VALUE two nodes would be called n1 | plan.toml:6  name = "n%d"'],
    [
      'several nodes with one name',
      '[[nodes]]\nname = "n"\ncount = 2\ncpus = 1\nmemory = "1GiB"',
      'BAD_VALUE 2 nodes cannot all be called "n" | plan.toml:2  name = "n"',
    ],
    [
      'a time that is none',
      `${oneNode}${job}at = "soon"`,
      'BAD_VALUE at in [jobs] is "soon"; expected a duration since the start such as "90m", or a time such as "2026-12-01T08:00:00Z" | plan.toml:8  at = "soon"',
    ],
    [
      'a time before the start',
      `start = "2026-12-01"\n${oneNode}${job}at = "2026-11-30"`,
      'RANGE jobs.0.at is 2026-11-30T00:00:00.000Z, which is before the start at 2026-12-01T00:00:00.000Z | plan.toml:9  at = "2026-11-30"',
    ],
    [
      'a mean outside of its ends',
      `${oneNode}${job.replace('"1h"', '{ mean = "2h", max = "1h" }')}`,
      'RANGE jobs.0.runs has its mean outside of min and max | plan.toml:7  runs = { mean = "2h", max = "1h" }',
    ],
    [
      'work of which nobody knows how long it takes',
      `${oneNode}[[jobs]]\nname = "a"`,
      'MISSING_KEY a has no "runs": how long does it take? | plan.toml:5  [[jobs]]',
    ],
    [
      'work that comes for ever',
      `${oneNode}${job}every = "1h"`,
      'MISSING_KEY a comes again and again for ever | plan.toml:8  every = "1h"',
    ],
    [
      'a service that comes again',
      `${oneNode}${job}count = 2\nprofile = { replicas = 2 }`,
      'BAD_VALUE a service comes once, and stays | plan.toml:8  count = 2',
    ],
    [
      'a share above one',
      `${oneNode}${job}exit = 5`,
      'RANGE exit in [jobs] is 5; expected a number from 0 to 1 | plan.toml:8  exit = 5',
    ],
    [
      'a name that is none',
      `${oneNode}[[jobs]]\nname = "A b"\nruns = "1h"`,
      'BAD_NAME "A b" is not a name | plan.toml:6  name = "A b"',
    ],
  ])('is refused for %s, with the line', async (_what, text, expected) => {
    expect(await shown(text)).toBe(expected);
  });
});

it('says which key was meant in a profile, too', async () => {
  const { refusal: found } = await refusal(`${oneNode}${job}[jobs.profile.resources]\ngpu = 1`);
  expect(found).toMatchObject({
    code: 'UNKNOWN_KEY',
    hint: 'did you mean "gpus"?',
    path: 'jobs.0.profile.resources.gpu',
  });
});

describe('a trace', () => {
  const named = `workload = "t.csv"\n${oneNode}`;

  it('is CSV with a head, its columns named as the file says, and comes by time', async () => {
    const text = `workload = "t.csv"\ncolumns = { at = "when", runs = "took" }\n${oneNode}`;
    const csv = '\ufeffwhen,took,name,gpus,memory,exit\r\n30,1h,"say ""hi"", twice",2,16,0\r\n10,90,train.py,,,3\r\n';
    expect((await planOf(text, { 't.csv': csv })).trace).toMatchObject([
      {
        atMs: 10_000,
        name: 'train',
        runsMs: [90_000],
        exitCode: 3,
        layers: [{ origin: 't.csv', values: { resources: {} } }],
      },
      {
        atMs: 30_000,
        name: 'say-hi-twice',
        runsMs: [3_600_000],
        layers: [{ values: { resources: { gpus: 2, memoryMiB: 16_384 } } }],
      },
    ]);
  });

  it('is an object a line, with times on the calendar or since 1970', async () => {
    const lines = '{"at":"2026-12-01T00:00:10Z","runs":"1m"}\n{"at":1796083200,"runs":60,"priority":3}\n';
    const plan = await planOf(named, { 't.csv': lines });
    expect(plan.startMs).toBe(Date.UTC(2026, 11, 1));
    expect(plan.trace.map(({ atMs }) => atMs)).toEqual([0, 10_000]);
  });

  it.each([
    ['a column that is missing', 'at,took\n1,2\n', 'MISSING_KEY t.csv has no column "runs" | t.csv:2  1,2'],
    [
      'a time that is none',
      'at,runs\n1,2\nsoon,2\n',
      'BAD_VALUE at is "soon"; expected a time, Unix seconds, or seconds after the start | t.csv:3  soon,2',
    ],
    [
      'needs that nobody could have',
      'at,runs,gpus\n1,2,-1\n',
      'BAD_VALUE gpus is "-1"; expected a whole number from 0 to 4096 | t.csv:2  1,2,-1',
    ],
    ['a line that is no JSON', '{"at":1,"runs":1}\n{"at":\n', 'BAD_REQUEST t.csv:2 is no JSON | t.csv:2  {"at":'],
    [
      'a column that reaches into prototypes [R4.19]',
      'at,runs,__proto__\n1,2,3\n',
      'UNKNOWN_KEY unknown key "__proto__" | plan.toml:1  workload = "t.csv"',
    ],
  ])('is refused for %s, with the line', async (_what, csv, expected) => {
    expect((await shown(named, { 't.csv': csv })).replace(/no JSON: .* \|/, 'no JSON |')).toBe(expected);
  });
});
