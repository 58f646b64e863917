import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { createServedDatabase } from '../support/postgres.ts';
import { BOTH_DATABASES, type RealService, startRealService } from './real-service.ts';

// GET /v1/requests: which requests of which key were answered how, and nothing of what they said.

const SECRETS = ['ada@example.com', 'Hush hush', 'Top secret subject', 'ada-private'];
const EMAIL = { from: 'shop@sender.example', to: SECRETS[0], subject: SECRETS[2], text: SECRETS[1] };

for (const [name, environment] of BOTH_DATABASES)
  describe(`the log of requests on ${name}`, () => {
    let service: RealService;
    const keys = { test: '', live: '', limited: '', other: '' };
    beforeAll(async () => {
      service = await startRealService(environment);
      keys.test = await service.keyWith('test', ['*']);
      keys.live = await service.keyWith('live', ['*']);
      keys.limited = await service.keyWith('test', ['emails:send']);
      keys.other = await service.keyWith('test', ['*']);
    });
    afterAll(() => service[Symbol.asyncDispose]());

    const list = async (query = '', key = keys.test) =>
      (await service.ask({ path: `/v1/requests?${query}`, key })).body;
    const idOf = (reply: { readonly headers: Headers }) => reply.headers.get('x-request-id') ?? '';
    const untilLogged = (id: string, key = keys.test) =>
      eventually(`the request ${id}`, async () => {
        const reply = await service.ask({ path: `/v1/requests/${id}`, key });
        return reply.status === 200 ? reply.body.data : undefined;
      });

    test('an accepted and a refused request are there, with route, id, status, code and key', async () => {
      const sent = await service.ask({ method: 'POST', path: '/v1/emails', key: keys.test, body: EMAIL });
      const { id } = sent.body.data;
      const read = await service.ask({ path: `/v1/emails/${id}`, key: keys.test });
      const wrong = await service.ask({ method: 'POST', path: '/v1/emails', key: keys.test, body: {} });
      expect(await untilLogged(idOf(sent))).toMatchObject({
        livemode: false,
        method: 'POST',
        route: '/v1/emails',
        path: '/v1/emails',
        status: 202,
        errorCode: null,
        id: idOf(sent),
      });
      expect(await untilLogged(idOf(read))).toMatchObject({
        route: '/v1/emails/{id}',
        path: `/v1/emails/${id}`,
      });
      expect(await untilLogged(idOf(wrong))).toMatchObject({ status: 422, errorCode: 'VALIDATION_ERROR' });
    });

    test('a key that lacks a permission, and an unknown path, are there as well', async () => {
      const refused = await service.ask({ path: '/v1/emails', key: keys.limited });
      const unknown = await service.ask({ path: '/v1/mails', key: keys.limited });
      expect(await untilLogged(idOf(refused))).toMatchObject({ status: 403, errorCode: 'FORBIDDEN' });
      expect(await untilLogged(idOf(unknown))).toMatchObject({
        status: 404,
        errorCode: 'NOT_FOUND',
        route: 'unknown',
        path: '/v1/…',
      });
    });

    test('nothing of what a request said is stored', async () => {
      const [address = '', , , label = ''] = SECRETS;
      const asked = [
        await service.ask({ path: `/v1/emails?to=${encodeURIComponent(address)}`, key: keys.test }),
        await service.ask({ path: `/v1/contacts/${encodeURIComponent(address)}`, key: keys.test }),
        await service.ask({ path: `/v1/secrets/${label}9`, key: keys.test }),
        await service.ask({ method: 'POST', path: '/v1/emails', key: keys.test, body: EMAIL }),
      ];
      for (const reply of asked) await untilLogged(idOf(reply));
      const rows = await service.service.database.query<{ text: string }>(
        'select r::text as text from api_requests r',
      );
      const stored = rows.map(({ text }) => text).join('\n');
      for (const secret of [...SECRETS, keys.test, encodeURIComponent(address)])
        expect(stored).not.toContain(secret);
      expect(stored).not.toContain('127.0.0.1');
    });

    test('filters and pages', async () => {
      const mine: string[] = [];
      for (let n = 0; n < 5; n++) mine.push(idOf(await service.ask({ path: '/v1/emails', key: keys.other })));
      const deleted = await service.ask({ method: 'DELETE', path: '/v1/contacts/x', key: keys.other });
      const { apiKeyId } = await untilLogged(idOf(deleted));
      const ofKey = async (query: string): Promise<readonly string[]> =>
        (await list(`apiKeyId=${apiKeyId}&${query}`)).data.map(({ id }: { readonly id: string }) => id);
      expect(await ofKey('method=GET')).toEqual(mine.toReversed());
      expect(await ofKey('method=DELETE')).toEqual([idOf(deleted)]);
      expect(await ofKey('status=4xx')).toEqual([idOf(deleted)]);
      expect(await ofKey('status=404')).toEqual([idOf(deleted)]);
      expect(await ofKey('status=405')).toEqual([]);
      expect(await ofKey('status=2xx')).toHaveLength(5);
      expect(await ofKey(`createdBefore=${new Date(0).toISOString()}`)).toEqual([]);
      const pages: string[] = [];
      for (let after = ''; ; ) {
        const { data, pagination } = await list(`apiKeyId=${apiKeyId}&limit=2${after}`);
        pages.push(...data.map(({ id }: { readonly id: string }) => id));
        if (!pagination.hasMore) break;
        after = `&after=${pagination.nextCursor}`;
      }
      expect(pages).toEqual([idOf(deleted), ...mine.toReversed()]);
      for (const wrong of ['status=1xx', 'status=99', 'status=', 'method=TRACE', 'limit=101'])
        expect((await service.ask({ path: `/v1/requests?${wrong}`, key: keys.test })).status).toBe(422);
    });

    test('each environment sees its own requests alone', async () => {
      const live = await service.ask({ path: '/v1/emails', key: keys.live });
      expect(await untilLogged(idOf(live), keys.live)).toMatchObject({ livemode: true });
      expect((await service.ask({ path: `/v1/requests/${idOf(live)}`, key: keys.test })).status).toBe(404);
      const { data } = await list('limit=100');
      expect(data.every(({ livemode }: { readonly livemode: boolean }) => !livemode)).toBe(true);
      expect((await service.ask({ path: '/v1/requests', key: keys.limited })).body.error.message).toContain(
        'api-keys:read',
      );
    });
  });

test('two instances write into one log', async () => {
  const database = await createServedDatabase();
  {
    await using first = await startRealService({ DATABASE_URL: database.url });
    await using second = await startRealService({ DATABASE_URL: database.url });
    const key = await first.keyWith('test', ['*']);
    const replies = await Promise.all([first, second].map(({ ask }) => ask({ path: '/v1/emails', key })));
    for (const { headers } of replies)
      await eventually('the request', async () => {
        const path = `/v1/requests/${headers.get('x-request-id')}`;
        return (await first.ask({ path, key })).status === 200 || undefined;
      });
  }
  await database.close();
});
