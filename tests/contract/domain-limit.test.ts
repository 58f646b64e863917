import { expect, test } from 'bun:test';
import { setPlan } from '../../src/accounts/workspace/commands.ts';
import { insistently } from '../support/insistent.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { startRealService } from './real-service.ts';

test('the domain limit admits two of 300 parallel additions on the free plan, and a removal frees its place', async () => {
  await using service = await startRealService();
  const keys = [await service.keyWith('live', ['*']), await service.keyWith('test', ['*'])];
  const add = (n: number) =>
    insistently((headers) =>
      service.ask({
        method: 'POST',
        path: '/v1/domains',
        key: keys[n % 2] ?? '',
        headers,
        body: { name: `d${n}.test` },
      }),
    );
  const used = async () =>
    (await service.ask({ path: '/v1/workspace', key: keys[0] ?? '' })).body.data.usage.domains;
  const replies = await Promise.all(Array.from({ length: 300 }, (_, n) => add(n)));
  const made = replies.filter(({ status }) => status === 201);
  expect(made).toHaveLength(2);
  for (const { status, body } of replies)
    if (status !== 201) expect([status, body.error.code]).toEqual([429, 'QUOTA_EXCEEDED']);
  expect(await used()).toBe(2);

  const [id] = made.map(({ body }) => body.data.id);
  const remove = () =>
    insistently(() => service.ask({ method: 'DELETE', path: `/v1/domains/${id}`, key: keys[0] ?? '' }));
  const removed = await Promise.all(Array.from({ length: 20 }, remove));
  expect(removed.filter(({ status }) => status === 204)).toHaveLength(1);
  expect(await used()).toBe(1);
  const again = await Promise.all(Array.from({ length: 20 }, (_, n) => add(1_000 + n)));
  expect(again.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(await used()).toBe(2);
});

test('domains beyond the limit of a smaller plan stay, and none is added until there is room', async () => {
  await using service = await startRealService();
  const { database } = service.service;
  await setPlan(database, service.workspaceId, 'starter');
  const key = await service.keyWith('live', ['*']);
  const add = (name: string) =>
    insistently((headers) =>
      service.ask({ method: 'POST', path: '/v1/domains', key, headers, body: { name } }),
    );
  for (const name of ['one.test', 'two.test', 'three.test']) expect((await add(name)).status).toBe(201);
  await setPlan(database, service.workspaceId, 'free');
  const list = (await service.ask({ path: '/v1/domains', key })).body.data;
  expect(list).toHaveLength(3);
  const body = { from: 'a@one.test', to: 'b@c.example', subject: 'Hi', text: 'Hi' };
  const sent = await insistently((headers) =>
    service.ask({ method: 'POST', path: '/v1/emails', key, headers, body }),
  );
  expect(sent.status).toBe(202);
  expect((await add('four.test')).body.error.code).toBe('QUOTA_EXCEEDED');
  const remove = (id: string) =>
    insistently(() => service.ask({ method: 'DELETE', path: `/v1/domains/${id}`, key }));
  expect((await remove(list[0].id)).status).toBe(204);
  expect((await add('four.test')).body.error.code).toBe('QUOTA_EXCEEDED');
  expect((await remove(list[1].id)).status).toBe(204);
  expect((await add('four.test')).status).toBe(201);
});

test('the domain limit holds across two instances, and no name is added twice', async () => {
  await using database = await createTestDatabase();
  await using one = await startRealService({ DATABASE_URL: database.url });
  await using other = await startRealService({ DATABASE_URL: database.url });
  const instances = [one, other];
  const [key, rows] = [await one.keyWith('live', ['*']), one.service.database];
  const add = (n: number, name: string, by = key) =>
    insistently((headers) =>
      (instances[n % 2] ?? one).ask({
        method: 'POST',
        path: '/v1/domains',
        key: by,
        headers,
        body: { name },
      }),
    );
  const count = async () => {
    const [row] = await rows.query<{ made: number; names: number; used: number; keys: number }>(
      `select (select count(*)::integer from domains) as made,
        (select count(distinct name)::integer from domains) as names,
        (select count(*)::integer from domain_keys) as keys,
        (select used from usage_totals where period = 'domains') as used`,
    );
    return row;
  };
  const limited = await Promise.all(Array.from({ length: 60 }, (_, n) => add(n, `d${n}.test`)));
  expect(limited.filter(({ status }) => status === 201)).toHaveLength(2);
  expect(await count()).toEqual({ made: 2, names: 2, keys: 2, used: 2 });

  const [workspace] = await rows.query<{ id: string }>(`update workspaces set plan = 'growth' returning id`);
  expect(workspace).toBeDefined();
  const grown = await one.keyWith('live', ['*']);
  const named = await Promise.all(
    Array.from({ length: 40 }, async (_, n) => (await add(n, `n${n >> 2}.test`, grown)).status),
  );
  expect(named.toSorted()).toEqual([...Array(10).fill(201), ...Array(30).fill(409)]);
  expect(await count()).toEqual({ made: 12, names: 12, keys: 12, used: 12 });
});
