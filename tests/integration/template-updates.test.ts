import { afterAll, beforeAll, expect, test } from 'bun:test';
import { lengthOf } from '../../src/automation/templates/versions.ts';
import { type Email, type LiveService, startLiveService } from '../support/live-service.ts';

let service: LiveService;
beforeAll(async () => {
  service = await startLiveService({ environment: { RATE_LIMIT_PREVIEW: '0' } });
});
afterAll(() => service[Symbol.asyncDispose]());

const ok = ({ status, body }: { readonly status: number; readonly body: Email }): Email => {
  if (status >= 300) throw new Error(JSON.stringify(body));
  return body.data;
};
const post = async (path: string, body: object): Promise<Email> => ok(await service.live.post(path, body));
const get = async (path: string): Promise<Email> => ok(await service.live.get(path));
const patch = async (id: string, body: object): Promise<Email> =>
  ok(await service.live.patch(`/v1/templates/${id}`, body));
const partial = (alias: string, html: string) =>
  post('/v1/templates', { name: alias, alias, kind: 'partial', html });

test('a draft stays the newest version when the layers of its template are updated', async () => {
  const footer = await partial('drafted-footer', '<i>one</i>');
  const { id } = await post('/v1/templates', {
    name: 'Drafted',
    subject: 's',
    html: "<p>published</p>{% render 'drafted-footer' %}",
  });
  await patch(id, { draft: true, html: "<p>draft</p>{% render 'drafted-footer' %}" });
  await patch(footer.id, { html: '<i>two</i>' });
  const { users } = await post(`/v1/templates/${footer.id}/update-users`, {});
  expect(users).toMatchObject([{ id, fromVersion: 1, toVersion: 3 }]);
  const versions = ok(await service.live.get(`/v1/templates/${id}/versions`));
  expect(versions.map(({ version, isCurrent }: Email) => [version, isCurrent])).toEqual([
    [4, false],
    [3, true],
    [2, false],
    [1, false],
  ]);
  const shown = async (version: number) =>
    (await post('/v1/templates/render-preview', { templateId: id, version })).html;
  expect(await shown(3)).toBe('<p>published</p><i>two</i>');
  expect(await shown(4)).toBe('<p>draft</p><i>two</i>');
  expect(await shown(2)).toBe('<p>draft</p><i>one</i>');
  // A change of the draft goes on with the draft.
  await patch(id, { draft: true, subject: 'other' });
  expect(await shown(5)).toBe('<p>draft</p><i>two</i>');

  // A draft that the new layers refuse stays as it is.
  await patch(id, { draft: true, html: "{% render 'drafted-footer' %}{% render 'drafted-footer' %}" });
  await patch(footer.id, { html: '<i>three</i>', variables: [{ key: 'year', required: true }] });
  const refused = await service.live.post(`/v1/templates/${footer.id}/update-users`, {});
  expect(refused.status).toBe(422);
  expect(await shown(6)).toBe('<i>two</i><i>two</i>');
});

test('lists of templates and versions have the members of before, and read no bodies', async () => {
  const { id } = await post('/v1/templates', {
    name: 'Listed',
    subject: 'Order {{ n }}',
    previewText: 'Soon',
    html: '<p>{{ n }}</p>',
    from: 'Shop <shop@sender.example>',
    replyTo: 'help@sender.example',
    variables: [{ key: 'n', required: true }],
  });
  const whole = await get(`/v1/templates/${id}`);
  const {
    html: _html,
    markdown: _,
    mjml: _mjml,
    text: _text,
    translations: _translations,
    layers: _l,
    usedBy: _u,
    ...item
  } = whole;
  expect((await get('/v1/templates?limit=1'))[0]).toEqual(item);
  const [listed] = await get(`/v1/templates/${id}/versions`);
  const {
    layers: _layers,
    html,
    markdown: _m,
    mjml: _mj,
    text: _t,
    translations: _tr,
    ...version
  } = await get(`/v1/templates/${id}/versions/1`);
  expect(html).toBe('<p>{{ n }}</p>');
  expect(listed).toEqual(version);
});

test('what uses a layer is updated up to 32 million characters together, and refused beyond', async () => {
  const most = 32 * 1_048_576;
  const heavy = await partial('heavy', 'x'.repeat(250_000));
  const user = (n: number) =>
    post('/v1/templates', { name: `User ${n}`, subject: 's', html: times3("{% render 'heavy' %}") });
  const times3 = (text: string) => text.repeat(3);
  const first = await user(0);
  const [row] = await service.service.database.query<{ content: string }>(
    'select content::text as content from template_versions where template_id = $1',
    [first.id],
  );
  // Of each user the version before and the one after count.
  const each = 2 * lengthOf(JSON.parse(row?.content ?? ''));
  const fits = Math.floor(most / each);
  expect(fits).toBeWithin(15, 30);
  for (let n = 1; n < fits; n++) await user(n);
  await patch(heavy.id, { html: 'y'.repeat(250_000) });
  const path = `/v1/templates/${heavy.id}/update-users`;
  expect((await post(path, { dryRun: true })).users).toHaveLength(fits);
  await user(fits);
  await patch(heavy.id, { html: 'z'.repeat(250_000) });
  const refused = await service.live.post(path, { dryRun: true });
  expect([refused.status, refused.body.error.code]).toEqual([409, 'CONFLICT']);
  expect(refused.body.error.message).toContain('more than 32 million characters together');
});
