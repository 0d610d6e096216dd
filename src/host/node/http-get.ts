import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { HttpAnswer } from '../network.ts';
import { codeOf } from './system-error.ts';

const mostBytes = 64 * 1024;

/** GET of a port of loopback, over IPv4, and over IPv6 where that is refused. The time counts for both together. */
export async function httpGet(port: number, path: string, timeoutMs: number): Promise<HttpAnswer> {
  const endsAt = performance.now() + timeoutMs;
  const answer = await getOnce('127.0.0.1', port, path, timeoutMs);
  if (answer.kind !== 'refused') return answer;
  return getOnce('::1', port, path, Math.max(1, endsAt - performance.now()));
}

function getOnce(host: string, port: number, path: string, timeoutMs: number): Promise<HttpAnswer> {
  return new Promise((resolve) => {
    let asked: ClientRequest | null = null;
    const finish = (answer: HttpAnswer): void => {
      clearTimeout(timer);
      asked?.destroy();
      resolve(answer);
    };
    const timer = setTimeout(finish, timeoutMs, { kind: 'timed-out' });
    const onResponse = (response: IncomingMessage): void => {
      const answer: HttpAnswer = { kind: 'answered', status: response.statusCode ?? 0 };
      // Read on to the end, as many servers complain of those who hang up early, but not for ever.
      let sizeBytes = 0;
      response.on('data', (part: Buffer) => {
        sizeBytes += part.length;
        if (sizeBytes > mostBytes) finish(answer);
      });
      response.once('end', () => finish(answer));
      response.once('error', (error) => finish({ kind: 'broken', message: error.message }));
    };
    try {
      const headers = { connection: 'close', 'user-agent': 'runyard-probe' };
      asked = request({ host, port, path, headers, agent: false, insecureHTTPParser: false }, onResponse);
      // An error after the end was told comes from our own hanging up.
      asked.on('error', (error) => finish(failureOf(error)));
      asked.end();
    } catch (error) {
      // A path that no request may hold, such as one with a line break.
      finish({ kind: 'broken', message: error instanceof Error ? error.message : String(error) });
    }
  });
}

/** No IPv6 at all is as good as a refusal: nothing listens there. */
const refusals: ReadonlySet<string> = new Set(['ECONNREFUSED', 'EADDRNOTAVAIL', 'EAFNOSUPPORT', 'ENETUNREACH']);

function failureOf(error: Error): HttpAnswer {
  if (refusals.has(codeOf(error) ?? '')) return { kind: 'refused' };
  return { kind: 'broken', message: error.message };
}
