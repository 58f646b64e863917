import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { deleteTemplate } from '../../src/automation/templates/commands.ts';
import { DETAILS } from '../../src/automation/templates/model.ts';
import { versionsOf } from '../../src/automation/templates/versions.ts';
import { type Asking, pathsOf, type Told } from './ask.ts';
import { type RealService, startRealService } from './real-service.ts';

let service: RealService;
let key: string;
let live: string;
let made = 0;

beforeAll(async () => {
  service = await startRealService();
  key = await service.keyWith('test', ['*']);
  live = await service.keyWith('live', ['*']);
});
afterAll(() => service[Symbol.asyncDispose]());

const ask = (method: string, path: string, body?: unknown, more: Partial<Asking> = {}): Promise<Told> =>
  service.ask({ method, path, key, ...(body !== undefined && { body }), ...more });
const post = (path: string, body: unknown, more: Partial<Asking> = {}) => ask('POST', path, body, more);
const HTML = { name: 'Order', subject: 'Order {{ number }}', html: '<p>Hello {{ name }}</p>' };
const create = async (body: object = HTML) => {
  const told = await post('/v1/templates', body);
  if (told.status !== 201) throw new Error(told.text);
  return told.body.data;
};
const fresh = () => `alias-${++made}`;
const messagesOf = ({ body }: Told): string[] =>
  body.error.details.map((d: { message: string }) => d.message);

describe('what a template is', () => {
  test('is answered with all its members, and found by id and by alias', async () => {
    const alias = fresh();
    const variables = [
      { key: 'name', fallback: 'there' },
      { key: 'items', type: 'list', required: true },
    ];
    const told = await post('/v1/templates', {
      ...HTML,
      alias,
      previewText: 'Soon {{ name }}',
      from: 'Acme <a@acme.example>',
      replyTo: 'help@acme.example',
      text: 'Hi {{ name }}',
      variables,
    });
    expect(told.status).toBe(201);
    const { id, createdAt, updatedAt, ...template } = told.body.data;
    expect(id).toMatch(/^tpl_/);
    expect(createdAt).toBe(updatedAt);
    expect(template).toEqual({
      livemode: false,
      name: 'Order',
      alias,
      format: 'html',
      subject: HTML.subject,
      html: HTML.html,
      previewText: 'Soon {{ name }}',
      markdown: null,
      mjml: null,
      text: 'Hi {{ name }}',
      version: 1,
      from: 'Acme <a@acme.example>',
      replyTo: ['help@acme.example'],
      language: null,
      languages: [],
      translations: {},
      kind: 'template',
      layoutId: null,
      layers: [],
      usedBy: { count: 0, templates: [] },
      variables: [
        { key: 'name', type: 'string', required: false, fallback: 'there' },
        { key: 'items', type: 'list', required: true, fallback: null },
      ],
    });
    for (const name of [id, alias])
      expect((await ask('GET', `/v1/templates/${name}`)).body.data).toEqual(told.body.data);
  });

  test.each(DETAILS)(
    'has the detail %s, which a change alters alone and without a new version',
    async (name) => {
      const [first, second] = [fresh(), fresh()];
      const template = await create({ ...HTML, [name]: first });
      expect(template[name]).toBe(first);
      const path = `/v1/templates/${template.id}`;
      const changed = (await ask('PATCH', path, { [name]: second })).body.data;
      expect(changed).toEqual({ ...template, [name]: second, updatedAt: changed.updatedAt });
      expect((await ask('PATCH', path, { subject: 'Another' })).body.data[name]).toBe(second);
      expect((await post(`${path}/restore`, { version: 1 })).body.data[name]).toBe(second);
      expect((await ask('GET', path)).body.data[name]).toBe(second);
      const listed = (await ask('GET', '/v1/templates')).body.data;
      expect(listed.find(({ id }: { id: string }) => id === template.id)[name]).toBe(second);
    },
  );

  test('leaves its bodies out of the list, which is newest first and has pages', async () => {
    const [first, second] = [await create(), await create()];
    const page = await ask('GET', '/v1/templates?limit=1');
    expect(page.body.data[0].id).toBe(second.id);
    expect(Object.keys(page.body.data[0])).not.toContain('html');
    const next = await ask('GET', `/v1/templates?limit=1&after=${page.body.pagination.nextCursor}`);
    expect(next.body.data[0].id).toBe(first.id);
  });

  test('has an alias that is unique in its environment, and another may take it once it is free', async () => {
    const alias = fresh();
    const first = await create({ ...HTML, alias });
    expect((await post('/v1/templates', { ...HTML, alias })).body.error.code).toBe('CONFLICT');
    const other = await create();
    expect((await ask('PATCH', `/v1/templates/${other.id}`, { alias })).status).toBe(409);
    expect((await post('/v1/templates', { ...HTML, alias }, { key: live })).status).toBe(201);
    expect((await ask('PATCH', `/v1/templates/${first.id}`, { alias: null })).body.data.alias).toBe(null);
    expect((await ask('PATCH', `/v1/templates/${other.id}`, { alias })).body.data.version).toBe(1);
  });

  const refused: [what: string, body: object, paths: string[]][] = [
    ['no name', { html: 'x' }, ['/body/name']],
    ['no body', { name: 'x' }, ['/body/html']],
    ['a blank body', { name: 'x', html: ' \n' }, ['/body/html']],
    ['a body of 256 KiB and one octet', { name: 'x', html: 'é'.repeat(131_072).concat('x') }, ['/body/html']],
    ['markdown without the format', { name: 'x', markdown: 'Hi' }, ['/body/markdown']],
    [
      'html with the format emailmd',
      { name: 'x', format: 'emailmd', markdown: 'Hi', html: 'x' },
      ['/body/html'],
    ],
    ['emailmd without markdown', { name: 'x', format: 'emailmd' }, ['/body/markdown']],
    ['an unknown format', { name: 'x', format: 'markdown', html: 'x' }, ['/body/format']],
    ['a subject in two lines', { ...HTML, subject: 'a\nb' }, ['/body/subject']],
    ['an alias in capitals', { ...HTML, alias: 'Order' }, ['/body/alias']],
    ['an alias of 65', { ...HTML, alias: 'a'.repeat(65) }, ['/body/alias']],
    ['an alias like an id', { ...HTML, alias: `tpl_${'0'.repeat(24)}` }, ['/body/alias']],
    ['a sender that is none', { ...HTML, from: 'nobody' }, ['/body/from']],
    ['a reply address that is none', { ...HTML, replyTo: ['a@b.example', 'x'] }, ['/body/replyTo/1']],
    ['a variable called contact', { ...HTML, variables: [{ key: 'contact' }] }, ['/body/variables/0/key']],
    ['a variable twice', { ...HTML, variables: [{ key: 'a' }, { key: 'a' }] }, ['/body/variables/1/key']],
    ['a variable __proto__', { ...HTML, variables: [{ key: '__proto__' }] }, ['/body/variables/0/key']],
    [
      'a fallback of another type',
      { ...HTML, variables: [{ key: 'a', type: 'number', fallback: '1' }] },
      ['/body/variables/0/fallback'],
    ],
    [
      'a fallback of what is required',
      { ...HTML, variables: [{ key: 'a', required: true, fallback: 'x' }] },
      ['/body/variables/0/fallback'],
    ],
    ['misspelt members', { ...HTML, varables: [] }, ['/body/varables']],
    [
      'Liquid that does not parse',
      { ...HTML, html: '{% if a %}', subject: '{{ a' },
      ['/body/html', '/body/subject'],
    ],
    ['an unknown filter', { ...HTML, html: '{{ a | nonsense }}' }, ['/body/html']],
    ['a value in a script', { ...HTML, html: '<script>{{ a }}</script>' }, ['/body/html']],
    ['a value without quotes', { ...HTML, html: '<a href={{ a }}>x</a>' }, ['/body/html']],
    ['a value as an attribute', { ...HTML, html: '<a {{ a }}>x</a>' }, ['/body/html']],
    ['a value in a handler', { ...HTML, html: '<a onclick="{{ a }}">x</a>' }, ['/body/html']],
  ];
  for (const [what, body, paths] of refused)
    test(`is refused with ${what}`, async () => {
      const told = await post('/v1/templates', body);
      expect([told.status, told.body.error?.code]).toEqual([422, 'VALIDATION_ERROR']);
      expect(pathsOf(told)).toEqual(paths);
    });

  test('is refused with line and column of what does not parse', async () => {
    const told = await post('/v1/templates', { ...HTML, html: '<p>\n  {% unknown %}</p>' });
    expect(messagesOf(told)[0]).toMatch(/^Line 2, column 3: .*not found\.$/);
  });

  test('may have 256 KiB, and a value in a style element where its author writes raw', async () => {
    expect((await post('/v1/templates', { name: 'x', html: 'x'.repeat(262_144) })).status).toBe(201);
    expect((await post('/v1/templates', { ...HTML, html: '<style>{{ a | raw }}</style>' })).status).toBe(201);
  });
});

describe('versions', () => {
  const patch = (id: string, body: object) => ask('PATCH', `/v1/templates/${id}`, body);

  test('a change of content makes a new one that is sent at once, a change of the name makes none', async () => {
    const { id } = await create();
    expect((await patch(id, { name: 'Other' })).body.data).toMatchObject({ name: 'Other', version: 1 });
    expect((await patch(id, { subject: HTML.subject })).body.data.version).toBe(1);
    const { data } = (await patch(id, { subject: 'New' })).body;
    expect(data).toMatchObject({ version: 2, subject: 'New', html: HTML.html });
    const list = (await ask('GET', `/v1/templates/${id}/versions`)).body.data;
    expect(
      list.map((each: { version: number; isCurrent: boolean }) => [each.version, each.isCurrent]),
    ).toEqual([
      [2, true],
      [1, false],
    ]);
    const first = await ask('GET', `/v1/templates/${id}/versions/1`);
    expect(first.body.data).toMatchObject({ subject: HTML.subject, html: HTML.html, isCurrent: false });
    for (const none of ['3', '0', 'x', '99999999999'])
      expect((await ask('GET', `/v1/templates/${id}/versions/${none}`)).status).toBe(404);
  });

  test('a draft is kept aside, built upon, and sent when it is published', async () => {
    const { id } = await create();
    const draft = await patch(id, { subject: 'Draft', draft: true });
    expect(draft.body.data).toMatchObject({ version: 2, subject: 'Draft' });
    expect((await patch(id, { html: '<p>Draft</p>', draft: true })).body.data).toMatchObject({
      version: 3,
      subject: 'Draft',
      html: '<p>Draft</p>',
    });
    expect((await ask('GET', `/v1/templates/${id}`)).body.data).toMatchObject({ version: 1, ...HTML });
    const published = await post(`/v1/templates/${id}/publish`, { version: 3 });
    expect([published.status, published.body.data.version]).toEqual([200, 3]);
    expect((await ask('GET', `/v1/templates/${id}`)).body.data.html).toBe('<p>Draft</p>');
    expect((await post(`/v1/templates/${id}/publish`, { version: 4 })).status).toBe(404);
  });

  test('an earlier one comes back as a new one', async () => {
    const { id } = await create();
    await patch(id, { subject: 'Second' });
    const restored = await post(`/v1/templates/${id}/restore`, { version: 1 });
    expect(restored.body.data).toMatchObject({ version: 3, subject: HTML.subject });
    expect((await post(`/v1/templates/${id}/restore`, { version: 9 })).status).toBe(404);
  });

  test('of changes at once that name a version one is made, of those that name none all are', async () => {
    const { id } = await create();
    const at = (n: number, more: object) => patch(id, { subject: `At once ${n}`, ...more });
    const named = await Promise.all([1, 2, 3].map((n) => at(n, { ifVersion: 1 })));
    expect(named.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    expect((await patch(id, { subject: 'Late', ifVersion: 1 })).body.error.code).toBe('CONFLICT');
    const free = await Promise.all([4, 5, 6].map((n) => at(n, {})));
    expect(free.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await ask('GET', `/v1/templates/${id}`)).body.data.version).toBe(5);
  });

  test('a change of the format leaves behind what the other format has not', async () => {
    const { id } = await create();
    const told = await patch(id, { format: 'emailmd', markdown: '# Hi {{ name }}' });
    expect(told.body.data).toMatchObject({ format: 'emailmd', html: null, markdown: '# Hi {{ name }}' });
    expect(pathsOf(await patch(id, { html: 'x' }))).toEqual(['/body/html']);
  });
});

describe('deleting', () => {
  test('takes a template with its versions, and frees its alias', async () => {
    const alias = fresh();
    const { id } = await create({ ...HTML, alias });
    expect((await ask('DELETE', `/v1/templates/${alias}`)).status).toBe(204);
    for (const path of ['', '/versions', '/versions/1'])
      expect((await ask('GET', `/v1/templates/${id}${path}`)).status).toBe(404);
    expect((await post('/v1/templates', { ...HTML, alias })).status).toBe(201);
    const rows = await service.service.database.query(
      'select 1 from template_versions where template_id = $1',
      [id],
    );
    expect(rows).toEqual([]);
  });
});

describe('a template in use', () => {
  test('cannot be deleted, and the refusal says by what it is used', async () => {
    const { id } = await create({ ...HTML, name: 'In use' });
    const { database } = service.service;
    const uses = [
      { what: 'nobody', where: () => 'false' },
      {
        what: 'a flow',
        where: (of: string) => `exists (select from templates u where u.id = ${of} and u.name = 'In use')`,
      },
    ];
    const remove = () =>
      deleteTemplate({ database, versions: versionsOf(database), uses }, {
        caller: { workspaceId: service.workspaceId, livemode: false },
        params: { id },
      } as never);
    expect(await remove()).toMatchObject({ code: 'CONFLICT', message: 'The template is used by a flow.' });
    expect((await ask('PATCH', `/v1/templates/${id}`, { name: 'Idle' })).status).toBe(200);
    expect(await remove()).toBe(null);
    expect(await remove()).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('the wall between environments and workspaces', () => {
  test('is 404 on every endpoint, by id and by alias', async () => {
    const alias = fresh();
    const { id } = await create({ ...HTML, alias });
    const { database } = service.service;
    const other = `ws_${'1'.repeat(24)}`;
    await database.query(
      `insert into workspaces (id, name, plan, created_at) values ($1, 'Other', 'free', now()) on conflict do nothing`,
      [other],
    );
    const theirs = await create();
    await database.query('update templates set workspace_id = $2 where id = $1', [theirs.id, other]);
    const body = { from: 'a@b.example', to: 'c@d.example' };
    const calls = (name: string): [string, string, unknown?][] => [
      ['GET', `/v1/templates/${name}`],
      ['PATCH', `/v1/templates/${name}`, { subject: 'x' }],
      ['GET', `/v1/templates/${name}/versions`],
      ['GET', `/v1/templates/${name}/versions/1`],
      ['POST', `/v1/templates/${name}/publish`, { version: 1 }],
      ['POST', `/v1/templates/${name}/restore`, { version: 1 }],
      ['POST', '/v1/templates/render-preview', { templateId: name }],
      ['POST', '/v1/emails', { ...body, templateId: name }],
      ['DELETE', `/v1/templates/${name}`],
    ];
    for (const [by, names] of [
      [live, [id, alias]],
      [key, [theirs.id]],
    ] as const)
      for (const name of names)
        for (const [method, path, sent] of calls(name)) {
          const told = await ask(method, path, sent, { key: by });
          expect([method, path, told.status, told.body.error.message]).toEqual([
            method,
            path,
            404,
            'No such template.',
          ]);
        }
    const sent = { to: ['a@b.example'] };
    expect((await post(`/v1/templates/${id}/test-send`, sent, { key: live })).status).toBe(404);
    expect((await ask('GET', `/v1/templates/${id}`)).body.data).toMatchObject({ version: 1, alias });
  });
});
