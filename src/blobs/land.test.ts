import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { landTree } from './land.ts';
import type { Manifest } from './manifest.ts';
import { draw, host, openPlace, type Place } from './temporary-place.testsuite.ts';

async function openLanding(): Promise<Place & { manifest: Manifest; landing: string }> {
  const place = await openPlace({ metrics: 'new', 'runs/a': 'new', 'deep/er/out/x': 'new', 'runs/l': { link: 'a' } });
  const { manifest } = await place.push();
  return { ...place, manifest, landing: join(place.base, 'landing') };
}

describe('landing a tree', () => {
  it('brings each path home and leaves nothing else behind', async () => {
    const { manifest, store, landing } = await openLanding();
    const landed = await landTree({
      manifest,
      store,
      directory: landing,
      paths: ['metrics', 'deep/er/out', 'none'],
      host,
    });
    expect(landed).toEqual(['metrics', 'deep/er/out']);
    expect(readdirSync(landing).sort()).toEqual(['deep', 'metrics']);
    expect(readFileSync(join(landing, 'deep/er/out/x'), 'utf8')).toBe('new');
  });

  it('replaces what stood there, whatever its kind, and keeps what it does not land', async () => {
    const { manifest, store, landing } = await openLanding();
    draw(landing, { 'metrics/was-folder': 'old', 'runs/old': 'old', mine: 'mine', deep: 'was a file' });
    await landTree({ manifest, store, directory: landing, paths: ['metrics', './runs/', 'deep'], host });
    expect(readFileSync(join(landing, 'metrics'), 'utf8')).toBe('new');
    expect(readdirSync(join(landing, 'runs'))).toEqual(['a', 'l']);
    expect(readFileSync(join(landing, 'deep/er/out/x'), 'utf8')).toBe('new');
    expect(readdirSync(landing).sort()).toEqual(['deep', 'metrics', 'mine', 'runs']);
  });

  it('adds to folders that are there when no path is named, and removes nothing of theirs', async () => {
    const { manifest, store, landing } = await openLanding();
    draw(landing, { 'runs/old': 'old', 'runs/a': 'old', 'deep/er/mine': 'mine' });
    await landTree({ manifest, store, directory: landing, host });
    expect(readdirSync(join(landing, 'runs'))).toEqual(['a', 'l', 'old']);
    expect(readFileSync(join(landing, 'runs/a'), 'utf8')).toBe('new');
    expect(readdirSync(join(landing, 'deep/er'))).toEqual(['mine', 'out']);
  });

  it.each([
    [{ 'metrics/mine': 'mine' }, 'metrics'],
    [{ deep: 'mine' }, 'deep'],
  ])('refuses to put %j away when no path is named', async (standing, path) => {
    const { manifest, store, landing } = await openLanding();
    draw(landing, standing);
    const refused = landTree({ manifest, store, directory: landing, host });
    await expect(refused).rejects.toMatchObject({ code: 'LANDING_CONFLICT', path: join(landing, path) });
    expect(readdirSync(landing)).toEqual([path]);
  });

  it('shows nothing under a name whose content is not all there', async () => {
    const { manifest, landing, base } = await openLanding();
    const empty = await openPlace({});
    draw(landing, { metrics: 'old' });
    const landingAll = landTree({ manifest, store: empty.store, directory: landing, host });
    await expect(landingAll).rejects.toMatchObject({ code: 'MISSING_BLOB' });
    expect(readdirSync(landing)).toEqual(['metrics']);
    expect(readFileSync(join(landing, 'metrics'), 'utf8')).toBe('old');
    expect(existsSync(join(base, 'metrics'))).toBe(false);
  });

  it('writes through no link that stands in the landing folder', async () => {
    const { manifest, store, landing, base } = await openLanding();
    mkdirSync(join(base, 'elsewhere'));
    mkdirSync(landing);
    symlinkSync('../elsewhere', join(landing, 'deep'));
    symlinkSync('../elsewhere/file', join(landing, 'metrics'));
    const refused = landTree({ manifest, store, directory: landing, paths: ['deep/er/out'], host });
    await expect(refused).rejects.toMatchObject({ code: 'PATH_ESCAPE' });
    await landTree({ manifest, store, directory: landing, paths: ['metrics'], host });
    expect(readdirSync(join(base, 'elsewhere'))).toEqual([]);
  });

  it('clears what a landing left that crashed a day ago, and leaves one under way', async () => {
    const { manifest, store, landing } = await openLanding();
    draw(landing, { '.runyard-landing-00/0/new': 'half' });
    await landTree({ manifest, store, directory: landing, host });
    expect(existsSync(join(landing, '.runyard-landing-00'))).toBe(true);
    const later = { ...host, clock: { ...host.clock, wallMs: () => host.clock.wallMs() + 25 * 3_600_000 } };
    await landTree({ manifest, store, directory: landing, host: later });
    expect(existsSync(join(landing, '.runyard-landing-00'))).toBe(false);
  });
});
