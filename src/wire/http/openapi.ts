import * as z from 'zod';
import { jobView } from './job-views.ts';
import * as views from './other-views.ts';
import type { Answer, Route } from './route.ts';
import { serviceView } from './service-views.ts';
import { jobSpec, settings } from './settings.ts';
import { prepared } from './submissions.ts';

/** A JSON object. */
type Json = Readonly<Record<string, unknown>>;

/** Schemas that several routes share, by the name that they have in the document. */
const shared = {
  Job: jobView,
  Service: serviceView,
  Node: views.nodeView,
  Event: views.eventView,
  LogPiece: views.logPiece,
  Error: views.apiError,
  Settings: settings,
  JobSpec: jobSpec,
  Submission: prepared,
} as const satisfies Record<string, z.ZodType>;

/** The API as an OpenAPI 3.1 document, from the very table that the server runs on. */
export function openApiDocument(
  routes: Readonly<Record<string, Route>>,
  version: string,
): { openapi: string } & Record<string, unknown> {
  const names = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(shared)) names.add(schema, { id });
  const schemas = new Map<string, unknown>();
  const write = (schema: z.ZodType, io: 'input' | 'output'): Json => {
    const { $schema: _, $defs = {}, ...own } = z.toJSONSchema(schema, { io, metadata: names, unrepresentable: 'any' });
    for (const [id, definition] of Object.entries($defs)) schemas.set(id, pointed(definition));
    return pointed(own) as Json;
  };
  const error = write(views.apiError, 'output');
  const paths: Record<string, Record<string, Json>> = {};
  for (const [name, route] of Object.entries(routes)) {
    const operations = paths[route.path] ?? {};
    operations[route.method.toLowerCase()] = operationOf(name, route, write);
    paths[route.path] = operations;
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Runyard', version, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { ...Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1))) },
      responses: { Refused: { description: 'refused', content: { 'application/json': { schema: error } } } },
    },
  };
}

type Write = (schema: z.ZodType, io: 'input' | 'output') => Json;

function operationOf(name: string, route: Route, write: Write): Json {
  const { summary, access, body, method, answer } = route;
  const parameters = [...pathParameters(route.path), ...queryParameters(route, write)];
  const key = { name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string', maxLength: 200 } };
  if (method !== 'GET') parameters.push(key);
  if (answer.kind === 'events') parameters.push({ ...key, name: 'Last-Event-ID', schema: { type: 'string' } });
  return {
    operationId: name,
    summary,
    ...(access === 'public' ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { required: true, content: bodyOf(body, write) } }),
    responses: { ...answerOf(answer, write), default: { $ref: '#/components/responses/Refused' } },
  };
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters({ query }: Route, write: Write): Json[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = write(query, 'input') as { properties?: Json; required?: string[] };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
}

function bodyOf(body: NonNullable<Route['body']>, write: Write): Json {
  if ('bytes' in body) return { 'application/octet-stream': { schema: {} } };
  return { 'application/json': { schema: write(body, 'input') } };
}

function answerOf(answer: Answer, write: Write): Json {
  switch (answer.kind) {
    case 'json':
      return {
        200: { description: 'done', content: { 'application/json': { schema: write(answer.schema, 'output') } } },
      };
    case 'none':
      return { 204: { description: 'done' } };
    case 'events':
      return {
        200: {
          description: 'server-sent events; the data of each is JSON of this form',
          content: { 'text/event-stream': { schema: write(answer.schema, 'output') } },
        },
      };
    case 'bytes':
      return { 200: { description: 'the bytes', content: { 'application/octet-stream': { schema: {} } } } };
    case 'text':
      return { 200: { description: 'text', content: { 'text/plain': { schema: { type: 'string' } } } } };
    case 'socket':
      return { 101: { description: 'becomes a WebSocket' } };
  }
}

/** Points at the components of the document, where zod points at definitions beside the schema. */
function pointed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pointed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'id' || typeof (value as Json).id !== 'string')
      .map(([key, one]) => [
        key,
        key === '$ref' && typeof one === 'string' ? one.replace('#/$defs/', '#/components/schemas/') : pointed(one),
      ]),
  );
}
