import type { Readable } from 'node:stream';
import type * as z from 'zod';
import type { Embedded } from '../client/embedded.ts';
import type { Principal } from '../core/access/principal.ts';
import type { BodyOf, Bytes, QueryOf, Route } from '../wire/http/route.ts';
import type { ServerParts } from './server-parts.ts';

/** One request of a route, read and checked against the table. */
export interface Asked<R extends Route> {
  readonly params: Readonly<Record<ParamsOf<R['path']>, string>>;
  readonly query: QueryOf<R>;
  /** A stream where the table says bytes: never held whole. */
  readonly body: R extends { readonly body: Bytes } ? Readable : BodyOf<R>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Who asks. */
  readonly actor: Principal;
  /** The embedded client that acts for whoever asks. */
  readonly embedded: Embedded;
  readonly server: ServerParts;
  /** Aborts when the one who asked is gone, and when the server stops. */
  readonly signal: AbortSignal;
  /** Of a stream that was cut: the id of the last event that arrived. */
  readonly lastEventId: string | null;
}

/** What a handler gives back, by the kind of answer that the table promises. */
export type Given<R extends Route> = R['answer'] extends { readonly kind: 'json'; readonly schema: infer S }
  ? S extends z.ZodType
    ? DeepReadonly<z.output<S>>
    : never
  : R['answer'] extends { readonly kind: 'events'; readonly schema: infer S }
    ? S extends z.ZodType
      ? AsyncIterable<SentEvent<DeepReadonly<z.output<S>>>>
      : never
    : R['answer'] extends { readonly kind: 'bytes' }
      ? GivenBytes
      : R['answer'] extends { readonly kind: 'text' }
        ? GivenText
        : undefined;

export type Handler<R extends Route> = (asked: Asked<R>) => Promise<Given<R>>;

/** A handler for each route of a table but those that become WebSockets; one that is left out does not compile. */
export type HandlersOf<Table extends Readonly<Record<string, Route>>> = {
  readonly [Name in keyof Table as Table[Name]['answer'] extends { readonly kind: 'socket' } ? never : Name]: Handler<
    Table[Name]
  >;
};

/** One event of a stream; `id` is where to resume behind it, null where the state now is sent again anyway. */
export interface SentEvent<Data> {
  readonly id: string | null;
  readonly data: Data;
}

export interface GivenBytes {
  /** Of the whole. */
  readonly sizeBytes: number;
  /** Where only the rest of it was asked for: it begins here. */
  readonly fromBytes?: number;
  readonly bytes: AsyncIterable<Uint8Array>;
}

export interface GivenText {
  readonly contentType: string;
  readonly text: string;
}

/** `/v1/jobs/{id}` has the parameter `id`. */
export type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamsOf<Rest>
  : never;

/** Views are read-only, and what a schema puts out is not. */
export type DeepReadonly<Value> = Value extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> }
    : Value;
