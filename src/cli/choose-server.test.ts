import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readContexts, writeContexts } from '../client/remote/contexts.ts';
import { chooseServer, type ServerWish } from './choose-server.ts';

const pin = `sha256:${'a'.repeat(64)}`;
const other = `sha256:${'b'.repeat(64)}`;
const lab = { url: 'https://lab.example.org:7443', fingerprint: pin, token: 'yt_1_lab', user: 'ada' };
const work = { url: 'https://work.example.org', fingerprint: null, token: 'yt_2_work', user: 'ada' };

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'yard-contexts-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const choose = (wish: Partial<ServerWish> = {}) =>
  chooseServer({ server: undefined, context: undefined, home, env: {}, ...wish });

describe('the server that a command is about', () => {
  it('is none on a home where nobody signed in to any', () => {
    expect(choose()).toBeNull();
    expect(choose({ env: { RUNYARD_SERVER: '', RUNYARD_TOKEN: '' } })).toBeNull();
  });

  it('is the one in use, unless another is named or none is wanted', () => {
    writeContexts(home, { current: 'lab', contexts: { lab, work } });
    expect(choose()).toEqual({ url: lab.url, fingerprint: pin, token: 'yt_1_lab' });
    expect(choose({ context: 'work' })).toEqual({ url: work.url, fingerprint: null, token: 'yt_2_work' });
    expect(choose({ context: 'embedded' })).toBeNull();
    expect(choose({ server: 'work.example.org' })).toEqual({ url: work.url, fingerprint: null, token: 'yt_2_work' });
  });

  it('comes from the environment of a script, with its token and the certificate that it carries', () => {
    const env = { RUNYARD_SERVER: 'https://ci.example.org:7443/', RUNYARD_TOKEN: `yt_3_ci@${other}` };
    expect(choose({ env })).toEqual({ url: 'https://ci.example.org:7443', fingerprint: other, token: 'yt_3_ci' });
    writeContexts(home, { current: 'lab', contexts: { lab } });
    expect(choose({ env })?.url).toBe('https://ci.example.org:7443');
    expect(choose({ env: { ...env, RUNYARD_SERVER: lab.url } })?.fingerprint).toBe(other);
    expect(choose({ env, context: 'lab' })).toEqual({ url: lab.url, fingerprint: other, token: 'yt_3_ci' });
  });

  it.each([
    ['http://lab.example.org', /would show the token/],
    ['https://yt_1_secret@lab.example.org', /holds no token/],
    ['https://lab.example.org/?token=yt_1_secret', /holds no token/],
    ['https://lab.example.org/v1', /has no path/],
    ['https://', /no address/],
  ])('is refused as %s [R4.24]', (server, message) => {
    expect(() => choose({ server })).toThrow(message);
  });

  it('is refused where what is named is not there, or two are', () => {
    writeContexts(home, { current: null, contexts: { lab } });
    expect(() => choose({ context: 'moon' })).toThrow('there is no context "moon"');
    expect(() => choose({ context: 'lab', server: lab.url })).toThrow('exclude each other');
    expect(() => choose({ server: lab.url, env: { RUNYARD_TOKEN: 'two words' } })).toThrow('is none');
  });
});

describe('the contexts of a home', () => {
  it('are readable by their owner alone', () => {
    writeContexts(home, { current: 'lab', contexts: { lab, work } });
    expect(statSync(join(home, 'contexts.json')).mode & 0o777).toBe(0o600);
    expect(readContexts(home)).toEqual({ current: 'lab', contexts: { lab, work } });
  });

  it.each(['', '{', '[]', '{"current":1,"contexts":{}}', '{"current":null,"contexts":{"a":{"url":1}}}'])(
    'that were damaged to %j are refused with what to do',
    (text) => {
      writeFileSync(join(home, 'contexts.json'), text);
      expect(() => readContexts(home)).toThrow(/cannot be read as a list of contexts/);
    },
  );
});
