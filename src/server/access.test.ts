import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Route } from '../wire/http/route.ts';
import { routes } from '../wire/http/routes.ts';
import { pick, type Served, serve } from './served.testsuite.ts';

let served: Served;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.end());

async function tokenOf(body: object): Promise<string> {
  const { json } = await served.ask('POST', '/v1/tokens', { body });
  const [token = '', fingerprint] = pick(json, 'token').split('@');
  expect(fingerprint).toBe(served.server.fingerprint);
  return token;
}

describe('who is let in', () => {
  it('answers nothing but its health without a token, on every route of the table [G11]', async () => {
    const table: readonly [string, Route][] = Object.entries(routes);
    const answers = await Promise.all(
      table.map(async ([name, { method, path }]) => {
        const told = await served.ask(method, path.replaceAll(/\{\w+\}/g, 'x'), { token: null });
        return [name, told.status] as const;
      }),
    );
    const open = answers.filter(([, status]) => status !== 401);
    expect(open).toEqual([['health', 200]]);
    expect(answers.length).toBeGreaterThan(50);
  });

  it('knows each kind of token, and takes none for what it is not', async () => {
    const user = await tokenOf({ kind: 'user', user: 'ada' });
    const join = await tokenOf({ kind: 'join' });
    expect(await served.ask('GET', '/v1/whoami', { token: user })).toMatchObject({
      status: 200,
      json: { name: 'ada', admin: false, projects: { default: 'member' } },
    });
    expect(await served.ask('GET', '/v1/whoami', { token: join })).toMatchObject({ status: 401 });
    expect(await served.ask('GET', '/v1/whoami', { token: `${user.slice(0, -1)}x` })).toMatchObject({ status: 401 });
    expect(await served.ask('POST', '/v1/nodes/join', { token: user })).toMatchObject({ status: 401 });
    expect(await served.ask('GET', '/v1/agent', { token: user })).toMatchObject({ status: 401 });
    const drain = await served.ask('POST', '/v1/nodes/n1/drain', { token: user, body: {} });
    expect(drain).toMatchObject({ status: 403, json: { error: { code: 'FORBIDDEN' } } });
  });

  it('tells of a list of a project that is not there, or not theirs, which there are [X29]', async () => {
    const token = await tokenOf({ kind: 'user', user: 'eva' });
    await served.ask('POST', '/v1/projects', { body: { name: 'hidden' } });
    for (const path of ['/v1/jobs', '/v1/secrets']) {
      for (const project of ['moon', 'hidden']) {
        const told = await served.ask('GET', `${path}?project=${project}`, { token });
        expect(told).toMatchObject({ status: 404, json: { error: { code: 'NOT_FOUND', hint: 'there are: default' } } });
        expect(pick(told.json, 'error.message')).toBe(`there is no project "${project}"`);
      }
      expect((await served.ask('GET', `${path}?project=default`, { token })).status).toBe(200);
    }
  });

  it('lets a node join once with a join token, and then by its own key [G9]', async () => {
    const token = await tokenOf({ kind: 'join' });
    const key = 'ab'.repeat(32);
    const keyHash = served.server.parts.embedded.host.digests.sha256(new TextEncoder().encode(key));
    const join = (node: string, hash = keyHash): ReturnType<Served['ask']> =>
      served.ask('POST', '/v1/nodes/join', { token, body: { node, keyHash: hash } });
    expect(await join('n1')).toMatchObject({ status: 200, json: { node: 'n1' } });
    expect((await join('n2', 'cd'.repeat(32))).status).toBe(401);
    const hashes = { hashes: [] };
    const asNode = await served.ask('POST', '/v1/blobs/missing', { token: `yk_n1_${key}`, body: hashes });
    expect(asNode.status).toBe(200);
    expect((await served.ask('POST', '/v1/blobs/missing', { token: `yk_n2_${key}`, body: hashes })).status).toBe(401);
    expect((await served.ask('GET', '/v1/jobs', { token: `yk_n1_${key}` })).status).toBe(401);
  });

  it('lets nobody build on a job that they may not see, in the words of one that is not there [X29]', async () => {
    for (const name of ['theirs', 'mine']) await served.ask('POST', '/v1/projects', { body: { name } });
    await served.ask('PUT', '/v1/projects/mine/members/ida', { body: { role: 'member' } });
    const token = await tokenOf({ kind: 'user', user: 'ida' });
    const submission = { job: { name: 'hidden', run: 'true' } };
    const { json } = await served.ask('POST', '/v1/jobs', { body: { submission, project: 'theirs' } });
    const submit = async (more: object): Promise<unknown> => {
      const told = await served.ask('POST', '/v1/jobs', { token, body: { submission, project: 'mine', ...more } });
      return [told.status, told.json];
    };
    for (const key of ['workspaceOf', 'retryOf']) {
      for (const id of [pick(json, 'id'), 'none-222222']) {
        const error = { code: 'NOT_FOUND', message: `there is no job ${id}` };
        expect(await submit({ [key]: id })).toMatchObject([404, { error }]);
      }
    }
    const own = await served.ask('POST', '/v1/jobs', { token, body: { submission, project: 'mine' } });
    expect(await submit({ workspaceOf: pick(own.json, 'id'), retryOf: pick(own.json, 'id') })).toMatchObject([200, {}]);
  });

  it('forgets a token that was revoked', async () => {
    const token = await tokenOf({ kind: 'user', user: 'eve' });
    expect((await served.ask('GET', '/v1/whoami', { token })).status).toBe(200);
    expect((await served.ask('DELETE', `/v1/tokens/${token.split('_')[1]}`)).status).toBe(204);
    expect((await served.ask('GET', '/v1/whoami', { token })).status).toBe(401);
  });

  it('knows at once the token that another process has made on its home', async () => {
    const { Runyard } = await import('../client/runyard.ts');
    const beside = await Runyard.open({ home: served.home });
    try {
      const { token } = await beside.tokens.create({ user: 'bob' });
      expect((await served.ask('GET', '/v1/whoami', { token })).json).toMatchObject({ name: 'bob' });
    } finally {
      await beside.close();
    }
  });

  it('slows down whoever guesses, by address and by the id of the token [R4.23]', async () => {
    const user = await tokenOf({ kind: 'user', user: 'cy' });
    const wrong = `${user.slice(0, -4)}0000`;
    const guesses = await serve({ limits: { guesses: 3, guessWindowMs: 60_000 } });
    try {
      expect((await guesses.ask('GET', '/v1/jobs')).status).toBe(200);
      for (let n = 0; n < 3; n += 1) expect((await guesses.ask('GET', '/v1/jobs', { token: wrong })).status).toBe(401);
      const blocked = await guesses.ask('GET', '/v1/jobs', { token: wrong });
      expect(blocked).toMatchObject({ status: 429, json: { error: { code: 'TOO_MANY' } } });
      expect(Number(blocked.headers['retry-after'])).toBeGreaterThan(0);
      const unknown = await guesses.ask('GET', '/v1/jobs', { token: `yt_abcdef_${'0'.repeat(64)}` });
      expect(unknown.status).toBe(429);
      // A neighbour behind the same address goes on working.
      expect((await guesses.ask('GET', '/v1/jobs')).status).toBe(200);
    } finally {
      await guesses.end();
    }
  });

  it('notes for the audit who tried a known token without its secret', async () => {
    const token = await tokenOf({ kind: 'user', user: 'dan' });
    const id = token.split('_')[1] ?? '';
    expect((await served.ask('GET', '/v1/jobs', { token: `yt_${id}_${'0'.repeat(64)}` })).status).toBe(401);
    await expect
      .poll(async () => (await served.ask('GET', '/v1/events?audit=true')).text)
      .toContain(`"who":"token ${id}"`);
  });
});
