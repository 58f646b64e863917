import { expect, test } from 'bun:test';
import { startLiveService } from '../support/live-service.ts';

test('no duty asks for its work by a clock other than that of the question', async () => {
  await using world = await startLiveService({});
  const asking = world.service.duties.filter(({ asks }) => asks);
  expect(asking.length).toBeGreaterThan(10);
  const clocked = asking.filter(({ asks }) =>
    /clock_timestamp|\bnow\(\)|current_timestamp/i.test(asks?.('$1') ?? ''),
  );
  expect(clocked.map(({ name }) => name)).toEqual([]);
});

test('a disabled endpoint without waiting deliveries is no work', async () => {
  await using world = await startLiveService({});
  const { database, duties, clock } = world.service;
  const asks = duties.find(({ name }) => name === 'deliveryStopper')?.asks;
  const hasWork = async () =>
    (
      await database.query<{ is: boolean }>(
        `select ${asks?.(`'${new Date(clock.now()).toISOString()}'`)} as is`,
      )
    )[0]?.is;
  const made = await world.live.post('/v1/webhooks', {
    url: 'https://hooks.example.invalid',
    events: ['sent'],
  });
  expect(made.status).toBe(201);
  await database.query("update webhook_endpoints set state = 'disabled'");
  expect(await hasWork()).toBe(false);
});
