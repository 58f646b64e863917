import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import Ajv from 'ajv/dist/2020';
import { isDateTime } from '../../src/http/request/schema.ts';
import { MODULE_TAGS } from '../../src/modules.ts';
import { LONGEST_RETENTION } from '../../src/platform/config/settings/settings.ts';
import { isId } from '../../src/platform/db/ids.ts';
import { STATUS_OF } from '../../src/platform/errors/failure.ts';
import { EMAIL_EVENTS } from '../../src/sending/emails/read/event-model.ts';
import { SIMULATED_OUTCOMES } from '../../src/sending/emails/simulator/simulated-addresses.ts';
import { openReferencePack } from '../../src/web/dashboard/pack.ts';
import type { Operation } from '../../src/web/docs/openapi/document.ts';
import { NamedSchemas } from '../../src/web/docs/openapi/json-schema.ts';
import { openApiOf } from '../../src/web/docs/openapi/openapi.ts';
import { PAGE_GROUPS } from '../../src/web/docs/pages/pages.ts';
import { eventually } from '../support/eventually.ts';
import type { Asking } from './ask.ts';
import { OPEN_API, type RealService, ROUTES, startRealService } from './real-service.ts';

let service: RealService;
let key: string;

beforeAll(async () => {
  [service] = await Promise.all([
    startRealService({ PUBLIC_URL: 'https://mail.example.com' }),
    openReferencePack(),
  ]);
  key = await service.keyWith('test', ['*']);
});
afterAll(() => service[Symbol.asyncDispose]());

const PAGES = PAGE_GROUPS.flatMap(({ pages }) => pages.map(({ path }) => path)).filter(
  (path) => path !== '/openapi.json',
);

const operations = Object.entries(OPEN_API.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    operation,
  })),
);

describe('the OpenAPI document', () => {
  test('is served as generated, with the address at which the service is reached', async () => {
    const response = await fetch(`${service.url}/openapi.json`);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual(
      JSON.parse(
        JSON.stringify(
          openApiOf(ROUTES, MODULE_TAGS, { baseUrl: 'https://mail.example.com', ...LONGEST_RETENTION }),
        ),
      ),
    );
  });

  test.each(operations)(
    '$name says what it does, who may, what can go wrong, and shows it',
    ({ operation }) => {
      expect(operation.summary).toMatch(/^[A-Z][^.]+$/);
      expect(operation.description).toMatch(/Needs the permission|Any API key|Needs no API key/);
      expect(Object.keys(operation.responses).filter((status) => status >= '400').length).toBeGreaterThan(2);
      if (successOf(operation).status !== 204) expect(successOf(operation).example).toBeDefined();
      const asked = operation.requestBody?.content['application/json'];
      if (asked) expect(asked).toHaveProperty('example');
    },
  );

  // One for all operations: to read the document takes 50 ms of processor time, and most share their schemas.
  const ajv = new Ajv({ strict: false, formats: { 'date-time': isDateTime, uri: true } });
  ajv.addSchema(OPEN_API, 'openapi.json');

  test.each(operations)('$name: the examples fit their schemas, down to the ids', ({ operation }) => {
    const { media, example } = successOf(operation);
    const shown = [media, operation.requestBody?.content['application/json']];
    for (const each of shown) {
      if (!each) continue;
      const schema = JSON.parse(JSON.stringify(each.schema).replaceAll('"#/', '"openapi.json#/'));
      const validate = ajv.compile(schema);
      expect(validate(each.example), ajv.errorsText(validate.errors)).toBe(true);
    }
    const ids = JSON.stringify(example ?? null).match(/"(em|evt|key|ws|wh|dlv|dom|tpl)_\w+"/g) ?? [];
    for (const id of ids.map((quoted) => quoted.slice(1, -1))) {
      expect(isId(id.slice(0, id.indexOf('_')) as 'em', id), id).toBe(true);
    }
  });
});

describe('what types are generated from', () => {
  const document = openApiOf(ROUTES, MODULE_TAGS, {
    baseUrl: 'http://localhost:3000',
    ...LONGEST_RETENTION,
  });
  const published = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
  );

  test('an operation is called by what it does, and none like another', () => {
    const names = published.map(({ operation }) => operation.operationId);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names)
      expect(name).toMatch(
        /^(get|list|send|create|update|delete|cancel|reschedule|explain|verify|rotate|test|redeliver|replay|revoke|export|preview|publish|restore|import|duplicate|pause|unschedule|validate|activate|start|simulate|wait|advance|plan|check|count)[A-Z]\w+$/,
      );
    expect(names).toContain('sendEmail');
    expect(names).toContain('listEmails');
  });

  test.each(published)('$name: bodies and data are schemas with a name', ({ operation }) => {
    const body = operation.requestBody?.content['application/json']?.schema;
    if (body) expect(body.$ref).toMatch(/^#\/components\/schemas\/[A-Z]\w+$/);
    for (const response of Object.values(operation.responses)) {
      if ('$ref' in response) continue;
      const data = response.content?.['application/json']?.schema.properties?.data;
      if (data) expect((data.items ?? data).$ref).toMatch(/^#\/components\/schemas\/[A-Z]\w+$/);
    }
  });

  // orval 7.13 names the type of a member by its schema and its own name: two `CampaignPreviewText` did not
  // compile.
  test('no two members of schemas make the same name', () => {
    const names = Object.entries(document.components.schemas).flatMap(([schema, { properties = {} }]) =>
      Object.keys(properties).map((member) => `${schema}${member.charAt(0).toUpperCase()}${member.slice(1)}`),
    );
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  // openapi-typescript-codegen 0.31 writes a type for each, and exports it by its name.
  test('no parameter has the name of a schema', () => {
    const { parameters, schemas } = document.components;
    expect(Object.keys(parameters).filter((name) => name in schemas)).toEqual([]);
  });

  test('the webhooks section has an entry for each type of event, with the members of its data', () => {
    expect(Object.keys(document.webhooks).toSorted()).toEqual(Object.keys(EMAIL_EVENTS).toSorted());
    for (const [type, { post }] of Object.entries(document.webhooks)) {
      const reference = String(post.requestBody.content['application/json']?.schema.$ref);
      const schema = document.components.schemas[reference.slice(reference.lastIndexOf('/') + 1)];
      expect(schema?.properties?.type?.const).toBe(type);
      expect(schema?.properties?.data?.required).toEqual(
        EMAIL_EVENTS[type as 'sent'].properties.data.required,
      );
    }
  });

  test('the description tells how long things are kept, and every fate that the simulator has', () => {
    const { description } = document.info;
    expect(description).toContain('kept for 7 days from their acceptance, live ones for 90 days from');
    for (const name of SIMULATED_OUTCOMES) expect(description).toContain(`\`${name}@\``);
  });

  test('the description tells the retention of this installation', () => {
    const installation = { baseUrl: 'http://localhost:3000', retentionTestDays: 1, retentionLiveDays: 30 };
    const { description } = openApiOf(ROUTES, MODULE_TAGS, installation).info;
    expect(description).toContain('kept for 1 day from their acceptance, live ones for 30 days from');
  });

  test('two schemas cannot have one name', () => {
    const named = new NamedSchemas();
    named.refer('Thing', { type: 'string' });
    named.refer('Thing', { type: 'string' });
    expect(() => named.refer('Thing', { type: 'number' })).toThrow('Two schemas have the name Thing.');
  });
});

describe('the documentation pages', () => {
  const read = async (path: string) => {
    const response = await fetch(`${service.url}${path}`);
    return { response, text: await response.text() };
  };

  /** The pages that others link to, each read once: every page links to all. */
  const linkedPages = new Map<string, string>();

  test('have an entry for each error code, under the anchor that errors link to', async () => {
    const { text } = await read('/docs/errors');
    for (const code of Object.keys(STATUS_OF)) expect(text).toContain(`<article class="code" id="${code}">`);
  });

  test('are where the link of an error leads', async () => {
    const reply = await service.ask({ path: '/v1/nothing' });
    const link = new URL(reply.body.error.docs);
    expect(link.origin).toBe('https://mail.example.com');
    const { response, text } = await read(link.pathname);
    expect(response.status).toBe(200);
    expect(text).toContain(`id="${link.hash.slice(1)}"`);
  });

  test('list every operation in the reference, before and without its script', async () => {
    const { text } = await read('/docs');
    for (const { operation } of operations) expect(text).toContain(`id="${operation.operationId}"`);
  });

  test('are found by the search, with every operation and every error code', async () => {
    const places = JSON.parse((await read('/docs/search.json')).text) as { href: string }[];
    const found = new Set(places.map(({ href }) => href.slice(href.lastIndexOf('/') + 1)));
    for (const { operation } of operations) expect(found).toContain(operation.operationId);
    for (const code of Object.keys(STATUS_OF)) expect(found).toContain(`errors#${code}`);
    expect(new Set(places.map(({ href }) => href)).size).toBe(places.length);
  });

  test.each(PAGES)(
    '%s: every link within the pages leads somewhere, and nothing is loaded from elsewhere',
    async (path) => {
      const { response, text } = await read(path);
      linkedPages.set(path, text);
      for (const [, href = ''] of text.matchAll(/ (?:href|src)="([^"]*)"/g)) {
        expect(href).toMatch(/^[/#]/);
        const [page = '', anchor] = href.split('#');
        const target: string = page === '' ? path : page;
        // The application's own paths are tested with it (dashboard-paths.test.ts).
        if (target.startsWith('/app')) continue;
        if (!linkedPages.has(target)) {
          const linked = await read(target);
          expect([target, linked.response.status]).toEqual([target, 200]);
          linkedPages.set(target, linked.text);
        }
        if (anchor) expect(linkedPages.get(target)).toContain(`id="${anchor}"`);
      }
      const policy = response.headers.get('content-security-policy') ?? '';
      expect(policy).toStartWith("default-src 'none'");
      expect(policy).not.toContain('unsafe');
      expect(text).not.toMatch(/<script(?! src)|<style|style="|onclick/);
    },
  );
});

describe('the examples of the documentation match the service', () => {
  /** The same for two replies that differ only in what chance and time decide. */
  const masked = (value: unknown): unknown =>
    JSON.parse(
      JSON.stringify(value)
        .replace(/(?<=["<])([a-z]+)_[0-9a-hjkmnp-tv-z]{24}/g, '$1_…')
        .replace(/svc_(live|test)_\w{32}/g, 'svc_$1_…')
        .replace(/svc_…\w{4}/g, 'svc_…')
        .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time'),
    );
  const operation = (name: string) => {
    const found = operations.find((each) => each.name === name);
    if (!found) throw new Error(`${name} is not documented`);
    return found.operation;
  };
  /** Asks for what the example shows and compares. */
  const holds = async (name: string, asking: Asking) => {
    const reply = await service.ask({ key, method: name.split(' ')[0] ?? '', ...asking });
    const { status, example } = successOf(operation(name));
    expect(reply.status).toBe(status);
    expect(masked(reply.body)).toEqual(masked(example));
    return reply.body.data;
  };
  const bodyOf = (name: string) =>
    operation(name).requestBody?.content['application/json']?.example as Record<string, unknown>;
  const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString();

  test('for an email from acceptance to delivery', async () => {
    const { id } = await holds('POST /v1/emails', { path: '/v1/emails', body: bodyOf('POST /v1/emails') });
    await eventually('the delivery', async () => {
      const { body } = await service.ask({ path: `/v1/emails/${id}`, key });
      return body.data.status === 'delivered' || undefined;
    });
    await holds('GET /v1/emails', { path: '/v1/emails' });
    await holds('GET /v1/emails/{id}', { path: `/v1/emails/${id}` });
    await holds('GET /v1/emails/{id}/events', { path: `/v1/emails/${id}/events` });
  });

  test('for a scheduled email', async () => {
    const body = { ...bodyOf('POST /v1/emails'), scheduledAt: tomorrow() };
    const { id } = (await service.ask({ method: 'POST', path: '/v1/emails', key, body })).body.data;
    await holds('PATCH /v1/emails/{id}', { path: `/v1/emails/${id}`, body: { scheduledAt: tomorrow() } });
    await holds('DELETE /v1/emails/{id}', { path: `/v1/emails/${id}` });
  });

  test('for an API key', async () => {
    const create = 'POST /v1/api-keys';
    const { id } = await holds(create, { path: '/v1/api-keys', body: bodyOf(create) });
    const patch = 'PATCH /v1/api-keys/{id}';
    await holds(patch, { path: `/v1/api-keys/${id}`, body: bodyOf(patch) });
    await holds('DELETE /v1/api-keys/{id}', { path: `/v1/api-keys/${id}` });
  });

  test('for the workspace and the health endpoint', async () => {
    for (const [name, path] of [
      ['GET /v1/workspace', '/v1/workspace'],
      ['GET /health', '/health'],
    ] as const) {
      const { body } = await service.ask({ path, key });
      expect(shapeOf(body)).toEqual(shapeOf(successOf(operation(name)).example));
    }
  });
});

// Last, since the lines leave behind what they make.
describe('every curl line of the reference runs unchanged', () => {
  /** The samples that the reference shows beside each operation. */
  const linesOf = async (): Promise<string[]> => {
    const { paths } = (await (await fetch(`${service.url}/openapi.json`)).json()) as typeof OPEN_API;
    return Object.values(paths).flatMap((methods) =>
      Object.values(methods).flatMap((each) => each['x-codeSamples']?.map(({ source }) => source) ?? []),
    );
  };

  test('each operation has one, with nothing left to fill in but the key', async () => {
    const lines = await linesOf();
    expect(lines).toHaveLength(operations.length);
    for (const line of lines) {
      const address = /^curl (?:-X [A-Z]+ )?'https:\/\/mail\.example\.com(\/[^']*)'/.exec(line)?.[1] ?? line;
      // Characters that curl takes for a list or a range of addresses, or a shell for the end of a word.
      expect(address).not.toMatch(/[{}[\]\s…<>]/);
    }
  });

  const curl = Bun.which('curl');
  if (curl === null) console.log('Not shown here, since there is no curl: what it makes of each line.');
  test.skipIf(curl === null)('and the service answers each with what the operation states', async () => {
    for (const line of await linesOf()) {
      const here = line.replace('https://mail.example.com', service.url);
      const run = Bun.spawn(['sh', '-c', `${here} -s -o /dev/null -w '%{http_code}'`], {
        // The files that are sent lie there: example.png.
        cwd: join(import.meta.dir, 'files'),
        env: { PATH: process.env.PATH ?? '', POSTHORN_API_KEY: key },
        stderr: 'pipe',
      });
      const [status, exit] = [await new Response(run.stdout).text(), await run.exited];
      const [, method = 'GET', path = ''] =
        /^curl (?:-X ([A-Z]+) )?'https:\/\/[^/]+([^']*)'/.exec(line) ?? [];
      const stated = operations.find(
        ({ name }) =>
          name.startsWith(`${method} `) &&
          new RegExp(`^${name.slice(method.length + 1).replace(/\{\w+\}/g, '[^/]+')}$`).test(path),
      );
      expect({ line, exit, known: Object.keys(stated?.operation.responses ?? {}).includes(status) }).toEqual({
        line,
        exit: 0,
        known: true,
      });
      // Not refused for its form: an example may only name what does not exist here, or exists already, or
      // a day that is over, or Stripe, which is off.
      // The file of a `--data-binary` is the reader's own.
      if (!line.includes('"scheduledAt"') && !line.includes('--data-binary'))
        expect(`${status} ${line}`).toMatch(/^(2\d\d|403|404|409|503) /);
    }
  });
});

/** The form of a success of the operation. */
function successOf({ responses }: Operation) {
  for (const [status, response] of Object.entries(responses)) {
    if ('$ref' in response) continue;
    const media = Object.values(response.content ?? {})[0];
    return { status: Number(status), media, example: media?.example };
  }
  throw new Error('an operation without a success');
}

/** The names of all members, and the types of what they hold. */
function shapeOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]));
}
