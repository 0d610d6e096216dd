import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { checkTextDepth, guardDocument, largestDocumentBytes } from '../wire/document-guard.ts';
import type { Bytes, Route } from '../wire/http/route.ts';
import { refused } from './http-refusal.ts';
import { readShape } from './read-shape.ts';

/** The body of a request as its route takes it: nothing, a checked document, or a stream of bytes. */
export async function readBody(request: IncomingMessage, route: Route, waitMs: number): Promise<unknown> {
  checkEncoding(request);
  if (route.body === undefined) return undefined;
  if (isBytes(route.body)) return limitBytes(request, route.body.mostBytes, waitMs);
  const text = isAbsent(request) ? '{}' : await readText(request, route.mostBodyBytes ?? largestDocumentBytes, waitMs);
  checkTextDepth(text, 'the body');
  return readShape(route.body, guardDocument(parseJson(text), 'the body'), 'body');
}

/** Nothing was sent: of a body whose keys may all be absent that says the same. */
function isAbsent({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}

export function isBytes(body: Route['body']): body is Bytes {
  return body !== undefined && 'bytes' in body;
}

/** Nothing is unpacked, so that nothing can be a bomb [R4.16]. */
function checkEncoding({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || encoding.trim().toLowerCase() === 'identity') return;
  throw refused('UNSUPPORTED_ENCODING', `the body is encoded as ${JSON.stringify(encoding.slice(0, 40))}`, {
    hint: 'send it as it is, without Content-Encoding',
  });
}

async function readText(request: IncomingMessage, mostBytes: number, waitMs: number): Promise<string> {
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/json\b/i.test(type)) {
    const what = type === '' ? 'no type' : `type ${JSON.stringify(type.slice(0, 60))}`;
    throw refused('UNSUPPORTED_ENCODING', `the body is of ${what}`, {
      hint: 'send JSON: content-type: application/json',
    });
  }
  if (Number(request.headers['content-length'] ?? 0) > mostBytes) throw tooLarge(mostBytes);
  const parts: Buffer[] = [];
  let sizeBytes = 0;
  const late = alarm(waitMs);
  try {
    const iterator: AsyncIterator<Buffer> = request[Symbol.asyncIterator]();
    for (;;) {
      const next = await Promise.race([iterator.next(), late.rings]);
      if (next.done === true) return decodeUtf8(Buffer.concat(parts));
      sizeBytes += next.value.length;
      if (sizeBytes > mostBytes) throw tooLarge(mostBytes);
      parts.push(next.value);
    }
  } finally {
    late.cancel();
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refused('BAD_REQUEST', 'the body is not UTF-8');
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, 200) : 'unreadable';
    throw refused('BAD_REQUEST', `the body is not JSON: ${why}`);
  }
}

/** The same bytes, up to a limit, and failed when they pause for too long. */
function limitBytes(request: IncomingMessage, mostBytes: number, waitMs: number): Readable {
  if (Number(request.headers['content-length'] ?? 0) > mostBytes) throw tooLarge(mostBytes);
  return Readable.from(bytesWithin(request, mostBytes, waitMs), { objectMode: false });
}

async function* bytesWithin(request: IncomingMessage, mostBytes: number, waitMs: number): AsyncGenerator<Buffer> {
  let sizeBytes = 0;
  const iterator: AsyncIterator<Buffer> = request[Symbol.asyncIterator]();
  for (;;) {
    const late = alarm(waitMs);
    const next = await Promise.race([iterator.next(), late.rings]).finally(late.cancel);
    if (next.done === true) return;
    sizeBytes += next.value.length;
    if (sizeBytes > mostBytes) throw tooLarge(mostBytes);
    yield next.value;
  }
}

/** Fails after `waitMs` unless it is cancelled: what is waited for is left as it is, so that the failure can be answered. */
function alarm(waitMs: number): { readonly rings: Promise<never>; readonly cancel: () => void } {
  let cancel = (): void => {};
  const rings = new Promise<never>((_resolve, reject) => {
    const timer = setTimeout(() => {
      reject(refused('TIMED_OUT', `the body did not arrive within ${waitMs / 1000} s`));
    }, waitMs);
    cancel = () => clearTimeout(timer);
  });
  return { rings, cancel };
}

function tooLarge(mostBytes: number): Error {
  return refused('TOO_LARGE', `the body is larger than ${mostBytes} bytes`);
}
