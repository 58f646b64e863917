import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import postgres from 'postgres';
import { freePort } from '../../src/ops/torture/free-port.ts';
import type { Role } from '../../src/platform/config/roles.ts';
import { openViewer } from '../integration/inspector-viewer.ts';
import { type Sink, startSink } from '../integration/transport/smtp-sink.ts';
import { createClient } from '../support/client.ts';
import { command } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { insisting } from '../support/insistent.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { LIVE_KEY, type Service, startService, TEST_KEY } from '../support/service.ts';
import { timersPassed } from '../support/stored-email.ts';

// Three instances on one database, each with one role. Each greets the receiving server by a different name.

const ROLES = ['http', 'engine', 'delivery'] as const;
const EMAILS = 24;
const SLOTS = 4;

let sink: Sink;
let database: TestDatabase;
let sql: postgres.Sql;
let inboundPort: number;
const instances = new Map<Role, Service>();

const environment = (transport: string): Record<string, string> => ({
  DATABASE_URL: database.url,
  SECRET_KEY: 'only-for-tests-only-for-tests-only',
  TRANSPORT: transport,
  SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=none`,
  SENDING_SLOTS: String(SLOTS),
  RATE_LIMIT_PER_IP: '0',
  RATE_LIMIT_PER_KEY: '0',
  LOG_LEVEL: 'warn',
  INBOUND_SMTP_PORT: String(inboundPort),
});

async function start(role: Role): Promise<Service> {
  const service = await startService({
    args: ['--only', role],
    env: { ...environment('smtp'), EHLO_NAME: `${role}.example` },
  });
  instances.set(role, service);
  return service;
}

const instance = (role: Role): Service => instances.get(role) as Service;

beforeAll(async () => {
  database = await createTestDatabase();
  inboundPort = await freePort();
  sql = postgres(database.url, { max: 1 });
  sink = await startSink();
  // While mail is captured a reserved name verifies at once; the domain then stays verified.
  await using first = await startService({ env: environment('capture') });
  const added = await createClient(first.url, LIVE_KEY).post('/v1/domains', { name: 'sender.example' });
  expect(added.body.data.status).toBe('verified');
  await first.stop();
  await Promise.all(ROLES.map(start));
});
afterAll(async () => {
  for (const service of instances.values()) await service[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
  await sql.end();
  await database.close();
});

async function accept(key: string, count: number): Promise<readonly string[]> {
  const client = insisting(createClient(instance('http').url, key));
  const replies = await Promise.all(
    Array.from({ length: count }, (_, n) =>
      client.post('/v1/emails', {
        from: 'shop@sender.example',
        to: key === LIVE_KEY ? `r${n}@example.com` : 'delivered@simulator.svc.test',
        subject: `Order ${n}`,
        text: 'It is on its way. {{unsubscribeUrl}}',
      }),
    ),
  );
  expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 202));
  return replies.map(({ body }) => body.data.id);
}

/** Waits until all of them stand there. */
const until = (state: string, ids: readonly string[]): Promise<true> =>
  eventually(`all are ${state}`, async () => {
    const [row] =
      await sql`select count(*)::integer as n from emails_now where id = any(${[...ids]}) and state = ${state}`;
    return row?.n === ids.length || undefined;
  });

/**
 * Ends the leases of attempts of an instance that is dead, once its last commit has ended. No other has
 * attempts under way.
 */
async function passLeases(): Promise<void> {
  await eventually('no commit is under way', async () => {
    const [others] = await sql`select count(*)::integer as n from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'
        and application_name not like 'posthorn session %'`;
    return others?.n === 0 || undefined;
  });
  for (const text of timersPassed(`'sending'`)) await sql.unsafe(text);
}

const greeters = (): readonly string[] => [...new Set(sink.received.map(({ ehlo }) => ehlo))];

describe('instances with one role each', () => {
  test('deliver what one accepts and another one begins', async () => {
    const live = await accept(LIVE_KEY, EMAILS);
    const tests = await accept(TEST_KEY, EMAILS);
    await until('sent', live);
    await until('delivered', tests);
    expect(sink.received).toHaveLength(EMAILS);
    expect(greeters()).toEqual(['delivery.example']);
    // The instance that delivers has no port, and offers the address that another one takes mail at.
    for (const { raw } of sink.received)
      expect(raw.toString()).toMatch(/^List-Unsubscribe:[^<]*<[^>]*>,\s+<mailto:u\+/m);
  });

  test('hear of each other by a session each, also the one that only answers requests', async () => {
    const names = await eventually('all have an epoch', async () => {
      const known = await sql<
        { roles: string[] }[]
      >`select roles from service_instances where epoch is not null`;
      if (known.length < 3) return;
      expect(known.flatMap(({ roles }) => roles).sort()).toEqual(['delivery', 'engine', 'http']);
      return await sql`select distinct application_name from pg_stat_activity
        where datname = current_database() and application_name like 'posthorn session %'`;
    });
    expect(names).toHaveLength(3);
  });

  test('say what they are there for, and answer nothing else without the role http', async () => {
    for (const role of ROLES) {
      const { url } = instance(role);
      // A scheduler may be late on a busy machine.
      const health = await eventually('a scheduler that is on time', async () => {
        const told = (await (await fetch(`${url}/health`)).json()) as {
          data: { roles: string[]; scheduler: { status: string } };
        };
        return told.data.scheduler.status === 'ok' ? told : undefined;
      });
      expect(health.data.roles).toEqual([role]);
      const ready = (await (await fetch(`${url}/ready`)).json()) as { data: object };
      expect(ready.data).toEqual({ status: 'ready', roles: [role] });
      const asked = await fetch(`${url}/v1/emails`, { headers: { authorization: `Bearer ${LIVE_KEY}` } });
      expect([asked.status, asked.headers.get('retry-after')]).toEqual(
        role === 'http' ? [200, null] : [503, '1'],
      );
      await asked.arrayBuffer();
    }
    await eventually('the doctor counts them', async () => {
      const { out } = await command(environment('capture'), 'doctor');
      return out.includes('Living instances: http 1, engine 1, delivery 1.') || undefined;
    });
  });

  for (const [role, key, state] of [
    ['http', LIVE_KEY, 'sent'],
    ['engine', TEST_KEY, 'delivered'],
  ] as const)
    test(`lose nothing when ${role} is killed`, async () => {
      const before = sink.received.length;
      const ids = await accept(key, EMAILS);
      await instance(role).kill();
      if (role === 'engine') await passLeases();
      await start(role);
      await until(state, ids);
      expect(sink.received).toHaveLength(before + (key === LIVE_KEY ? EMAILS : 0));
      expect(greeters()).toEqual(['delivery.example']);
    });

  test('lose nothing when delivery is killed, and leave live email waiting without an instance that delivers', async () => {
    const before = sink.received.length;
    const begun = await accept(LIVE_KEY, EMAILS);
    await instance('delivery').kill();
    await passLeases();
    const later = await accept(LIVE_KEY, EMAILS);
    // The engine works on meanwhile, and would have had its turn.
    await until('delivered', await accept(TEST_KEY, EMAILS));
    await until('queued', later);
    const arrived = sink.received.map(({ raw }) => raw.toString());
    expect(later.filter((id) => arrived.some((message) => message.includes(id)))).toEqual([]);
    // As it is once its last sign of life is old.
    await sql`delete from service_instances where 'delivery' = any(roles)`;
    const { out } = await command(environment('capture'), 'doctor');
    expect(out).toMatch(/^! Roles: .*, delivery 0\. So no process delivers live email\.$/m);
    await start('delivery');
    await until('sent', [...begun, ...later]);
    // Only what was under way in the killed one can have left twice.
    const copies = sink.received.length - before;
    expect(copies).toBeGreaterThanOrEqual(2 * EMAILS);
    expect(copies).toBeLessThanOrEqual(2 * EMAILS + SLOTS);
    expect(greeters()).toEqual(['delivery.example']);
  });

  test('show viewers of the one that answers what the others do, and forget them when it is killed', async () => {
    const viewers = [
      [await openViewer(instance('http').url, TEST_KEY), TEST_KEY, 'delivered', 'engine'],
      [await openViewer(instance('http').url, LIVE_KEY), LIVE_KEY, 'sent', 'delivery'],
    ] as const;
    for (const [{ ticks }, key, state, role] of viewers) {
      const roleOf = (id: string) =>
        ticks
          .findLast(({ instances: told }) => told !== null)
          ?.instances?.find((one) => one.id === id)
          ?.roles.join();
      await eventually(
        `a viewer is shown what ${role} does`,
        async () => {
          await accept(key, 1);
          return (
            ticks.some(({ sample }) =>
              sample.some(({ to, instance: by }) => to === state && roleOf(by) === role),
            ) || undefined
          );
        },
        { everyMs: 250 },
      );
    }
    await instance('http').kill();
    const watches = await sql`select livemode from live_watches order by 1`;
    expect(watches.map(({ livemode }) => livemode)).toEqual([false, true]);
    // As it is once the lease is over.
    await sql`update live_watches set until = until - interval '30 seconds'`;
    await eventually('others have taken them away', async () => {
      const [left] = await sql`select count(*)::integer as n from live_watches`;
      return left?.n === 0 || undefined;
    });
    for (const [viewer] of viewers) viewer[Symbol.dispose]();
    await start('http');
  });
});
