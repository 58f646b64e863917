import { expect, test } from 'bun:test';
import { startRealService } from './real-service.ts';

test('300 parallel additions on the free plan make two domains, and what is removed is given back', async () => {
  await using service = await startRealService();
  const keys = [await service.keyWith('live', ['*']), await service.keyWith('test', ['*'])];
  const add = (n: number) =>
    service.ask({
      method: 'POST',
      path: '/v1/domains',
      key: keys[n % 2] ?? '',
      body: { name: `d${n}.test` },
    });
  const used = async () =>
    (await service.ask({ path: '/v1/workspace', key: keys[0] ?? '' })).body.data.usage.domains;
  const told = await Promise.all(Array.from({ length: 300 }, (_, n) => add(n)));
  const made = told.filter(({ status }) => status === 201);
  expect(made).toHaveLength(2);
  for (const { status, body } of told)
    if (status !== 201) expect([status, body.error.code]).toEqual([429, 'QUOTA_EXCEEDED']);
  expect(await used()).toBe(2);

  const [id] = made.map(({ body }) => body.data.id);
  const remove = () => service.ask({ method: 'DELETE', path: `/v1/domains/${id}`, key: keys[1] ?? '' });
  const removed = await Promise.all(Array.from({ length: 20 }, remove));
  expect(removed.filter(({ status }) => status === 204)).toHaveLength(1);
  expect(await used()).toBe(1);
  const again = await Promise.all(Array.from({ length: 20 }, (_, n) => add(1_000 + n)));
  expect(again.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(await used()).toBe(2);
}, 60_000);
