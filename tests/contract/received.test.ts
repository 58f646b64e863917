import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { openReceiver } from '../support/webhook-world.ts';
import { pathsOf } from './ask.ts';
import { type RealService, startRealService } from './real-service.ts';

let service: RealService;
let live: string;
let inTest: string;
const receiver = openReceiver();

beforeAll(async () => {
  service = await startRealService({ HOST: '127.0.0.1' });
  live = await service.keyWith('live', ['*']);
  inTest = await service.keyWith('test', ['*']);
  const { id } = (await send('POST', '/v1/domains', { name: 'acme.example' }, live)).body.data;
  for (const [localPart, action] of [
    ['kept', { type: 'keep' }],
    ['posted', { type: 'webhook', url: receiver.url }],
  ])
    await send('POST', '/v1/inbound-routes', { domainId: id, match: { type: 'exact', localPart }, action });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  receiver[Symbol.dispose]();
});

const send = (method: string, path: string, body?: unknown, key = inTest, headers = {}) =>
  service.ask({ method, path, key, headers, ...(body !== undefined && { body }) });
const receive = (body: object, key = inTest) => send('POST', '/v1/received/test', body, key);
const receiveRaw = (raw: string, query = '') =>
  send('POST', `/v1/received/test${query}`, raw, inTest, { 'content-type': 'message/rfc822' });
const message = {
  from: 'ada@customer.example',
  to: 'kept+7@acme.example',
  subject: 'Grüße',
  text: 'Hallo\nAda',
};

describe('POST /v1/received/test', () => {
  test('passes the parts of a message to a test route', async () => {
    const made = await receive(message);
    expect(made.status).toBe(201);
    expect(made.body.data).toMatchObject({
      livemode: false,
      status: 'kept',
      envelope: { from: 'ada@customer.example', to: 'kept+7@acme.example', tag: '7' },
      subject: 'Grüße',
      isAutomatic: false,
    });
    const shown = await send('GET', `/v1/received/${made.body.data.id}`);
    expect(shown.body.data).toMatchObject({ text: 'Hallo\nAda\n', html: null, attachments: [] });
  });

  test('shows the text without the quotation', async () => {
    const text =
      'Thank you!\n\nOn Fri, 20 Nov 2026 at 22:43, Acme <a@acme.example> wrote:\n> It is on its way.\n';
    const made = await receive({ ...message, text });
    const shown = await send('GET', `/v1/received/${made.body.data.id}`);
    expect(shown.body.data).toMatchObject({ replyText: 'Thank you!', authentication: null });
  });

  test('passes a whole message, with its envelope in the query or from its header', async () => {
    const raw = 'From: Ada <ada@customer.example>\r\nTo: kept@acme.example\r\n\r\nHello\r\n';
    const made = await receiveRaw(raw);
    expect(made.body.data.envelope).toEqual({
      from: 'ada@customer.example',
      to: 'kept@acme.example',
      tag: null,
    });
    const again = await receiveRaw(raw);
    expect(again.body.data.id).toBe(made.body.data.id);
    const named = await receiveRaw(raw, '?from=bounce@list.example&to=kept%2Bx@acme.example');
    expect(named.body.data.envelope).toEqual({
      from: 'bounce@list.example',
      to: 'kept+x@acme.example',
      tag: 'x',
    });
  });

  test('posts it, with livemode false', async () => {
    const { id } = (await receive({ ...message, to: 'posted@acme.example' })).body.data;
    const [post] = await receiver.until(1);
    expect(post?.event).toMatchObject({
      type: 'received',
      livemode: false,
      received: { id, status: 'posting' },
    });
    await eventually('its status', async () =>
      (await send('GET', `/v1/received/${id}`)).body.data.status === 'posted' ? true : undefined,
    );
  });

  test('is for test keys alone', async () => {
    expect((await receive(message, live)).status).toBe(403);
  });

  test.each([
    [{ ...message, to: 'unknown@acme.example' }, ['/body/to']],
    [{ ...message, to: 'kept' }, ['/body/to']],
    [{ ...message, from: 'ada' }, ['/body/from']],
    [{ from: message.from }, ['/body/to']],
    [{ ...message, html: '<p>' }, ['/body/html']],
  ])('refuses %j', async (body, paths) => {
    const reply = await receive(body);
    expect([reply.status, pathsOf(reply)]).toEqual([422, paths]);
  });

  test.each([
    ['a bare line end', 'To: kept@acme.example\n\nHello\n', '/body'],
    ['a loop', `${'Received: by a\r\n'.repeat(51)}To: kept@acme.example\r\n\r\n`, '/body'],
    [
      'more than 5,000 addresses',
      `To: kept@acme.example\r\nCc: ${Array.from({ length: 5_000 }, (_, n) => `${n}@b.example`).join(',\r\n ')}\r\n\r\n`,
      '/body',
    ],
    ['no recipient', 'Subject: Hello\r\n\r\n', '/query/to'],
  ])('refuses a message with %s', async (_, raw, path) => {
    const reply = await receiveRaw(raw);
    expect([reply.status, pathsOf(reply)]).toEqual([422, [path]]);
  });
});

describe('a message is data, and never a page', () => {
  const html = '<script>alert(1)</script><p>Hi</p>';
  const raw = [
    'From: eve@customer.example',
    'To: kept@acme.example',
    'Content-Type: multipart/mixed; boundary=x',
    '',
    '--x',
    'Content-Type: text/html',
    '',
    html,
    '--x',
    'Content-Type: text/html; name="page.html"',
    'Content-Disposition: attachment; filename="page.html"',
    '',
    html,
    '--x--',
    '',
  ].join('\r\n');

  test('its html comes as it was, in JSON; its files and octets as downloads that no browser runs', async () => {
    const { id } = (await receiveRaw(raw)).body.data;
    const shown = await send('GET', `/v1/received/${id}`);
    expect(shown.headers.get('content-type')).toContain('application/json');
    expect(shown.body.data.html.trim()).toBe(html);
    expect(shown.body.data.attachments).toEqual([
      {
        index: 0,
        filename: 'page.html',
        contentType: 'text/html',
        size: expect.any(Number),
        contentId: null,
      },
    ]);
    for (const path of ['raw', 'attachments/0']) {
      const { headers } = await fetch(`${service.url}/v1/received/${id}/${path}`, {
        headers: { authorization: `Bearer ${inTest}` },
      });
      expect(headers.get('content-disposition')).toStartWith('attachment');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toContain('sandbox');
    }
    for (const index of ['1', '-1', 'x', '99999'])
      expect((await send('GET', `/v1/received/${id}/attachments/${index}`)).status).toBe(404);
  });
});

test('the list goes by pages, filters and environment', async () => {
  for (let number = 0; number < 3; number++) await receive({ ...message, text: `${number}` });
  const first = (await send('GET', '/v1/received?limit=2')).body;
  expect([first.data.length, first.pagination.hasMore]).toEqual([2, true]);
  const next = await send('GET', `/v1/received?limit=2&after=${first.pagination.nextCursor}`);
  expect(next.body.data[0].id < first.data[1].id).toBe(true);
  expect((await send('GET', '/v1/received?isAutomatic=true')).body.data).toEqual([]);
  expect(pathsOf(await send('GET', '/v1/received?address=ada'))).toEqual(['/query/address']);
  expect((await send('GET', '/v1/received', undefined, live)).body.data).toEqual([]);
});

test('reading needs emails:read, changing emails:send', async () => {
  const { id } = (await receive({ ...message, text: 'permissions' })).body.data;
  const reader = await service.keyWith('test', ['emails:read']);
  expect((await send('GET', `/v1/received/${id}`, undefined, reader)).status).toBe(200);
  expect((await send('DELETE', `/v1/received/${id}`, undefined, reader)).status).toBe(403);
  expect((await receive(message, reader)).status).toBe(403);
  const sender = await service.keyWith('test', ['emails:send']);
  expect((await send('GET', `/v1/received/${id}`, undefined, sender)).status).toBe(403);
  expect((await send('DELETE', `/v1/received/${id}`, undefined, sender)).status).toBe(204);
});
