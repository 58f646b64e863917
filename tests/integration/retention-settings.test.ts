import { expect, test } from 'bun:test';
import { type Email, startLiveService } from '../support/live-service.ts';

const HOUR = 3_600_000;

test('a service that keeps a day has an older email in no list, under no id, and says so in its documentation', async () => {
  const environment = { RETENTION_TEST_DAYS: '1', RETENTION_LIVE_DAYS: '1' };
  await using world = await startLiveService({ environment });
  const { service, live, test: simulated } = world;
  const id = await world.send();
  await world.until(id, ({ status }) => status === 'delivered');
  const made = await simulated.post('/v1/emails', {
    from: 'a@example.com',
    to: 'delivered@simulator.svc.test',
    subject: 'Hi',
    text: 'Hi',
  });
  expect(made.status).toBe(202);

  const remove = async () => {
    const pruners = service.duties.filter(({ name }) => name.endsWith('Pruner'));
    expect(pruners.map(({ name }) => name)).toContain('flowRunPruner');
    for (const duty of pruners) await duty.run();
  };
  const counts = async () => {
    const lists = [live.get('/v1/emails'), live.get('/v1/captured'), simulated.get('/v1/emails')];
    return (await Promise.all(lists)).map(({ body }): number => (body.data as Email[]).length);
  };
  await world.pass(23 * HOUR);
  await remove();
  expect(await counts()).toEqual([1, 1, 1]);
  await world.pass(2 * HOUR);
  await remove();
  // Live emails go with the whole of their day (UTC), which may take a day more.
  expect((await counts()).slice(1)).toEqual([0, 0]);
  await world.pass(24 * HOUR);
  await remove();
  expect(await counts()).toEqual([0, 0, 0]);
  expect((await live.get(`/v1/emails/${id}`)).status).toBe(404);
  expect((await simulated.get(`/v1/emails/${made.body.data.id}`)).status).toBe(404);
  const document = await live.get('/openapi.json');
  expect(document.body.info.description).toContain('kept for 1 day from their acceptance');
});
