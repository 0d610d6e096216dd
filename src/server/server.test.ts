import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick, type Served, serve } from './served.testsuite.ts';

let served: Served;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.end());

describe('a server', () => {
  it('says that it is well to anybody', async () => {
    const { status, json } = await served.ask('GET', '/v1/health', { token: null });
    expect(status).toBe(200);
    expect(json).toMatchObject({ status: 'ok', oidc: null });
  });

  it('takes a job and shows it', async () => {
    const body = { submission: { job: { name: 'hello', run: 'true' } } };
    const submitted = await served.ask('POST', '/v1/jobs', { body });
    expect(submitted).toMatchObject({ status: 200, json: { id: expect.stringMatching(/^hello-/) } });
    const id = pick(submitted.json, 'id');
    const shown = await served.ask('GET', `/v1/jobs/${id}`);
    expect(shown).toMatchObject({ status: 200, json: { id, state: 'PENDING', owner: 'admin' } });
  });
});
