import { expect, test } from 'bun:test';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { StatementRelay } from '../support/engine-relay.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { spawnService } from '../support/service.ts';

// A start ends where the database does not answer, and is made again by what runs it.

test('a start that the database leaves without the link for the first account has taken no request', async () => {
  await using database = await createTestDatabase();
  await using relay = await StatementRelay.to(database.url);
  const port = await freePort();
  let isOpen: boolean | undefined;
  const struck = relay.trap('insert into "one_time_tokens"', 'lose it', async () => {
    isOpen = await fetch(`http://127.0.0.1:${port}/health`).then(
      () => true,
      () => false,
    );
  });
  const env = { DATABASE_URL: relay.url, SECRET_KEY: 's'.repeat(32) };
  await using _service = await spawnService({ port, env });
  await struck;
  expect(isOpen).toBeFalse();
});
