import { afterAll, beforeAll, expect, test } from 'bun:test';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { createServedDatabase, type TestDatabase } from '../support/postgres.ts';
import { spawnService } from '../support/service.ts';

const SECRET_KEY = 'only-for-tests-only-for-tests-only';

const other = createServer();
let database: TestDatabase;
let taken: number;
beforeAll(async () => {
  database = await createServedDatabase();
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  taken = (other.address() as AddressInfo).port;
});
afterAll(async () => {
  other.close();
  await database.close();
});

test.each(['PORT', 'METRICS_PORT', 'SUBMISSION_PORT', 'INBOUND_SMTP_PORT'])(
  'a start whose %s is taken ends, and names the port',
  async (name) => {
    const env = { SECRET_KEY, DATABASE_URL: database.url, [name]: String(taken) };
    await using service = await spawnService({ env });
    expect(await service.ended).toBe(1);
    expect(service.output()).toContain(
      `The port 127.0.0.1:${taken} could not be opened (EADDRINUSE): another program listens there`,
    );
  },
);

test('a start whose HOST is not of this machine says so', async () => {
  await using service = await spawnService({
    env: { SECRET_KEY, DATABASE_URL: database.url, HOST: '192.0.2.1' },
  });
  expect(await service.ended).toBe(1);
  expect(service.output()).toContain('(EADDRNOTAVAIL): this machine has no such address: set HOST to one');
});
