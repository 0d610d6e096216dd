import type * as z from 'zod';

/**
 * One route of the HTTP API, as data: the server mounts it, the client calls it by its name, and the OpenAPI document
 * is generated from it.
 */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Parameters stand in braces: `/v1/jobs/{id}`. */
  readonly path: string;
  /** One line for the reference. */
  readonly summary: string;
  /** Who is let in at all; what they may do there is decided by their role. */
  readonly access: Access;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType | Bytes;
  /** Of a JSON body; 1 MiB unless it says more [R4.14]. */
  readonly mostBodyBytes?: number;
  readonly answer: Answer;
}

/** `public`: anybody. `user`: a user's token. `node`: the key of a node. `join`: a join token. `identity`: a token of the OIDC issuer. */
export type Access = 'public' | 'user' | 'node' | 'user-or-node' | 'join' | 'identity';

/** A body of bytes that is streamed and never held whole. */
export interface Bytes {
  readonly bytes: true;
  readonly mostBytes: number;
}

export type Answer =
  | { readonly kind: 'json'; readonly schema: z.ZodType }
  /** Nothing but that it was done. */
  | { readonly kind: 'none' }
  /** Server-sent events, each with an id to resume after (`Last-Event-ID`). */
  | { readonly kind: 'events'; readonly schema: z.ZodType }
  | { readonly kind: 'bytes' }
  | { readonly kind: 'text' }
  /** Becomes a WebSocket. */
  | { readonly kind: 'socket' };

/** `/v1/jobs/{id}` has the parameter `id`. */
export type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamsOf<Rest>
  : never;

/** What a request's query becomes once read. */
export type QueryOf<R extends Route> = R extends { readonly query: infer Q extends z.ZodObject } ? z.output<Q> : object;
export type BodyOf<R extends Route> = R extends { readonly body: infer B extends z.ZodType } ? z.output<B> : undefined;
export type AnswerOf<R extends Route> = R['answer'] extends { readonly schema: infer S extends z.ZodType }
  ? z.output<S>
  : undefined;
