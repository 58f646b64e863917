import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mintId } from '../../src/platform/db/ids.ts';
import { eventually } from '../support/eventually.ts';
import { type LiveService, startLiveService } from '../support/live-service.ts';

// Limits that two requests at once could pass, each of which sees room for itself.

const FILTER = { field: 'status', operator: 'eq', value: 'subscribed' };

// The embedded database has one connection, on which nothing is done at once: there the boundary is looked
// at.
describe.each([
  ['PostgreSQL', {}, 8],
  ['PGlite', { DATABASE_URL: '' }, 2],
] as const)('limits of people on %s', (place, environment, rounds) => {
  let service: LiveService;
  let workspaceId: string;

  beforeAll(async () => {
    service = await startLiveService({ environment });
    const [row] = await query<{ id: string }>('select id from workspaces');
    workspaceId = row?.id ?? '';
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const query = <Row extends object>(text: string, parameters: readonly string[] = []): Promise<Row[]> =>
    service.service.database.query<Row>(text, [...parameters]);
  const ids = (prefix: string, count: number): string[] =>
    Array.from({ length: count }, () => mintId(prefix, Date.now()));

  test('an environment has 1,000 audiences and 100 of them with a filter, also for requests at once', async () => {
    const fill = (count: number, filter: string | null) =>
      query(
        `insert into audiences (workspace_id, livemode, id, name, type, filter, public, confirm, created_at, updated_at)
         select $1, true, unnest($2::text[]), 'x', case when $3::text is null then 'static' else 'dynamic' end, $3::text::json,
           false, false, now(), now()`,
        [workspaceId, ids('aud', count) as never, filter as never],
      );
    await fill(99, JSON.stringify(FILTER));
    await fill(899, null);
    const race = async (body: object) => {
      const told = await Promise.all([1, 2].map(() => service.live.post('/v1/audiences', body)));
      const made = told.filter(({ status }) => status === 201).map((one) => one.body.data.id as string);
      return { made, statuses: told.map(({ status }) => status).toSorted(), told };
    };
    const remove = (id = '') => service.live.delete(`/v1/audiences/${id}`);
    for (let round = 0; round < rounds; round++) {
      const { made, statuses } = await race({ name: 'Pro', type: 'dynamic', filter: FILTER });
      expect({ round, statuses }).toEqual({ round, statuses: [201, 409] });
      await remove(made[0]);
    }
    await fill(1, null);
    for (let round = 0; round < rounds; round++) {
      const { made, statuses, told } = await race({ name: 'News' });
      expect({ round, statuses }).toEqual({ round, statuses: [201, 409] });
      const refused = told.find(({ status }) => status === 409)?.body.error;
      expect(refused).toMatchObject({
        code: 'CONFLICT',
        message: 'This environment has 1,000 audiences already.',
      });
      await remove(made[0]);
    }
    // The other environment has its own.
    expect((await service.test.post('/v1/audiences', { name: 'News' })).status).toBe(201);
  });

  describe('twenty imports wait or are under way, and no more', () => {
    const start = async (rows: number, by = service.keys.live) => {
      const file = `email\n${Array.from({ length: rows }, (__, row) => `ada-${row}@example.com\n`).join('')}`;
      const told = await fetch(`${service.url}/v1/contacts/import`, {
        method: 'POST',
        headers: { authorization: `Bearer ${by}`, 'content-type': 'text/csv' },
        body: file,
      });
      // biome-ignore lint/suspicious/noExplicitAny: a test asserts on what is really there.
      return { status: told.status, body: (await told.json()) as any };
    };
    const ended = (id: string) =>
      eventually(`the end of ${id}`, async () => {
        const { body } = await service.live.get(`/v1/contacts/imports/${id}`);
        return ['completed', 'cancelled'].includes(body.data.status) ? true : undefined;
      });
    /** Imports that wait without a worker. */
    const wait = (waiting: readonly string[]) =>
      query(
        `insert into contact_imports (id, workspace_id, livemode, state, context, revision, machine_version, settings, merges, trigger_flows)
         select unnest($2::text[]), $1, true, 'queued', '{}', 1, 1, '{}', true, false`,
        [workspaceId, waiting as never],
      );

    test('at the boundary', async () => {
      const last = ids('imp', 1);
      await wait(ids('imp', 19));
      const twentieth = await start(100);
      expect(twentieth.status).toBe(202);
      await ended(twentieth.body.data.id);
      await wait(last);
      const refused = await start(100);
      expect([refused.status, refused.body.error.code]).toEqual([409, 'CONFLICT']);
      // The other environment has its own.
      expect((await start(100, service.keys.test)).status).toBe(202);
      await query('delete from contact_imports where id = any($1)', [last as never]);
    });

    // The embedded database has one connection, on which nothing is done at once.
    if (place === 'PostgreSQL')
      test('also for requests at once', async () => {
        for (let round = 0; round < rounds; round++) {
          // Long enough to be under way when the second is counted, also on a busy machine; each is cancelled
          // then.
          const told = await Promise.all([start(20_000), start(20_000)]);
          const statuses = told.map(({ status }) => status).toSorted();
          expect({ round, statuses }).toEqual({ round, statuses: [202, 409] });
          const id = told.find(({ status }) => status === 202)?.body.data.id;
          await service.live.post(`/v1/contacts/imports/${id}/cancel`);
          await ended(id);
        }
      });

    test('nothing is kept of a file that was refused', async () => {
      const chunks = `select import_id from contact_import_chunks where import_id not in (select id from contact_imports)`;
      expect(await query(chunks)).toEqual([]);
    });
  });

  test('a contact has a hundred properties, also when the last are added at once', async () => {
    const email = 'full@example.com';
    const properties = Object.fromEntries(Array.from({ length: 99 }, (__, n) => [`k${n}`, n]));
    await service.live.post('/v1/contacts', { email, properties });
    for (let round = 0; round < rounds; round++) {
      const told = await Promise.all([
        service.live.patch(`/v1/contacts/${email}`, { properties: { first: 1 } }),
        service.live.post('/v1/contacts?upsert=true', { email, properties: { second: 1 } }),
      ]);
      const statuses = told.map(({ status }) => status).toSorted();
      expect({ round, statuses }).toEqual({ round, statuses: [200, 422] });
      await service.live.patch(`/v1/contacts/${email}`, { properties: { first: null, second: null } });
    }
  });

  test('a person is asked to confirm three times a day, over all audiences, also when added at once', async () => {
    await service.live.patch('/v1/workspace', { defaultFrom: 'Shop <shop@sender.example>' });
    await query(`delete from audiences where workspace_id = $1`, [workspaceId]);
    const audiences = await Promise.all(
      [1, 2, 3, 4, 5].map((n) => service.live.post('/v1/audiences', { name: `Letter ${n}`, confirm: true })),
    );
    const emails = Array.from({ length: rounds }, (__, n) => `asked-${n}@example.com`);
    await service.live.post('/v1/contacts/batch', { contacts: emails.map((email) => ({ email })) });
    const added = await Promise.all(
      audiences.map(({ body }) => service.live.post(`/v1/audiences/${body.data.id}/contacts`, { emails })),
    );
    expect(added.map(({ status, body }) => [status, body.data?.added])).toEqual(
      audiences.map(() => [200, rounds]),
    );
    for (const email of emails) {
      const { body } = await service.live.get(`/v1/contacts/${email}/activity`);
      const types = body.data.map(({ type }: { type: string }) => type);
      const asked = types.filter((type: string) => /^(asked|notAsked)$/.test(type)).toSorted();
      expect([email, asked]).toEqual([email, ['asked', 'asked', 'asked', 'notAsked', 'notAsked']]);
      const mails = await service.live.get(`/v1/emails?to=${email}`);
      expect([email, mails.body.data.length]).toEqual([email, 3]);
    }
    // A person who is added again, and was asked often enough, leaves no further trace.
    const [first] = audiences;
    await service.live.post(`/v1/audiences/${first?.body.data.id}/contacts`, { emails });
    const again = await service.live.get(`/v1/contacts/${emails[0]}/activity?type=notAsked`);
    expect(again.body.data.map(({ data }: { data: object }) => data)).toEqual([
      { reason: 'asked_often' },
      { reason: 'asked_often' },
    ]);
  });
});
