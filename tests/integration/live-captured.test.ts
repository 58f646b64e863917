import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { LONGEST_RETENTION } from '../../src/platform/config/settings/settings.ts';
import { capturedPruner } from '../../src/sending/captured/captured-pruner.ts';
import { type Email, type LiveService, startLiveService } from '../support/live-service.ts';

let service: LiveService;

beforeAll(async () => {
  service = await startLiveService();
});
afterAll(() => service[Symbol.asyncDispose]());

const get = async (path: string): Promise<Email> => (await service.live.get(path)).body.data;

describe('captured mail', () => {
  test('is delivered, kept once for each recipient, and readable as it would have been sent', async () => {
    const id = await service.send({
      to: ['Ada <ada@example.com>', 'grace@example.com'],
      bcc: 'hidden@example.com',
      html: '<p>It is <b>on its way</b>.</p>',
      attachments: [{ filename: 'terms.txt', content: 'VGVybXM=' }],
    });
    const email = await service.until(id, ({ status }) => status === 'delivered');
    expect(email.events.map(({ type }: Email) => type)).toEqual(
      ['sent', 'delivered', 'sent', 'delivered', 'sent', 'delivered'].toSorted((a, b) =>
        a === b ? 0 : a === 'sent' ? -1 : 1,
      ),
    );
    expect(email.events[0].data).toMatchObject({
      provider: 'capture',
      response: expect.stringContaining('Captured'),
    });

    const list = await get(`/v1/captured?emailId=${id}`);
    expect(list.map(({ recipient }: Email) => recipient).sort()).toEqual([
      'ada@example.com',
      'grace@example.com',
      'hidden@example.com',
    ]);
    expect(list[0]).toMatchObject({ emailId: id, from: 'Shop <shop@sender.example>', subject: 'Your order' });
    const ada = list.find(({ recipient }: Email) => recipient === 'ada@example.com');
    const whole = await get(`/v1/captured/${ada.id}`);
    expect(whole).toMatchObject({
      text: 'It is on its way.\n',
      attachments: [{ filename: 'terms.txt', contentType: 'text/plain', size: 5 }],
    });
    expect(whole.html).toContain('<b>on its way</b>');
    expect(whole.raw).toStartWith('DKIM-Signature: ');
    expect(whole.raw).not.toContain('hidden@example.com');
    expect(whole.returnPath).toMatch(/^b\+[0-9a-z]{24}\.0\.[0-9a-z]{16}@send\.sender\.example$/);
    expect(whole.headers.find(({ name }: Email) => name === 'To').value).toContain('grace@example.com');
    expect(whole.size).toBe(Buffer.byteLength(whole.raw));
  });

  test('is found by its recipient in any case, and by either spelling of the domain', async () => {
    const to = [
      'Bob@Case.example',
      'ada@bücher.example',
      'grace@xn--bcher-kva.example',
      // A database with the locale C has no small letter for Ü.
      'Eva@BÜCHER.example',
    ];
    const id = await service.send({ to });
    await service.until(id, ({ status }) => status === 'delivered');
    for (const [address, recipient] of [
      ['bob@case.example', to[0]],
      ['ADA@bücher.example', to[1]],
      ['ada@xn--bcher-kva.example', to[1]],
      ['grace@bücher.example', to[2]],
      ['Eva@BÜCHER.example', to[3]],
    ] as const) {
      const asked = encodeURIComponent(address);
      const found = await get(`/v1/captured?emailId=${id}&recipient=${asked}`);
      expect(found.map((item: Email) => item.recipient)).toEqual([recipient]);
      expect((await get(`/v1/captured/count?emailId=${id}&recipient=${asked}`)).count).toBe(1);
      expect((await get(`/v1/captured/wait?to=${asked}&timeout=0`)).recipient).toBe(recipient);
    }
  });

  test('is walked page by page and thrown away, one or all', async () => {
    await service.live.delete('/v1/captured');
    for (let n = 0; n < 3; n++) {
      const id = await service.send({ subject: `Number ${n}` });
      await service.until(id, ({ status }) => status === 'delivered');
    }
    const first = await service.live.get('/v1/captured?limit=2');
    expect(first.body.pagination.hasMore).toBeTrue();
    const rest = await service.live.get(`/v1/captured?limit=2&after=${first.body.pagination.nextCursor}`);
    const all = [...first.body.data, ...rest.body.data];
    expect(all.map(({ subject }: Email) => subject)).toEqual(['Number 2', 'Number 1', 'Number 0']);
    const [{ id }] = all;
    expect((await service.live.delete(`/v1/captured/${id}`)).status).toBe(204);
    expect((await service.live.delete(`/v1/captured/${id}`)).status).toBe(404);
    expect((await service.live.get(`/v1/captured/${id}`)).status).toBe(404);
    expect((await service.live.delete('/v1/captured')).status).toBe(204);
    expect(await get('/v1/captured')).toEqual([]);
  });

  test('lies packed, and what was kept before that is shown as it is', async () => {
    await service.live.delete('/v1/captured');
    const html = `<p>${'It is on its way. '.repeat(10_000)}</p>`;
    const id = await service.send({ html });
    await service.until(id, ({ status }) => status === 'delivered');
    const [item] = await get('/v1/captured');
    const before = await get(`/v1/captured/${item.id}`);
    expect([before.size, item.size]).toEqual([Buffer.byteLength(before.raw), before.size]);
    expect(before.size).toBeGreaterThan(html.length);
    const { database } = service.service;
    const [row] = await database.query<{ octets: number }>(
      'select octet_length(raw) as octets from captured where id = $1',
      [item.id],
    );
    expect(row?.octets).toBeLessThan(before.size / 10);
    await database.query("update captured set raw = convert_to($2, 'UTF8'), size = null where id = $1", [
      item.id,
      before.raw,
    ]);
    expect(await get(`/v1/captured/${item.id}`)).toEqual(before);
    expect(await get('/v1/captured')).toEqual([item]);
    await service.live.delete('/v1/captured');
  });

  test('is live data: a test key neither sees nor removes it', async () => {
    const id = await service.send();
    await service.until(id, ({ status }) => status === 'delivered');
    const [{ id: captured }] = await get('/v1/captured');
    expect((await service.test.get('/v1/captured')).body.data).toEqual([]);
    expect((await service.test.get(`/v1/captured/${captured}`)).status).toBe(404);
    expect((await service.test.delete(`/v1/captured/${captured}`)).status).toBe(404);
    expect((await service.test.delete('/v1/captured')).status).toBe(204);
    expect(await get('/v1/captured')).toHaveLength(1);
  });
});

test('captured mail is deleted after its retention', async () => {
  await service.live.delete('/v1/captured');
  const id = await service.send();
  await service.until(id, ({ status }) => status === 'delivered');
  const { database } = service.service;
  const later = (days: number) => ({ now: () => Date.now() + days * 86_400_000, monotonic: performance.now });
  const prune = (days: number) =>
    capturedPruner({ database, clock: later(days), config: LONGEST_RETENTION }).run();
  await prune(89);
  expect(await get('/v1/captured')).toHaveLength(1);
  await prune(91);
  expect(await get('/v1/captured')).toEqual([]);
});

describe('a suppressed address', () => {
  test('gets no mail and no event; others of the same email do', async () => {
    const entry = await service.live.post('/v1/suppressions', { address: 'Grace@Example.COM' });
    expect(entry.status).toBe(201);
    expect(entry.body.data).toMatchObject({ address: 'Grace@Example.COM', reason: 'manual', emailId: null });
    const id = await service.send({ to: ['ada@example.com', 'grace@example.com'] });
    const email = await service.until(id, ({ status }) => status === 'sent');
    expect(email.recipients.map(({ status, lastEvent }: Email) => [status, lastEvent])).toEqual([
      ['delivered', 'delivered'],
      ['failed', null],
    ]);
    const alone = await service.send({ to: 'grace@example.com' });
    const failed = await service.until(alone, ({ status }) => status === 'failed');
    expect([failed.failureReason, failed.events]).toEqual(['suppressed', []]);
    expect(await get(`/v1/captured?emailId=${alone}`)).toEqual([]);

    expect((await service.live.delete('/v1/suppressions/grace%40example.com')).status).toBe(204);
    expect((await service.live.delete('/v1/suppressions/grace@example.com')).status).toBe(404);
    const again = await service.send({ to: 'grace@example.com' });
    await service.until(again, ({ status }) => status === 'delivered');
  });

  test('is listed newest first, found by address and reason, and entered once', async () => {
    for (const name of ['a', 'b', 'c'])
      await service.live.post('/v1/suppressions', { address: `${name}@list.example` });
    const twice = await service.live.post('/v1/suppressions', { address: 'a@list.example' });
    expect(twice.status).toBe(201);
    const first = await service.live.get('/v1/suppressions?limit=2&reason=manual');
    expect(first.body.data.map(({ address }: Email) => address)).toEqual([
      'c@list.example',
      'b@list.example',
    ]);
    const rest = await service.live.get(
      `/v1/suppressions?limit=2&reason=manual&after=${first.body.pagination.nextCursor}`,
    );
    expect(rest.body.data.map(({ address }: Email) => address)).toEqual(['a@list.example']);
    expect((await get('/v1/suppressions?address=B@list.example')).length).toBe(1);
    expect(await get('/v1/suppressions?reason=complained')).toEqual([]);
    expect((await service.live.post('/v1/suppressions', { address: 'nobody' })).status).toBe(422);
    expect((await service.live.get('/v1/suppressions?address=nobody')).status).toBe(422);
    expect((await service.test.get('/v1/suppressions')).body.data).toEqual([]);
    expect((await service.test.post('/v1/suppressions', { address: 'a@b.example' })).body.error.code).toBe(
      'TEST_MODE_NOT_SUPPORTED',
    );
  });
});

test('an email whose domain is removed before it is due fails and says so', async () => {
  const other = await service.live.post('/v1/domains', { name: 'gone.example' });
  const id = await service.send({
    from: 'shop@gone.example',
    scheduledAt: new Date(Date.now() + 60_000).toISOString(),
  });
  await service.live.delete(`/v1/domains/${other.body.data.id}`);
  await service.pass(61_000);
  const email = await service.until(id, ({ status }) => status === 'failed');
  expect(email).toMatchObject({ failureReason: 'domain_removed', lastEvent: null, events: [] });
  expect(await get('/v1/suppressions?address=ada@example.com')).toEqual([]);
});

test('a test email never opens a connection, whatever is configured', async () => {
  const { keys, url } = service;
  expect(keys.test).toStartWith('svc_test_');
  const before = await get('/v1/captured');
  const sent = await service.test.post('/v1/emails', {
    from: 'a@sender.example',
    to: 'ada@example.com',
    subject: 'Test',
    text: 'Test',
  });
  expect(sent.status).toBe(202);
  await service.test.get(`${url}/v1/emails/${sent.body.data.id}`);
  expect(await get('/v1/captured')).toEqual(before);
});
