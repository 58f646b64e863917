import { afterAll, beforeAll, expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { gifOf, vp8l, webpOf } from '../support/pictures.ts';
import { type RealService, startRealService } from './real-service.ts';

let service: RealService;
const keys = { live: '', test: '', reader: '' };
beforeAll(async () => {
  service = await startRealService();
  keys.live = await service.keyWith('live', ['*']);
  keys.test = await service.keyWith('test', ['*']);
  keys.reader = await service.keyWith('live', ['templates:read']);
});
afterAll(() => service[Symbol.asyncDispose]());

const upload = (body: Uint8Array, { type = 'image/gif', key = keys.live, query = '', headers = {} } = {}) =>
  service.ask({
    method: 'POST',
    path: `/v1/assets${query}`,
    key,
    body,
    headers: { 'content-type': type, ...headers },
  });
/** An image that no other test has. */
let width = 0;
const next = () => gifOf({ width: ++width, height: 1 });
const get = (id: string, key = keys.live) => service.ask({ path: `/v1/assets/${id}`, key });
const remove = (id: string, query = '', key = keys.live) =>
  service.ask({ method: 'DELETE', path: `/v1/assets/${id}${query}`, key });

test('an image is stored by its content and served to everybody, once for both environments', async () => {
  const picture = webpOf(vp8l(30, 20));
  const made = await upload(picture, { query: '?filename=Spring%20sale.png', type: 'image/png' });
  expect(made.status).toBe(201);
  const { data } = made.body;
  expect(data).toMatchObject({
    filename: 'Spring sale.png',
    contentType: 'image/webp',
    width: 30,
    height: 20,
    size: picture.length,
    usedBy: [],
    lastShownOn: null,
  });
  expect(data.url).toMatch(/^http:\/\/localhost:3000\/images\/[0-9a-f]{64}\.webp$/);
  const shown = await fetch(`${service.url}${new URL(data.url).pathname}`);
  expect(Object.fromEntries(shown.headers)).toMatchObject({
    'content-type': 'image/webp',
    'x-content-type-options': 'nosniff',
    'cache-control': 'public, max-age=31536000, immutable',
    'content-security-policy': "default-src 'none'; sandbox",
  });
  expect(shown.headers.get('set-cookie')).toBeNull();
  expect(Buffer.from(await shown.bytes()).equals(picture)).toBe(true);
  expect((await get(data.id, keys.test)).body.data.id).toBe(data.id);
  const again = await upload(picture, { key: keys.test, query: '?filename=other.webp' });
  expect(again.body.data).toMatchObject({ id: data.id, filename: 'Spring sale.png' });
  const { body: list } = await service.ask({ path: '/v1/assets', key: keys.reader });
  expect(list.data.map(({ id }: { id: string }) => id)).toEqual([data.id]);
});

test('a repeated request with its key has one effect and the same answer', async () => {
  const picture = next();
  const headers = { 'idempotency-key': 'upload-1' };
  const [first, second] = [await upload(picture, { headers }), await upload(picture, { headers })];
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.headers.get('idempotency-replayed')).toBe('true');
  expect(second.body).toEqual(first.body);
  expect((await upload(next(), { headers })).body.error.code).toBe('IDEMPOTENCY_CONFLICT');
});

test('anything that is no image, too large, or sent by a reader is refused', async () => {
  for (const [body, type, status, code] of [
    [Buffer.from('<svg/>'), 'image/svg+xml', 415, 'UNSUPPORTED_MEDIA_TYPE'],
    [Buffer.from('<svg/>'), 'image/png', 422, 'VALIDATION_ERROR'],
    [Buffer.concat([next(), Buffer.from('<script>')]), 'image/gif', 422, 'VALIDATION_ERROR'],
    [Buffer.alloc(5_242_880), 'image/png', 422, 'VALIDATION_ERROR'],
    [Buffer.alloc(5_242_881), 'image/png', 413, 'PAYLOAD_TOO_LARGE'],
  ] as const) {
    const told = await upload(body, { type });
    expect([told.status, told.body.error.code]).toEqual([status, code]);
  }
  expect((await upload(next(), { key: keys.reader })).status).toBe(403);
  for (const query of ['?filename=a%2Fb.png', '?filename=', `?filename=${'x'.repeat(256)}`])
    expect((await upload(next(), { query })).status).toBe(422);
  for (const path of ['/images/x.png', `/images/${'0'.repeat(64)}.png`, `/images/${'0'.repeat(64)}.svg`])
    expect((await service.ask({ path })).status).toBe(404);
});

const aTemplate = (url: string, key = keys.live) =>
  service.ask({
    method: 'POST',
    path: '/v1/templates',
    key,
    body: { name: 'Spring', subject: 'Hi', format: 'emailmd', markdown: `![flowers](${url})` },
  });

test('an image that something shows is kept, unless its deletion is forced', async () => {
  const { id, url } = (await upload(next())).body.data;
  const template = await aTemplate(url);
  expect(template.status).toBe(201);
  const user = { type: 'template', id: template.body.data.id, name: 'Spring' };
  expect((await get(id)).body.data.usedBy).toEqual([user]);
  const refused = await remove(id);
  expect([refused.status, refused.body.error.message]).toEqual([
    409,
    'The template “Spring” shows the image.',
  ]);
  const patch = (body: object) =>
    service.ask({ method: 'PATCH', path: `/v1/templates/${user.id}`, key: keys.live, body });
  // A draft that shows it counts like the published version.
  await patch({ markdown: 'none' });
  expect((await get(id)).body.data.usedBy).toEqual([]);
  await patch({ markdown: `![flowers](${url})`, draft: true });
  expect((await get(id)).body.data.usedBy).toEqual([user]);
  expect((await remove(id, '?force=true')).status).toBe(204);
  expect((await get(id)).status).toBe(404);
  expect((await fetch(`${service.url}${new URL(url).pathname}`)).status).toBe(404);
});

test('an environment learns nothing of the uses in the other one, and a test key cannot break live mail', async () => {
  const { id, url } = (await upload(next(), { key: keys.test })).body.data;
  await aTemplate(url);
  expect((await get(id, keys.test)).body.data.usedBy).toEqual([]);
  expect((await get(id)).body.data.usedBy).toHaveLength(1);
  const refused = await remove(id, '?force=true', keys.test);
  expect([refused.status, refused.text.includes('Spring')]).toEqual([403, false]);
  const inTest = (await upload(next())).body.data;
  await aTemplate(inTest.url, keys.test);
  expect((await remove(inTest.id)).body.error.message).toBe(
    'A template of the test environment shows the image.',
  );
});

test('an image that mail programs read tells the day, and goes on to be served once it is deleted', async () => {
  const { id, url } = (await upload(next())).body.data;
  const view = () => fetch(`${service.url}${new URL(url).pathname}`);
  expect((await view()).status).toBe(200);
  const today = await eventually('the day of the view', async () => {
    const { lastShownOn } = (await get(id)).body.data;
    return lastShownOn ?? undefined;
  });
  expect(today).toMatch(/^\d{4}-\d{2}-\d{2}$/);
  expect((await remove(id)).status).toBe(204);
  expect([(await get(id)).status, (await view()).status]).toEqual([404, 200]);
});

test('a deleted image leaves the lists, is still served, and comes back by another upload', async () => {
  const picture = next();
  const { id, url } = (await upload(picture, { query: '?filename=first.gif' })).body.data;
  const status = async () => (await fetch(`${service.url}${new URL(url).pathname}`)).status;
  expect((await remove(id)).status).toBe(204);
  expect((await get(id)).status).toBe(404);
  expect((await remove(id)).status).toBe(404);
  const { body: list } = await service.ask({ path: '/v1/assets?limit=100', key: keys.live });
  expect(list.data.map((asset: { id: string }) => asset.id)).not.toContain(id);
  expect(await status()).toBe(200);
  const again = await upload(picture, { query: '?filename=second.gif' });
  expect(again.status).toBe(201);
  expect(again.body.data).toMatchObject({ id, url, filename: 'second.gif' });
  expect((await get(id)).status).toBe(200);
  // It is read now, so that it is hidden by hand.
  await service.service.database.query('update assets set deleted_at = now() where id = $1', [id]);
  expect((await remove(id, '?force=true')).status).toBe(204);
  expect(await status()).toBe(404);
  expect((await remove(id, '?force=true')).status).toBe(404);
});

test('at most 2,000 deleted images of a workspace, and 1 GiB of them, are served', async () => {
  const { database } = service.service;
  const { id } = (await upload(next())).body.data;
  const hidden = (images: number, size: number) =>
    database.query(
      `insert into assets (id, workspace_id, livemode, file, filename, content_type, width, height, size, created_at, deleted_at)
       select 'ast_hidden' || i, $1, true, 'hidden' || i, 'x.png', 'image/png', 1, 1, $3::integer, now(), now()
       from generate_series(1, $2::integer) i`,
      [service.workspaceId, images, size],
    );
  const show = () => database.query('delete from assets where deleted_at is not null', []);
  await show();
  await hidden(2_000, 1);
  const refused = await remove(id);
  expect([refused.status, refused.body.error.suggestion]).toEqual([
    409,
    'Use force=true to delete it at once, or wait until the first of them are removed.',
  ]);
  // They take no room of images that are not deleted.
  expect((await upload(next())).status).toBe(201);
  await show();
  const size = next().length;
  await hidden(1, 1_073_741_824 - size + 1);
  expect((await remove(id)).status).toBe(409);
  await database.query("update assets set size = size - 1 where id = 'ast_hidden1'", []);
  expect((await remove(id)).status).toBe(204);
  await show();
});

test('a test key deletes what was uploaded in the test environment only', async () => {
  const live = (await upload(next())).body.data.id;
  expect((await remove(live, '?force=true', keys.test)).body.error.code).toBe('FORBIDDEN');
  const picture = next();
  const { id } = (await upload(picture, { key: keys.test })).body.data;
  // Live mail may show it from now on.
  await upload(picture);
  expect((await remove(id, '', keys.test)).status).toBe(403);
  const other = (await upload(next(), { key: keys.test })).body.data.id;
  expect((await remove(other, '', keys.test)).status).toBe(204);
});

test('a campaign that shows an image uses it', async () => {
  const { id, url } = (await upload(next())).body.data;
  const audience = await service.ask({
    method: 'POST',
    path: '/v1/audiences',
    key: keys.test,
    body: { name: 'All' },
  });
  const campaign = await service.ask({
    method: 'POST',
    path: '/v1/campaigns',
    key: keys.test,
    body: {
      name: 'Sale',
      audienceId: audience.body.data.id,
      from: 'News <news@sender.example>',
      subject: 'Sale',
      html: `<img src="${url}" alt="">`,
    },
  });
  expect(campaign.status).toBe(201);
  expect((await get(id, keys.test)).body.data.usedBy).toEqual([
    { type: 'campaign', id: campaign.body.data.id, name: 'Sale' },
  ]);
});

test('a workspace has at most 2,000 images and 1 GiB of them', async () => {
  const { database } = service.service;
  const have = async () =>
    (
      await database.query<{ images: number; octets: number }>(
        `select count(*)::integer as images, sum(size)::float8 as octets from assets where workspace_id = $1 and deleted_at is null`,
        [service.workspaceId],
      )
    )[0] ?? { images: 0, octets: 0 };
  const fill = (images: number, size: number) =>
    database.query(
      `insert into assets (id, workspace_id, livemode, file, filename, content_type, width, height, size, created_at)
       select 'ast_filled' || i, $1, true, 'filled' || i, 'x.png', 'image/png', 1, 1, $3::integer, now()
       from generate_series(1, $2::integer) i`,
      [service.workspaceId, images, size],
    );
  const empty = () => database.query("delete from assets where id like 'ast_filled%'", []);
  const refused = async () => {
    const told = await upload(next());
    return told.status === 201 ? null : told.body.error.code;
  };
  await fill(2_000 - (await have()).images - 1, 1);
  expect([await refused(), await refused()]).toEqual([null, 'QUOTA_EXCEEDED']);
  await empty();
  const picture = next();
  await fill(1, 1_073_741_824 - (await have()).octets - picture.length);
  expect((await upload(picture)).status).toBe(201);
  expect(await refused()).toBe('QUOTA_EXCEEDED');
  // The same content takes no more room.
  expect((await upload(picture)).status).toBe(201);
  await empty();
});
