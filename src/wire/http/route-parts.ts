import * as z from 'zod';
import type { Answer } from './route.ts';

/** Words that the tables of routes share. */

export const none = { kind: 'none' } as const;
export const bytesAnswer = { kind: 'bytes' } as const;
export const textAnswer = { kind: 'text' } as const;
export const socket = { kind: 'socket' } as const;

export function json<Schema extends z.ZodType>(schema: Schema): { readonly kind: 'json'; readonly schema: Schema } {
  return { kind: 'json', schema } satisfies Answer;
}

export function events<Schema extends z.ZodType>(schema: Schema): { readonly kind: 'events'; readonly schema: Schema } {
  return { kind: 'events', schema } satisfies Answer;
}

/** One page of a list: `next` is the cursor of the one after it, null on the last. */
export function page<Schema extends z.ZodType>(
  item: Schema,
): z.ZodObject<{ items: z.ZodArray<Schema>; next: z.ZodNullable<z.ZodString> }> {
  return z.object({ items: z.array(item), next: z.string().nullable() });
}

/** Numbers and yes-or-no in a query, where everything is text. */
export const queryNumber = z
  .string()
  .regex(/^\d{1,15}$/, 'a whole number')
  .transform(Number);
export const queryFlag = z.enum(['true', 'false']).transform((word) => word === 'true');

/** At most so many on a page; the server may give fewer. */
const pageLimit = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, 'a whole number above 0')
  .transform(Number);

export const paging = { limit: z.exactOptional(pageLimit), cursor: z.exactOptional(z.string().max(500)) };
