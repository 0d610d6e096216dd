import { execFileSync } from 'node:child_process';
import { chmodSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Collected, collectOutputs } from './collect.ts';
import { landTree } from './land.ts';
import { checkManifest } from './manifest-codec.ts';
import { type Materialised, materialiseTree } from './materialise.ts';
import { draw, host, openPlace, type Place, pathsOf, type Sketch } from './temporary-place.testsuite.ts';

interface Job extends Place {
  readonly workdir: string;
  readonly materialised: Materialised;
  collect(declared: readonly string[], options?: { deadlineMs?: number; signal?: AbortSignal }): Promise<Collected>;
}

/** A job whose workspace was pushed and materialised, and which then wrote `work`. */
async function openJob(workspace: Sketch, work: Sketch): Promise<Job> {
  const place = await openPlace(workspace);
  const { manifest } = await place.push();
  const workdir = join(place.base, 'work');
  const materialised = await materialiseTree({ manifest, store: place.store, directory: workdir, host });
  draw(workdir, work);
  const collect: Job['collect'] = async (declared, options = {}) => {
    const collected = await collectOutputs({
      workdir,
      declared,
      materialised,
      store: place.store,
      host,
      deadlineMs: 60_000,
      ...options,
    });
    checkManifest(collected.manifest);
    return collected;
  };
  return { ...place, workdir, materialised, collect };
}

describe('collecting outputs', () => {
  it('collects files and folders and says what is missing, without a placeholder [S5] [C30]', async () => {
    const job = await openJob({}, { 'metrics.jsonl': '{}\n', 'runs/1/model': 'mm', 'runs/empty': null, other: 'x' });
    const { outputs, manifest } = await job.collect(['metrics.jsonl', './runs/', 'never.pt']);
    expect(outputs).toEqual([
      { path: 'metrics.jsonl', state: 'collected', sizeBytes: 3 },
      { path: './runs/', state: 'collected', sizeBytes: 2 },
      { path: 'never.pt', state: 'missing', why: 'the job did not write it' },
    ]);
    expect(pathsOf(manifest)).toEqual(['metrics.jsonl', 'runs', 'runs/1', 'runs/1/model', 'runs/empty']);
    const landing = join(job.base, 'landing');
    expect(
      await landTree({ manifest, store: job.store, directory: landing, paths: ['metrics.jsonl', 'runs'], host }),
    ).toEqual(['metrics.jsonl', 'runs']);
    execFileSync('diff', ['-r', join(job.workdir, 'runs'), join(landing, 'runs')]);
  });

  it('says that patterns are not expanded, and takes a file of that very name [S5] [C30]', async () => {
    const job = await openJob({}, { 'a.x': 'a', 'b?': 'b' });
    const { outputs } = await job.collect(['*.x', 'b?']);
    expect(outputs).toEqual([
      { path: '*.x', state: 'missing', why: expect.stringContaining('patterns are not expanded: name each file') },
      { path: 'b?', state: 'collected', sizeBytes: 1 },
    ]);
  });

  it('does not take what was pushed and not written again for an output [S5] [C30]', async () => {
    const job = await openJob(
      {
        'data.csv': 'pushed',
        'out/old': 'pushed',
        'out/again': 'pushed',
        'only/old': 'pushed',
        hollow: null,
        moded: 'pushed',
      },
      { 'out/new': 'n' },
    );
    writeFileSync(join(job.workdir, 'out/again'), 'pushed');
    chmodSync(join(job.workdir, 'moded'), 0o755);
    const { outputs, manifest } = await job.collect(['data.csv', 'out', 'only', 'hollow', 'moded']);
    expect(outputs.map(({ state }) => state)).toEqual(['missing', 'collected', 'missing', 'missing', 'missing']);
    expect(outputs[0]?.why).toMatch(/pushed with the workspace/);
    expect(pathsOf(manifest)).toEqual(['out', 'out/again', 'out/new']);
  });

  it('takes a pushed file that was replaced by another for an output', async () => {
    const job = await openJob({ model: 'same size' }, { fresh: 'SAME SIZE' });
    renameSync(join(job.workdir, 'fresh'), join(job.workdir, 'model'));
    expect((await job.collect(['model'])).outputs).toEqual([{ path: 'model', state: 'collected', sizeBytes: 9 }]);
  });

  it('refuses paths and links that lead outside, following none [R4.1] [R4.2]', async () => {
    const job = await openJob(
      {},
      {
        passwd: { link: '/etc/passwd' },
        up: { link: '..' },
        'dir/ok': 'x',
        'dir/leak': { link: '../../secret' },
        self: { link: '.' },
      },
    );
    draw(job.base, { secret: 'secret' });
    const declared = ['passwd', 'up/secret', 'dir', '../secret', '/etc/passwd', 'self', 'a\nb'];
    const { outputs, manifest } = await job.collect(declared);
    expect(outputs.map(({ path, state }) => [path, state])).toEqual(declared.map((path) => [path, 'refused']));
    expect(outputs[0]?.why).toBe('a link leads outside the work directory, to /etc/passwd');
    expect(outputs[2]?.why).toBe('link dir/leak → ../../secret leads outside');
    expect(outputs[3]?.why).toMatch(/leads out of the tree/);
    expect(manifest.entries).toEqual([]);
  });

  it('keeps links within the work directory, and follows a declared name that is one', async () => {
    const job = await openJob(
      {},
      { 'ckpt/5/w': 'weights', latest: { link: 'ckpt/5' }, 'ckpt/best': { link: '5/w' }, gone: { link: 'x' } },
    );
    symlinkSync(join(job.workdir, 'ckpt/5'), join(job.workdir, 'ckpt/absolute'));
    const { outputs, manifest } = await job.collect(['latest', 'ckpt', 'gone', 'latest/w']);
    expect(outputs.map(({ state }) => state)).toEqual(['collected', 'collected', 'missing', 'collected']);
    expect(outputs[2]?.why).toBe('link gone → x leads nowhere');
    expect(manifest.entries.filter(({ kind }) => kind === 'link')).toEqual([
      { kind: 'link', path: 'ckpt/absolute', target: '5' },
      { kind: 'link', path: 'ckpt/best', target: '5/w' },
    ]);
    expect(pathsOf(manifest)).toContain('latest/w');
  });

  it('refuses an output behind a link that another output brings along', async () => {
    const job = await openJob({}, { 'a/real/x': 'x', 'a/link': { link: 'real' } });
    const { outputs } = await job.collect(['a', 'a/link/x']);
    expect(outputs.map(({ state }) => state)).toEqual(['collected', 'refused']);
  });

  it('refuses pipes by their type, in a folder too, and spoils nothing else [R4.4]', async () => {
    const job = await openJob({}, { good: 'x', 'dir/file': 'x' });
    execFileSync('mkfifo', [join(job.workdir, 'pipe'), join(job.workdir, 'dir/pipe')]);
    const { outputs } = await job.collect(['pipe', 'dir', 'good']);
    expect(outputs).toEqual([
      { path: 'pipe', state: 'refused', why: 'it is a fifo, not a file or folder' },
      { path: 'dir', state: 'refused', why: 'dir/pipe is a fifo, not a file or folder' },
      { path: 'good', state: 'collected', sizeBytes: 1 },
    ]);
  });

  it('gives up at its deadline and when it is stopped, with the reason', async () => {
    const job = await openJob({}, { a: 'x' });
    expect((await job.collect(['a'], { deadlineMs: -1 })).outputs[0]).toMatchObject({
      state: 'refused',
      why: /not collected within/,
    });
    const stop = new AbortController();
    stop.abort();
    expect((await job.collect(['a'], { signal: stop.signal })).outputs[0]?.state).toBe('refused');
  });

  it('finds everything missing when the work directory is gone', async () => {
    const job = await openJob({}, {});
    const gone = {
      workdir: join(job.base, 'gone'),
      declared: ['a'],
      materialised: null,
      store: job.store,
      host,
      deadlineMs: 1000,
    };
    expect((await collectOutputs(gone)).outputs).toEqual([
      { path: 'a', state: 'missing', why: 'the work directory is gone' },
    ]);
  });
});
