import { expect, test } from 'bun:test';
import { type RealService, startRealService } from '../contract/real-service.ts';
import { createTestDatabase } from '../support/postgres.ts';

/** Live emails a month on the free plan. */
const FREE = 3_000;
const LEFT = 100;

/** Sends 300 at once, spread over the instances. */
async function burst(instances: readonly RealService[], key: string): Promise<readonly string[]> {
  const replies = await Promise.all(
    Array.from({ length: 300 }, (_, n) =>
      (instances[n % instances.length] as RealService).ask({
        method: 'POST',
        path: '/v1/emails',
        key,
        body: { from: 'a@shop.test', to: 'b@example.com', subject: 'Hello', text: 'Hi' },
      }),
    ),
  );
  return replies.map(({ status, body }) => `${status} ${body.error?.code ?? ''}`).sort();
}

const EXACT = [...Array(LEFT).fill('202 '), ...Array(300 - LEFT).fill('429 QUOTA_EXCEEDED')];

for (const count of [1, 2])
  test(`300 parallel sends with 100 left, on ${count} instance(s): exactly 100 are accepted`, async () => {
    await using database = await createTestDatabase();
    await using stack = new AsyncDisposableStack();
    const environment = { DATABASE_URL: database.url, TEST_SENDS_PER_DAY: String(LEFT) };
    const instances: RealService[] = [];
    for (let n = 0; n < count; n++) instances.push(stack.use(await startRealService(environment)));
    const [first] = instances as [RealService];
    const { database: rows } = first.service;
    const live = await first.keyWith('live', ['*']);
    const inTest = await first.keyWith('test', ['*']);
    await first.ask({ method: 'POST', path: '/v1/domains', key: live, body: { name: 'shop.test' } });
    await rows.query(
      `insert into usage (workspace_id, livemode, period, used, wanted, granted, quota)
       select id, true, to_char(now() at time zone 'UTC', 'YYYY-MM'), $1, 0, 0, 0 from workspaces`,
      [FREE - LEFT],
    );

    const [liveTold, testTold] = await Promise.all([burst(instances, live), burst(instances, inTest)]);
    expect(liveTold).toEqual(EXACT);
    expect(testTold).toEqual(EXACT);

    const [kept] = await rows.query<{ live: number; test: number }>(
      `select count(*) filter (where livemode)::integer as live,
         count(*) filter (where not livemode)::integer as test from emails_now`,
    );
    expect(kept).toEqual({ live: LEFT, test: LEFT });
    for (const instance of instances) {
      const { usage } = (await instance.ask({ path: '/v1/workspace', key: live })).body.data;
      expect(usage).toMatchObject({ emailsSent: FREE, testSendsToday: LEFT });
    }
  });
