import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import pino from 'pino';
import { issueKey } from '../../src/accounts/api-keys/issue.ts';
import { ensureFirstWorkspace } from '../../src/accounts/workspace/commands.ts';
import { openSession } from '../../src/engine/audit/session.ts';
import { listen } from '../../src/http/listen/listen.ts';
import { begin } from '../../src/mail/transport/begin.ts';
import type { Transport } from '../../src/mail/transport/transport.ts';
import { auditLedger } from '../../src/ops/audit/audit.ts';
import { loadConfig } from '../../src/platform/config/config.ts';
import { type Clock, systemClock } from '../../src/platform/time/clock.ts';
import { openService, type Service } from '../../src/service.ts';
import { type Client, createClient } from '../support/client.ts';
import { countOf, rowsOf } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';

// Two instances on one PostgreSQL. The machine of one of them believes that it is another hour, day or month.

const HOUR = 3_600_000;
const EMAILS = 10;
const logger = pino({ level: 'silent' });

/** A server that answers when the test lets it. */
class Server {
  readonly taken: string[] = [];
  #gate = Promise.withResolvers<void>();

  readonly transport: Transport = {
    name: 'smtp',
    confirmsDelivery: false,
    send: async ({ emailId, recipients }, limits) => {
      // Without it the emails stay queued, and any instance that looks after a second takes them as well.
      await begin(limits);
      this.taken.push(emailId);
      await this.#gate.promise;
      return recipients.map((recipient) => ({
        recipient,
        outcome: 'accepted',
        response: '250 ok',
        smtpCode: 250,
        enhancedCode: null,
        remoteMta: null,
        fault: null,
        subType: null,
        providerId: null,
      }));
    },
    verify: async () => [],
    close: async () => {},
  };

  answer(): void {
    this.#gate.resolve();
  }

  hold(): void {
    this.#gate = Promise.withResolvers<void>();
    this.taken.length = 0;
  }
}

interface Instance extends AsyncDisposable {
  readonly service: Service;
  readonly url: string;
}

async function start(
  database: TestDatabase,
  server: Server,
  aheadMs: number,
  policy: string,
): Promise<Instance> {
  const loaded = loadConfig({
    DATABASE_URL: database.url,
    SECRET_KEY: 'only-for-tests-only-for-tests-only',
    RATE_LIMIT_PER_IP: '0',
    RATE_LIMIT_PER_KEY: '0',
    UNKNOWN_OUTCOME: policy,
  });
  if ('problems' in loaded) throw new Error(loaded.problems.join('\n'));
  const machine: Clock = { ...systemClock, now: () => Date.now() + aheadMs };
  const service = await openService({
    config: loaded.config,
    logger,
    machine,
    liveMail: { transport: server.transport },
  });
  await service.start();
  const http = listen(service.app, { hostname: '127.0.0.1', port: 0 });
  return {
    service,
    url: http.url.origin,
    async [Symbol.asyncDispose]() {
      await http.stop(true);
      await service.stop();
    },
  };
}

/** All that removes something for its age. */
async function prune({ service: { duties } }: Instance): Promise<void> {
  for (const duty of duties) if (duty.goesByAge) await duty.run();
}

describe.each(['retry', 'hold'])('with %s, an instance', (policy) => {
  const server = new Server();
  let database: TestDatabase;
  let right: Instance;
  let keys: { readonly live: string; readonly test: string };

  beforeAll(async () => {
    database = await createTestDatabase();
    right = await start(database, server, 0, policy);
    const { engine, database: opened } = right.service;
    const { id: workspaceId } = await ensureFirstWorkspace(opened, 'growth', Date.now());
    const key = (livemode: boolean) =>
      issueKey(engine, { workspaceId, livemode, name: 'Clocks', permissions: ['*'] }, Date.now());
    keys = { live: await key(true), test: await key(false) };
    await createClient(right.url, keys.live).post('/v1/domains', { name: 'sender.example' });
  });
  afterAll(async () => {
    server.answer();
    await right[Symbol.asyncDispose]();
    await database.close();
  });

  const send = async (
    client: Client,
    more: object = {},
    headers?: Record<string, string>,
  ): Promise<string> => {
    const email = {
      from: 'shop@sender.example',
      to: 'ada@example.com',
      subject: 'Order',
      text: 'On its way.',
    };
    const sent = await client.post('/v1/emails', { ...email, ...more }, headers);
    expect([sent.status, sent.body.error]).toEqual([202, undefined]);
    return sent.body.data.id;
  };

  test.each([
    ['an hour ahead', HOUR],
    ['an hour behind', -HOUR],
    ['25 hours ahead', 25 * HOUR],
    ['91 days ahead', 91 * 24 * HOUR],
  ])('whose machine is %s loses, doubles, hurries and removes nothing', async (_, aheadMs) => {
    const store = right.service.database;
    server.hold();
    const here = createClient(right.url, keys.live);
    const key = { 'idempotency-key': `key-${aheadMs}` };
    const keyed = await send(here, {}, key);
    const sent = await Promise.all(Array.from({ length: EMAILS - 1 }, () => send(here)));
    await eventually('all are under way', async () => (server.taken.length === EMAILS ? true : undefined));

    await using torn = await start(database, server, aheadMs, policy);
    const there = createClient(torn.url, keys.live);
    expect(await send(there, {}, key)).toBe(keyed);
    // By the right time neither in the past nor too far ahead.
    const scheduledAt = new Date(Date.now() + HOUR / 2).toISOString();
    const scheduled = [await send(there, { scheduledAt }), await send(here, { scheduledAt })];
    const simulated = createClient(torn.url, keys.test);
    const later = await send(simulated, { to: 'delivered@simulator.svc.test', scheduledAt });
    const before = await countOf(store, 'emails');
    for (let look = 0; look < 3; look++)
      await Promise.all([torn.service.engine.wakeDue(), right.service.engine.wakeDue()]);
    await prune(torn);

    expect(server.taken.toSorted()).toEqual([keyed, ...sent].toSorted());
    expect(await countOf(store, 'emails')).toBe(before);
    expect(await countOf(store, 'idempotency_keys where key = $1', [`key-${aheadMs}`])).toBe(1);
    for (const id of [...scheduled, later])
      expect(await rowsOf(store, 'select state from emails_now where id = $1', [id])).toEqual([
        { state: 'scheduled' },
      ]);

    // Emails that it accepts itself are stamped and timed by the database's clock too.
    const own = await send(there);
    server.answer();
    await eventually('all are sent', async () => {
      const open = await countOf(store, `emails_now where state not in ('sent', 'scheduled')`);
      return open === 0 ? true : undefined;
    });
    expect(server.taken.toSorted()).toEqual([keyed, ...sent, own].toSorted());
    expect(await countOf(store, `email_attempts where outcome = 'unknown'`)).toBe(0);
    expect(await countOf(store, `emails_now where (context->>'attempt')::integer > 1`)).toBe(0);
    const [{ off } = { off: -1 }] = await rowsOf<{ off: number }>(
      store,
      `select max(abs(extract(epoch from now() - occurred_at)))::float8 as off from email_events`,
    );
    expect(off).toBeLessThan(300);
    expect(torn.service.engine.scheduler).toMatchObject({ clockSkewMs: expect.any(Number) });
    expect(torn.service.engine.scheduler.status).not.toBe('paused');
    const session = await openSession({ url: database.url, dataDir: null });
    const { named } = await auditLedger(session, Date.now());
    await session.close();
    expect(named).toEqual([]);
  });
});

test('an instance measures the clock of its database when it starts, whatever its machine says', async () => {
  await using database = await createTestDatabase();
  const service = await start(database, new Server(), -91 * 24 * HOUR, 'retry');
  const [row] = await rowsOf<{ at: number }>(
    service.service.database,
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as at',
  );
  // Of three months; a busy machine may take a second to read both.
  expect(Math.abs((row?.at ?? 0) - service.service.clock.now())).toBeLessThan(60_000);
  await service[Symbol.asyncDispose]();
});
