import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Asking, Told } from './ask.ts';
import { type RealService, startRealService } from './real-service.ts';

let service: RealService;
let key: string;
let live: string;

beforeAll(async () => {
  service = await startRealService();
  key = await service.keyWith('test', ['*']);
  live = await service.keyWith('live', ['*']);
});
afterAll(() => service[Symbol.asyncDispose]());

const post = (path: string, body: unknown, more: Partial<Asking> = {}): Promise<Told> =>
  service.ask({ method: 'POST', path, key, body, ...more });

describe('previews', () => {
  test('have a separate limit by client address, also where there is no other', async () => {
    await using limited = await startRealService({ RATE_LIMIT_PREVIEW: '2', RATE_LIMIT_PER_KEY: '4' });
    const by = await limited.keyWith('test', ['templates:read']);
    const asking = { method: 'POST', path: '/v1/templates/render-preview', key: by, body: { html: 'x' } };
    const told = await limited.ask(asking);
    expect([
      told.status,
      told.headers.get('x-ratelimit-limit'),
      told.headers.get('x-ratelimit-remaining'),
    ]).toEqual([200, '2', '1']);
    expect((await limited.ask(asking)).status).toBe(200);
    const over = await limited.ask(asking);
    expect([over.status, over.body.error.code, over.headers.has('retry-after')]).toEqual([
      429,
      'RATE_LIMITED',
      true,
    ]);
    const list = await limited.ask({ path: '/v1/templates', key: by });
    expect([list.status, list.headers.has('x-ratelimit-limit')]).toEqual([200, false]);
  });
});

describe('a preview', () => {
  const preview = async (body: object): Promise<Told['body']> =>
    (await post('/v1/templates/render-preview', body, { key: live })).body.data;
  const codes = async (html: string): Promise<string[]> =>
    (await preview({ subject: 's', html })).warnings.map(({ code }: { code: string }) => code);

  test('warns of a message that Gmail clips, and of a missing way to unsubscribe where one is needed', async () => {
    const [most, tail] = [92_160, '<p>end</p>'];
    const long = (length: number) => 'é'.repeat((length - tail.length) / 2) + tail;
    expect(await codes(long(most))).toEqual([]);
    expect(await codes(`${long(most)}x`)).toEqual(['clipped']);
    for (const name of ['contact.email', 'campaign.name', 'event.total']) {
      expect(await codes(`{{ ${name} }}`)).toEqual(['no_unsubscribe_link']);
      expect(await codes(`{{ ${name} }} <a href="{{ unsubscribeUrl }}">x</a>`)).toEqual([]);
    }
    expect(await codes('Your order')).toEqual([]);
  });

  test('refuses the subjects that sending refuses, in the same words', async () => {
    const alias = 'preview-of-subjects';
    const variables = [{ key: 'code', required: true }];
    const made = { name: 'x', alias, subject: '{{ code }}{{ more }}', html: 'x', variables };
    expect((await post('/v1/templates', made)).status).toBe(201);
    const to = { from: 'a@acme.example', to: 'c@d.example' };
    for (const [values, refused] of [
      [{ code: 'x'.repeat(998) }, false],
      [{ code: 'x'.repeat(998), more: 'y' }, true],
      [{ code: '' }, true],
      [{ code: ' \t ' }, true],
      [{ code: 'é'.repeat(998) }, false],
      [{ code: '📦'.repeat(998) }, false],
      [{ code: '📦'.repeat(998), more: 'y' }, true],
    ] as const) {
      const body = { templateId: alias, variables: values };
      const shown = await post('/v1/templates/render-preview', body);
      const sent = await post('/v1/emails', { ...to, ...body });
      expect([shown.status, sent.status]).toEqual(refused ? [422, 422] : [200, 202]);
      if (refused) expect(shown.body.error.details).toEqual(sent.body.error.details);
    }
    const lacking = await post('/v1/templates/render-preview', { templateId: alias });
    expect(lacking.body.data).toMatchObject({ subject: '', missingVariables: ['code', 'more'] });
    const bare = await post('/v1/templates/render-preview', { html: 'x' });
    expect(bare.body.data).toMatchObject({ subject: null, warnings: [{ code: 'no_subject' }] });
  });

  test('misses no length and no end of what has a value', async () => {
    const html = '{{ v.size }}{{ v.first }}{{ v.last }}{{ s.size }}{{ o.size }}{{ o.first }}{{ none.size }}';
    const shown = await post('/v1/templates/render-preview', {
      subject: 's',
      html,
      variables: { v: [1, 2], s: 'abc', o: { a: 1 } },
    });
    expect(shown.body.data).toMatchObject({ html: '21231', missingVariables: ['none.size', 'o.first'] });
  });

  test('by alias and version knows the names of the workspace', async () => {
    const branding = { address: '1 Main Street', website: 'https://acme.example/' };
    const changed = { method: 'PATCH', path: '/v1/workspace', key: live };
    await service.ask({ ...changed, body: { name: 'Acme & Sons', branding } });
    const alias = 'preview-of-names';
    const names = ['name', 'address', 'website', 'logoUrl'].map((name) => `{{ workspace.${name} }}`);
    const body = { name: 'x', alias, html: names.join('|') };
    expect((await post('/v1/templates', body, { key: live })).status).toBe(201);
    const { html, missingVariables } = await preview({ templateId: alias, version: 1 });
    expect(html).toBe('Acme &amp; Sons|1 Main Street|https://acme.example/|');
    expect(missingVariables).toEqual(['workspace.logoUrl']);
    const none = { templateId: alias, version: 2 };
    expect((await post('/v1/templates/render-preview', none, { key: live })).status).toBe(404);
  });
});
