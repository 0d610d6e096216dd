import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, openLab } from './lab.ts';

/** The SDK as those have it who install it: from the packed archive, by its name, with the types that it carries. */

const root = resolve(import.meta.dirname, '..');

/** The words of the reference; only what the job runs is filled in. */
const snippet = (run: string): string => `import { Runyard } from 'runyard'
const yard = await Runyard.open()                       // embedded; or Runyard.connect({ server, token })
const job = await yard.jobs.submit({ job: { name: 'digits', run: '${run}' } })
for await (const line of job.logs({ follow: true })) process.stdout.write(line)
const { state, outcome } = await job.wait()
`;

describe('the SDK', () => {
  let lab: Lab;
  let folder: string;
  beforeAll(() => {
    lab = openLab();
    folder = installPacked(lab.folder);
  });
  afterAll(() => lab.close());

  it('follows a job to its end in the words of the reference, and the program ends though it closed nothing [G8]', async () => {
    const node = lab.start(['node', 'start', '--name', 'here']);
    await node.printed(/here/);
    const said = runScript(
      `${snippet('echo epoch 1; echo warned >&2; exit 3')}console.log(JSON.stringify({ state, outcome }))`,
    );
    expect(said).toMatchObject({ status: 0, stderr: '' });
    expect(said.stdout).toContain('epoch 1\n');
    expect(said.stdout).toContain('warned\n');
    const outcome = { reason: 'exit', exitCode: 3, signal: null, message: 'exited with code 3' };
    expect(said.stdout.trimEnd().split('\n').at(-1)).toBe(JSON.stringify({ state: 'FAILED', outcome }));
    node.child.kill('SIGTERM');
    await node.finished;
  });

  it('serves a node itself where none runs, and throws what is refused with its code [G8]', () => {
    const said = runScript(`import { RefusalError, Runyard } from 'runyard'
const yard = await Runyard.open()
const node = await yard.nodes.start({ name: 'inside' })
const job = await yard.jobs.submit({ job: { name: 'inside', run: 'echo hello' } })
const { state } = await job.wait()
const refused = await yard.jobs.submit({ job: { name: 'typo', rum: 'x' } }).catch((error) => error)
const unknown = await yard.jobs.get('nothing-222222').catch((error) => error)
console.log(state, refused instanceof RefusalError, refused.code, unknown instanceof RefusalError, unknown.code)
await node.close()
`);
    expect(said).toMatchObject({ status: 0, stderr: '', stdout: 'COMPLETED true UNKNOWN_KEY true NOT_FOUND\n' });
  });

  it('throws out whatever waits or follows when it is closed, and the program ends [G8]', () => {
    const said = runScript(`import { Runyard } from 'runyard'
const yard = await Runyard.open()
const node = await yard.nodes.start({ name: 'inside' })
const job = await yard.jobs.submit({ job: { name: 'long', run: 'echo begun; sleep 300' } })
await yard.services.apply({ service: { name: 'beat', run: 'echo up; sleep 300' }, profile: { replicas: 2, port: false } })
const service = await yard.services.get('beat')
const follow = async (things) => { for await (const thing of things) void thing }
const other = await Runyard.open()
const theirs = await other.jobs.get(job.id)
const waits = [theirs.wait(), follow(theirs.watch()), follow(theirs.logs({ follow: true })), follow(other.events({ follow: true }))]
const both = await other.services.get('beat')
for (const things of [both.watch(), both.logs({ follow: true }), both.events({ follow: true })]) waits.push(follow(things))
for await (const text of both.logs({ follow: true })) if (text.includes('up')) break
await other.close()
const ends = await Promise.allSettled(waits)
console.log(ends.map(({ status, reason }) => status + ': ' + reason?.message).join('\\n'))
await job.stop({ graceMs: 100 })
await service.remove()
await job.wait()
for await (const { length } of poll()) if (length === 0) break
async function* poll() { for (;;) yield (await yard.jobs.list()).filter(({ state }) => state === 'RUNNING') }
await node.close()
await yard.close()
`);
    const thrown = 'rejected: the client was closed while this was waiting\n'.repeat(7);
    expect(said).toMatchObject({ status: 0, stderr: '', stdout: thrown });
  });

  it('takes one signal for any number of calls, and says where outputs landed from the root [S5]', () => {
    const said = runScript(`import { Runyard } from 'runyard'
const yard = await Runyard.open()
const node = await yard.nodes.start({ name: 'inside' })
const job = await yard.jobs.submit({ job: { name: 'writes', run: 'echo x > a.txt', outputs: ['a.txt'] } })
const { signal } = new AbortController()
for (let call = 0; call < 12; call += 1) {
  await job.wait({ signal })
  for await (const view of job.watch({ signal })) void view
  for await (const event of yard.events({ follow: true, signal })) { void event; break }
}
await yard.services.apply({ service: { name: 'word', run: 'echo up; sleep 300' }, profile: { port: false } })
const service = await yard.services.get('word')
for (let call = 0; call < 12; call += 1) for await (const text of service.logs({ follow: true, signal })) { void text; break }
await service.remove()
const [{ landedAt }] = await job.land({ to: 'here' })
const refused = await Promise.all([undefined, null, 'text', 7].map((one) => yard.jobs.submit(one).catch((error) => error.code)))
console.log(landedAt, refused.join())
await node.close()
`);
    const landed = join(folder, 'here/a.txt');
    expect(said).toMatchObject({
      status: 0,
      stderr: '',
      stdout: `${landed} BAD_REQUEST,BAD_REQUEST,BAD_REQUEST,BAD_REQUEST\n`,
    });
  });

  it('brings types that fit the words of the reference, and tell what is wrong', () => {
    const told = (text: string): string => {
      writeFileSync(join(folder, 'program.mts'), text);
      const compiler = join(root, 'node_modules/typescript/bin/tsc');
      const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
      const roots = ['--typeRoots', join(root, 'node_modules/@types')];
      const { stdout } = spawnSync(process.execPath, [compiler, ...options, ...roots, 'program.mts'], {
        cwd: folder,
        encoding: 'utf8',
      });
      return stdout;
    };
    const names =
      'JobState, JobView, NodeView, Outcome, OutputView, RefusalCode, ReplicaView, ServiceView, TaskView, Waiting';
    const named = `import type { ${names} } from 'runyard'\nexport type All = [${names}]\n`;
    const right = 'const code: number | null | undefined = outcome?.exitCode\nvoid [state, code]';
    expect(told(`${snippet('true')}${right}\n${named}`)).toBe('');
    expect(told(`${snippet('true')}const wrong: number = state\nvoid [wrong, outcome]`)).toMatch(/program\.mts\(6,7\)/);
  });

  it('brings whatever its front page points to', () => {
    const unpacked = join(folder, 'node_modules/runyard');
    const links = [...readFileSync(join(unpacked, 'README.md'), 'utf8').matchAll(/\]\(([^):#]+)\)/g)].map(
      ([, to]) => to ?? '',
    );
    expect(links.length).toBeGreaterThan(20);
    expect(links.filter((to) => !existsSync(join(unpacked, to)))).toEqual([]);
  });

  function runScript(text: string): { status: number | null; stdout: string; stderr: string } {
    writeFileSync(join(folder, 'program.mjs'), text);
    const env = { ...process.env, RUNYARD_HOME: lab.home };
    return spawnSync(process.execPath, ['program.mjs'], { cwd: folder, env, encoding: 'utf8', timeout: 25_000 });
  }
});

/** A folder with the package in node_modules, unpacked from the archive that would be published. */
function installPacked(folder: string): string {
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-b', 'src/client'], { cwd: root });
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], { cwd: root });
  const [archive = 'no archive'] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '@photostructure'), { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, archive), '-C', modules]);
  renameSync(join(modules, 'package'), join(modules, 'runyard'));
  symlinkSync(join(root, 'node_modules/@photostructure/sqlite'), join(modules, '@photostructure/sqlite'));
  return folder;
}
