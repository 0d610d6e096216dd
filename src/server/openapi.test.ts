import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../wire/http/routes.ts';
import { type Served, serve } from './served.testsuite.ts';

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required: boolean }[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, object>>;
}

let served: Served;
let document: {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
};
beforeAll(async () => {
  served = await serve();
  document = (await served.ask('GET', '/v1/openapi.json')).json as typeof document;
});
afterAll(() => served.end());

describe('the OpenAPI document', () => {
  it('has every route of the table, with its parameters, its body and its answers', () => {
    expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'Runyard' } });
    const operations = Object.values(document.paths).flatMap((one) => Object.values(one));
    expect(operations.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(routes).sort());
    for (const [name, route] of Object.entries(routes)) {
      const operation = document.paths[route.path]?.[route.method.toLowerCase()];
      const inPath = (operation?.parameters ?? []).filter((one) => one.in === 'path').map((one) => one.name);
      expect(inPath, name).toEqual([...route.path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter));
      expect(operation?.requestBody !== undefined, name).toBe('body' in route);
      expect(Object.keys(operation?.responses ?? {}), name).toContain('default');
    }
  });

  it('points only at what it has', () => {
    const pointers = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, pointer]) => pointer ?? '');
    expect(pointers.length).toBeGreaterThan(10);
    for (const pointer of new Set(pointers)) {
      let found: unknown = document;
      for (const part of pointer.replace('#/', '').split('/')) {
        found = (found as Readonly<Record<string, unknown>> | undefined)?.[part];
      }
      expect(found, pointer).toBeDefined();
    }
    expect(Object.keys(document.components.schemas)).toContain('Job');
  });
});
