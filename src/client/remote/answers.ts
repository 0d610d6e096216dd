import type * as z from 'zod';
import { type RefusalCode, refusals, refuse } from '../../core/refusal.ts';
import { apiError } from '../../wire/http/other-views.ts';
import { RefusalError } from '../refusal-error.ts';

/** What of an answer a newer server may have that this client does not know: more keys, and other words. */
const passedOver: ReadonlySet<string> = new Set(['unrecognized_keys', 'invalid_value', 'invalid_union']);

/** An answer by its schema. What a newer server adds is passed over; anything else that does not fit is no answer. */
export function readAnswer<Schema extends z.ZodType>(schema: Schema, json: unknown, where: string): z.output<Schema> {
  const read = schema.safeParse(json);
  if (read.success) return read.data;
  const wrong = read.error.issues.find(({ code }) => !passedOver.has(code));
  // It is what the schema says as far as this client looks at it.
  if (wrong === undefined) return json as z.output<Schema>;
  throw notOurs(`${where}: at ${wrong.path.join('.') || 'the top'}, ${wrong.message}`);
}

/** What a refused request is thrown as. */
export function readRefusal(status: number, text: string, asked: { place: string; what: string }): Error {
  const body = apiError.safeParse(parseJson(text));
  if (!body.success) return notOurs(`${asked.place} answers ${asked.what} with ${status}`);
  const { code, message, hint, path } = body.data.error;
  return new RefusalError(refuse(knownCode(code, status), message, { hint, path }));
}

/** A newer server may refuse for reasons that this client has no code for. */
export function knownCode(code: string, status: number): RefusalCode {
  if (Object.hasOwn(refusals, code)) return code as RefusalCode;
  return byStatus[status] ?? (status < 500 ? 'BAD_REQUEST' : 'INTERNAL');
}

const byStatus: Readonly<Record<number, RefusalCode>> = {
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  409: 'WRONG_STATE',
  413: 'TOO_LARGE',
  429: 'TOO_MANY',
  503: 'UNREACHABLE',
  507: 'STORE_FULL',
};

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function notOurs(message: string): RefusalError {
  const hint = 'is the address that of a Runyard server, and is there a proxy in between?';
  return new RefusalError(
    refuse('UNREACHABLE', `what answers is no Runyard server, or a much newer one: ${message}`, { hint }),
  );
}
