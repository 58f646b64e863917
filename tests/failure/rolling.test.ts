import { expect, test } from 'bun:test';
import { createTestDatabase } from '../support/postgres.ts';
import { TEST_KEY } from '../support/service.ts';
import { EMAIL } from './outage-world.ts';
import { roll, sending } from './rolling.ts';

// Two instances behind a load balancer; rolling-long.ts has four, with live mail.

test('instances that are replaced one after the other under load refuse no request', async () => {
  await using database = await createTestDatabase();
  const statuses = await roll({
    env: {
      DATABASE_URL: database.url,
      SECRET_KEY: 'only-for-tests-only-for-tests-only',
      RATE_LIMIT_PER_IP: '0',
      RATE_LIMIT_PER_KEY: '0',
      TEST_SENDS_PER_DAY: '0',
      LOG_LEVEL: 'warn',
    },
    instances: [null, null],
    replaced: [0, 1],
    clients: 8,
    request: sending(TEST_KEY, EMAIL),
  });
  expect([...statuses.keys()]).toEqual([202]);
});
