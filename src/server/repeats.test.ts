import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answered, pick, type Served, serve } from './served.testsuite.ts';

let served: Served;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.end());

function submit(name: string, key?: string): Promise<Answered> {
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  return served.ask('POST', '/v1/jobs', { body: { submission: { job: { name, run: 'true' } } }, headers });
}

describe('requests that are sent again', () => {
  it('have one effect and one answer under one key, and another body is refused [R4.12] [I3]', async () => {
    const [first, second] = await Promise.all([submit('once', 'k1'), submit('once', 'k1')]);
    expect(first.status).toBe(200);
    expect(second.json).toEqual(first.json);
    expect((await submit('once', 'k1')).json).toEqual(first.json);
    expect((await submit('once', 'k2')).json).not.toEqual(first.json);
    expect(await submit('other', 'k1')).toMatchObject({
      status: 409,
      json: { error: { code: 'IDEMPOTENCY_MISMATCH' } },
    });
  });

  it('are told apart by who sends them', async () => {
    const made = await served.ask('POST', '/v1/tokens', { body: { kind: 'user', user: 'ada' } });
    const token = pick(made.json, 'token');
    const body = { submission: { job: { name: 'mine', run: 'true' } } };
    const headers = { 'idempotency-key': 'same' };
    const one = await served.ask('POST', '/v1/jobs', { body, headers });
    const two = await served.ask('POST', '/v1/jobs', { body, headers, token });
    expect([one.status, two.status]).toEqual([200, 200]);
    expect(two.json).not.toEqual(one.json);
  });

  it('change nothing twice where they are no submission', async () => {
    const service = { service: { name: 'web', run: 'sleep 100' }, profile: { replicas: 2 } };
    await served.ask('POST', '/v1/services', { body: { service } });
    const headers = { 'idempotency-key': 'restart' };
    const [first, second] = [
      await served.ask('POST', '/v1/services/web/restart', { headers }),
      await served.ask('POST', '/v1/services/web/restart', { headers }),
    ];
    expect(first).toMatchObject({ status: 200, json: { revision: 2, changed: true } });
    expect(second.json).toEqual(first.json);
    const other = await served.ask('POST', '/v1/services/web/scale', { body: { replicas: 3 }, headers });
    expect(other).toMatchObject({ status: 409, json: { error: { code: 'IDEMPOTENCY_MISMATCH' } } });
  });

  it('do not stumble over their own effect', async () => {
    await served.ask('POST', '/v1/services', { body: { service: { service: { name: 'gone', run: 'sleep 100' } } } });
    const remove = (key: string): Promise<Answered> =>
      served.ask('DELETE', '/v1/services/gone', { headers: { 'idempotency-key': key } });
    expect([(await remove('r1')).status, (await remove('r1')).status]).toEqual([204, 204]);
    expect((await remove('r2')).status).toBe(404);
  });

  it('get the token that was made, though nobody keeps it', async () => {
    const headers = { 'idempotency-key': 'token' };
    const body = { kind: 'user', user: 'bob' };
    const first = await served.ask('POST', '/v1/tokens', { body, headers });
    expect(await served.ask('POST', '/v1/tokens', { body, headers })).toMatchObject({ status: 200, json: first.json });
    const other = await served.ask('POST', '/v1/tokens', { body: { ...body, user: 'eve' }, headers });
    expect(other.status).toBe(409);
  });

  it('are refused with a key that is none', async () => {
    expect(await submit('bad', 'with space')).toMatchObject({
      status: 400,
      json: { error: { path: 'Idempotency-Key' } },
    });
  });
});

describe('lists', () => {
  it('come in pages that miss and repeat nothing while jobs come', async () => {
    const own = await serve();
    try {
      const names = Array.from({ length: 7 }, (_, n) => `job${n}`);
      for (const name of names) {
        await own.ask('POST', '/v1/jobs', { body: { submission: { job: { name, run: 'true' } } } });
      }
      const seen: string[] = [];
      let path = '/v1/jobs?limit=3';
      for (let cursor: string | null = ''; cursor !== null; ) {
        const { json } = await own.ask('GET', path);
        const page = json as { items: { name: string }[]; next: string | null };
        seen.push(...page.items.map(({ name }) => name));
        cursor = page.next;
        path = `/v1/jobs?limit=3&cursor=${cursor}`;
        await own.ask('POST', '/v1/jobs', { body: { submission: { job: { name: 'late', run: 'true' } } } });
      }
      expect(seen).toEqual([...names].reverse());
      expect((await own.ask('GET', '/v1/jobs?cursor=abc')).status).toBe(400);
    } finally {
      await own.end();
    }
  });
});
