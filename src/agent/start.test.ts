import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { argv, createTestNode, pause, script, type TestNode } from './attempt.testsuite.ts';
import { readFailedLine } from './command.ts';
import { readClaimRecord } from './records.ts';

const ways = [
  { name: 'the launcher', options: {} },
  { name: 'the shim', options: { launcher: 'sh' } },
  { name: 'the shim under bash', options: { launcher: 'sh', shell: ['/bin/bash', '--posix'] } },
] as const;

describe.each(ways)('a start through $name', ({ options }) => {
  let node: TestNode;
  beforeAll(async () => {
    node = await createTestNode(options);
  });
  afterAll(() => node.close());

  const exited = (exitCode: number) => ({
    kind: 'ended',
    exit: { kind: 'exited', exitCode, atMs: expect.any(Number), alone: expect.any(Boolean) },
  });
  const killed = (signal: number) => ({
    kind: 'ended',
    exit: { kind: 'killed', signal, atMs: expect.any(Number), alone: expect.any(Boolean) },
  });

  it('starts nothing that was to end before it could begin, and leaves the journal for whoever ends it [X12]', async () => {
    const attempt = node.newAttempt();
    await expect(attempt.start(script('echo started'), { signal: AbortSignal.abort() })).rejects.toThrow('any more');
    expect(readdirSync(attempt.directory)).toContain('run.start.json');
    expect(readdirSync(attempt.directory)).not.toContain('run.out');
  });

  it('records the exit code, and keeps both streams [S7]', async () => {
    const attempt = node.newAttempt();
    expect(await attempt.run(script('echo out; echo err >&2; exit 7'))).toEqual(exited(7));
    expect(attempt.text('run.out')).toBe('out\n');
    expect(attempt.text('run.err')).toBe('err\n');
  });

  it('tells a death by signal from the exit code that looks like it', async () => {
    expect(await node.newAttempt().run(argv('sh', '-c', 'kill -9 $$'))).toEqual(killed(9));
    expect(await node.newAttempt().run(script('kill -9 $$'))).toEqual(killed(9));
    expect(await node.newAttempt().run(script('kill -TERM $$'))).toEqual(killed(15));
    expect(await node.newAttempt().run(argv('sh', '-c', 'exit 137'))).toEqual(exited(137));
  });

  it('gives 127 for a missing program and 126 for one that may not be executed, with a sentence in the log', async () => {
    const attempt = node.newAttempt();
    expect(await attempt.run(argv('no-such-program'))).toEqual(exited(127));
    expect(attempt.text('run.err')).toContain('no-such-program');
    const other = node.newAttempt();
    writeFileSync(join(other.workdir, 'plain'), 'text', { mode: 0o644 });
    expect(await other.run(argv('./plain'))).toEqual(exited(126));
    expect(other.text('run.err')).toContain('Permission denied');
  });

  it('reports a missing working directory as a fault of the node, not as a missing program', async () => {
    const attempt = node.newAttempt();
    const end = await attempt.run(argv('true'), { workdir: join(attempt.directory, 'gone') });
    expect(end).toMatchObject({ kind: 'ended', exit: { kind: 'fault' } });
    expect(JSON.stringify(end)).toContain('working directory does not exist');
  });

  it('starts nothing when the log cannot be opened', async () => {
    const attempt = node.newAttempt();
    mkdirSync(join(attempt.directory, 'run.out'));
    const end = await attempt.run(script('touch started'));
    expect(end).toMatchObject({ kind: 'ended', exit: { kind: 'fault' } });
    expect(readdirSync(attempt.workdir)).toEqual([]);
  });

  it('tells the end of a command that filled the disk, or ended while it was full [C10]', async (test) => {
    const attempt = node.newAttempt();
    const mount = ['-t', 'tmpfs', '-o', 'size=1m,mode=0700', 'none', attempt.directory];
    test.skip(spawnSync('mount', mount).status !== 0, 'a disk of its own can be mounted by root only');
    mkdirSync(attempt.workdir);
    try {
      expect(await attempt.run(script('cat /dev/zero >fill || exit 7'))).toEqual(exited(7));
    } finally {
      execFileSync('umount', ['-l', attempt.directory]);
    }
  });

  it('passes the environment byte for byte and nothing else [S6] [R4.8]', async () => {
    const hard = `line 1\nline 2\n\t'single' "double" \`back\` $HOME \${X} $(id) \\ \\n é 日本 \u{1f600} \u0081\u0088 \x01\x7f!%*?[]{}~#`;
    const env = {
      HARD: hard,
      'dotted.name': 'x=y',
      EMPTY: '',
      IFS: ':',
      _: 'under',
      '-i': 'dash',
      BIG: 'b'.repeat(100_000),
    };
    const attempt = node.newAttempt();
    await attempt.run(argv(process.execPath, '-e', 'process.stdout.write(JSON.stringify(process.env))'), { env });
    const seen: unknown = JSON.parse(attempt.text('run.out'));
    expect(seen).toEqual({ PATH: process.env.PATH, RUNYARD_MARK: attempt.mark, ...env });
  });

  it('passes secrets byte for byte over the rest, and leaves them in no file and no argument [G14] [R4.25]', async () => {
    const secretEnv = {
      TOKEN: `canary-8125 'a' "b" $HOME \`c\` \\n\nline 2 é \u{1f600}\n`,
      PATH: `${process.env.PATH}:/canary-8125`,
      LONG: 'canary-8125'.repeat(5000),
    };
    const env = { PLAIN: 'x', 'dotted.name': 'y', TOKEN: 'weaker' };
    const forged = { ...secretEnv, RUNYARD_MARK: 'of another task' };
    const attempt = node.newAttempt();
    const print = 'process.stdout.write(JSON.stringify(process.env)); setTimeout(() => {}, 30000)';
    await attempt.start(argv(process.execPath, '-e', print), { env, secretEnv: forged });
    const { shim, command } = await attempt.waitForRun();
    await attempt.waitForText('run.out', '}');
    const seen: unknown = JSON.parse(attempt.text('run.out'));
    expect(seen).toEqual({ ...env, RUNYARD_MARK: attempt.mark, ...secretEnv });
    for (const { pid } of [shim, command]) {
      expect(readFileSync(`/proc/${pid}/cmdline`, 'latin1')).not.toContain('canary-8125');
    }
    const files = readdirSync(attempt.directory).filter((name) => name.startsWith('run.') && name !== 'run.out');
    for (const name of files) expect(attempt.text(name)).not.toContain('canary-8125');
    await node.host.processes.signal(command, 'SIGKILL');
  });

  it('passes an environment of 1.8 MiB [R4.7]', async () => {
    const env = Object.fromEntries(Array.from({ length: 15 }, (_, index) => [`BIG${index}`, 'x'.repeat(125_000)]));
    const attempt = node.newAttempt();
    expect(await attempt.run(argv('sh', '-c', 'echo $BIG0$BIG14 | wc -c'), { env })).toEqual(exited(0));
    expect(attempt.text('run.out').trim()).toBe('250001');
  });

  it('hides the environment from the list of processes while the command runs [R4.25]', async () => {
    const attempt = node.newAttempt();
    await attempt.start(argv('sleep', '30'), { env: { CANARY: 'canary-4711' } });
    const { shim, command } = await attempt.waitForRun();
    const shimLine = await node.host.files.read(`/proc/${shim.pid}/cmdline`);
    expect(new TextDecoder().decode(shimLine ?? undefined)).not.toContain('canary-4711');
    await node.host.processes.signal(command, 'SIGKILL');
  });

  it('runs text as a bash user expects under -eo pipefail', async () => {
    const attempt = node.newAttempt();
    writeFileSync(join(attempt.workdir, 'activate'), 'export SOURCED=yes\n');
    expect(await attempt.run(script('source ./activate; echo "$SOURCED<$LD_LIBRARY_PATH>"'))).toEqual(exited(0));
    expect(attempt.text('run.out')).toBe('yes<>\n');
    expect(await node.newAttempt().run(script('false | tee x\necho after'))).toEqual(exited(1));
  });

  it('gives extra arguments to text as "$@", and honours a #! line', async () => {
    const attempt = node.newAttempt();
    await attempt.run(script('printf "<%s>" "$@"', 'a b', '', "c'd"));
    expect(attempt.text('run.out')).toBe("<a b><><c'd>");
    const other = node.newAttempt();
    const text = `#!${process.execPath} --no-warnings\nconsole.log(process.argv.slice(2).join('|'))\n`;
    expect(await other.run(script(text, 'x y', 'z'))).toEqual(exited(0));
    expect(other.text('run.out')).toBe('x y|z\n');
  });

  it('runs a program whose name holds an equals sign', async () => {
    const attempt = node.newAttempt();
    writeFileSync(join(attempt.workdir, 'lr=0.1'), '#!/bin/sh\necho "ran $1"\n', { mode: 0o755 });
    expect(await attempt.run(argv('./lr=0.1', 'well'))).toEqual(exited(0));
    expect(attempt.text('run.out')).toBe('ran well\n');
  });

  it('keeps stdin empty and the default handling of signals', async () => {
    const attempt = node.newAttempt();
    await attempt.run(script('cat; grep -E "^Sig(Ign|Blk)" /proc/self/status'));
    expect(attempt.text('run.out')).toBe('SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n');
  });

  it('names the line of setup that failed [C17]', async () => {
    const attempt = node.newAttempt();
    const command = script('echo one\nfalse\necho never');
    expect(await attempt.run(command, { label: 'setup' })).toEqual(exited(1));
    expect(attempt.text('setup.out')).toBe('one\n');
    expect(await readFailedLine(node.host.files, attempt.directory, command)).toEqual({ line: 2, text: 'false' });
  });

  it('rings the bell and records true identities', async () => {
    const attempt = node.newAttempt();
    await attempt.start(argv('sleep', '30'));
    const { shim, command } = await attempt.waitForRun();
    expect(await node.host.processes.identify(shim.pid)).toEqual(shim);
    expect(await node.host.processes.identify(command.pid)).toEqual(command);
    await node.host.processes.signal(command, 'SIGKILL');
    await attempt.waitForText('../bell', `${attempt.directory}\n`);
  });
});

it('names secrets to no program on the way to the command, not even to env [R4.25]', async () => {
  const shell = ['/bin/sh', '-c', 'cp "$2" "$2.copy"; exec /bin/sh "$@"', 'sh'];
  const node = await createTestNode({ launcher: 'sh', shell });
  const attempt = node.newAttempt();
  await attempt.run(argv('sh', '-c', 'printf %s "$TOKEN"'), { secretEnv: { TOKEN: 'canary-8125' } });
  expect(attempt.text('run.out')).toBe('canary-8125');
  const [copy = ''] = readdirSync(attempt.directory).filter((name) => name.endsWith('.copy'));
  expect(attempt.text(copy)).toContain("secrets='on stdin'");
  expect(attempt.text(copy)).not.toContain('canary-8125');
  await node.close();
});

it('starts nothing when the secrets did not come whole', async () => {
  // As when the agent dies while it writes them: what comes is cut off before its end mark.
  const shell = ['/bin/sh', '-c', 'head -c 30 | /bin/sh "$@"', 'sh'];
  const node = await createTestNode({ launcher: 'sh', shell });
  const attempt = node.newAttempt();
  const start = await attempt.start(script('touch started'), { secretEnv: { TOKEN: 'x'.repeat(100) } });
  const place = { files: node.host.files, directory: attempt.directory, label: 'run' } as const;
  while ((await node.host.processes.findMarked({ ...attempt, leader: null })).length > 0) await pause();
  expect(await readClaimRecord(place, start.nonce)).toBeNull();
  expect(readdirSync(attempt.workdir)).toEqual([]);
  await node.close();
});
