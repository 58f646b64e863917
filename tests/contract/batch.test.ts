import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { pathsOf, type Told } from './ask.ts';
import { type RealService, startRealService } from './real-service.ts';

const HOUR = 3_600_000;
let ahead = 0;
let service: RealService;
let key: string;

beforeAll(async () => {
  const clock = { now: () => Date.now() + ahead, monotonic: () => performance.now() };
  service = await startRealService({}, { clock });
  key = await service.keyWith('test', ['*']);
});
afterAll(() => service[Symbol.asyncDispose]());

const email = (more: object = {}): object => ({
  from: 'shop@acme.example',
  to: 'delivered@simulator.svc.test',
  subject: 'Hello',
  text: 'Hi',
  ...more,
});
const several = (count: number): object[] =>
  Array.from({ length: count }, (_, index) => email({ subject: `Number ${index}` }));

const send = (emails: unknown, idempotencyKey?: string): Promise<Told> =>
  service.ask({
    method: 'POST',
    path: '/v1/emails/batch',
    key,
    body: { emails },
    headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
  });

const idsOf = ({ body }: Told): string[] => body.data.map(({ id }: { id: string }) => id);
const codesOf = ({ body }: Told): (string | undefined)[] =>
  body.data.map(({ error }: { error?: { code: string } }) => error?.code);
const emailsThere = async (): Promise<number> =>
  (await service.service.database.query<{ n: number }>('select count(*)::int as n from emails'))[0]?.n ?? 0;

describe('POST /v1/emails/batch', () => {
  for (const count of [1, 100])
    test(`of ${count} is as many emails, in the order of the call`, async () => {
      const reply = await send(several(count));
      expect(reply.status).toBe(202);
      expect(reply.body.data.map(({ index }: { index: number }) => index)).toEqual([...Array(count).keys()]);
      for (const index of new Set([0, count - 1])) {
        const { id, ...receipt } = reply.body.data[index];
        expect(receipt).toMatchObject({ index, livemode: false, scheduledAt: null });
        const { data } = (await service.ask({ path: `/v1/emails/${id}`, key })).body;
        expect(data.subject).toBe(`Number ${index}`);
      }
    });

  test('refuses a batch of 101, of none, or that is no list, whole', async () => {
    const before = await emailsThere();
    for (const emails of [several(101), [], {}, null, 'x']) {
      const reply = await send(emails);
      expect([reply.status, pathsOf(reply)]).toEqual([422, ['/body/emails']]);
    }
    expect(await emailsThere()).toBe(before);
  });

  test('judges each email of a batch by itself, with pointers into the call', async () => {
    const before = await emailsThere();
    const told = await send([
      email(),
      email({ to: 'nobody' }),
      null,
      email({ subject: undefined, sendAt: 'now' }),
      email({ templateId: 'tpl_000000000000000000000000', text: undefined }),
      email({ scheduledAt: new Date(Date.now() + 3_600_000).toISOString() }),
      email({ to: ['a@example.com', 'A@example.com'] }),
    ]);
    expect(told.status).toBe(202);
    expect(codesOf(told)).toEqual([
      undefined,
      'VALIDATION_ERROR',
      'VALIDATION_ERROR',
      'VALIDATION_ERROR',
      'NOT_FOUND',
      undefined,
      'VALIDATION_ERROR',
    ]);
    const paths = told.body.data.map(({ error }: { error?: { details?: { path: string }[] } }) =>
      error?.details?.map(({ path }) => path),
    );
    expect(paths[1]).toEqual(['/body/emails/1/to']);
    expect(paths[2]).toEqual(['/body/emails/2']);
    expect(paths[3]).toEqual(['/body/emails/3/sendAt']);
    expect(paths[6]).toEqual(['/body/emails/6/to/1']);
    expect(told.body.data[1].error.docs).toEndWith('/docs/errors#VALIDATION_ERROR');
    expect(told.body.data[5].status).toBe('scheduled');
    expect(await emailsThere()).toBe(before + 2);
  });

  test('needs emails:send, and counts as one request and as many emails', async () => {
    const reader = await service.keyWith('test', ['emails:read']);
    const refused = await service.ask({
      method: 'POST',
      path: '/v1/emails/batch',
      key: reader,
      body: { emails: several(1) },
    });
    expect(refused.status).toBe(403);
    await using limited = await startRealService({ TEST_SENDS_PER_DAY: '5', RATE_LIMIT_PER_IP: '3' });
    const limitedKey = await limited.keyWith('test', ['*']);
    const batch = () =>
      limited.ask({
        method: 'POST',
        path: '/v1/emails/batch',
        key: limitedKey,
        body: { emails: several(4) },
        headers: { 'idempotency-key': 'the-second' },
      });
    const plain = { method: 'POST', path: '/v1/emails/batch', key: limitedKey, body: { emails: several(2) } };
    expect(codesOf(await limited.ask(plain))).toEqual([undefined, undefined]);
    const QUOTA = 'QUOTA_EXCEEDED';
    const first = await batch();
    expect(codesOf(first)).toEqual([undefined, undefined, undefined, QUOTA]);
    const again = await batch();
    expect([again.body, again.headers.get('idempotency-replayed')]).toEqual([first.body, 'true']);
    expect((await batch()).status).toBe(429);
  });
});

describe('POST /v1/emails/batch with an Idempotency-Key', () => {
  test('accepts the emails once, and replays the answer', async () => {
    const before = await emailsThere();
    const call = [email({ to: 'nobody' }), ...several(3), email({ from: 'x' }), ...several(2)];
    const name = randomUUID();
    const first = await send(call, name);
    const again = await send(call, name);
    expect(again.body).toEqual(first.body);
    expect([first, again].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true']);
    expect(await emailsThere()).toBe(before + 5);
  });

  test('stores the reply of each email under the key of the call, the first accepted one as the call itself', async () => {
    const name = randomUUID();
    const { body } = await send([email({ to: 'nobody' }), ...several(2)], name);
    const rows = await service.service.database.query<{ item: number; reply: string }>(
      'select item, reply from idempotency_keys where key = $1 order by item',
      [name],
    );
    expect(rows.map(({ item, reply }) => [item, JSON.parse(reply)])).toEqual([
      [-1, body.data[1]],
      [2, body.data[2]],
    ]);
  });

  test('answers a different batch under the same key with a conflict', async () => {
    const name = randomUUID();
    await send(several(2), name);
    const before = await emailsThere();
    for (const other of [several(3), several(1), [email({ to: 'nobody' }), ...several(2)]]) {
      const reply = await send(other, name);
      expect([reply.status, reply.body.error.code]).toEqual([409, 'IDEMPOTENCY_CONFLICT']);
    }
    const single = { method: 'POST', path: '/v1/emails', key, headers: { 'idempotency-key': name } };
    expect((await service.ask({ ...single, body: email() })).status).toBe(409);
    const taken = randomUUID();
    await service.ask({ ...single, headers: { 'idempotency-key': taken }, body: email() });
    expect((await send([email()], taken)).status).toBe(409);
    expect(await emailsThere()).toBe(before + 1);
  });

  test('leaves the key free after every email was refused', async () => {
    const name = randomUUID();
    expect(codesOf(await send([email({ to: 'nobody' })], name))).toEqual(['VALIDATION_ERROR']);
    expect(codesOf(await send([email()], name))).toEqual([undefined]);
  });

  test('resumes a batch that a crash cut short: answers stored emails, accepts missing ones', async () => {
    const { database } = service.service;
    const name = randomUUID();
    const call = [email({ to: 'nobody' }), ...several(6)];
    const first = await send(call, name);
    // As if only the carrier and two others had been committed before the process died.
    const lost = idsOf(first).slice(4);
    await database.query(`delete from idempotency_keys where reply::json->>'id' = any($1::text[])`, [lost]);
    await database.query('delete from email_turns where email_id = any($1::text[])', [lost]);
    await database.query('delete from emails where id = any($1::text[])', [lost]);
    const before = await emailsThere();
    const again = await send(call, name);
    expect(idsOf(again).slice(0, 4)).toEqual(idsOf(first).slice(0, 4));
    expect(new Set([...idsOf(again), ...lost]).size).toBe(1 + 6 + 3);
    expect([await emailsThere(), again.headers.get('idempotency-replayed')]).toEqual([before + 3, null]);
    expect((await send(call, name)).body).toEqual(again.body);
  });

  test('accepts one set of emails of two simultaneous calls', async () => {
    const before = await emailsThere();
    const name = randomUUID();
    const replies = await Promise.all(Array.from({ length: 20 }, () => send(several(10), name)));
    const done = replies.filter(({ status }) => status === 202);
    expect(new Set(done.map(({ text }) => text)).size).toBe(1);
    for (const { status, body } of replies)
      if (status !== 202) expect([status, body.error.code]).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS']);
    expect(await emailsThere()).toBe(before + 10);
  });

  test('replays the answer for emails whose scheduled time has passed since', async () => {
    const name = randomUUID();
    const call = [1, 2].map((hours) =>
      email({ scheduledAt: new Date(Date.now() + hours * HOUR).toISOString() }),
    );
    const first = await send(call, name);
    ahead = 3 * HOUR;
    expect((await send(call, name)).body).toEqual(first.body);
    expect(codesOf(await send(call))).toEqual(['VALIDATION_ERROR', 'VALIDATION_ERROR']);
  });
});
