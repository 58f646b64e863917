import { afterAll, beforeAll, expect, test } from 'bun:test';
import pino from 'pino';
import postgres from 'postgres';
import { Roster } from '../../src/engine/roster.ts';
import { createResolver } from '../../src/mail/dns/resolver.ts';
import { DirectTransport } from '../../src/mail/transport/direct/direct.ts';
import { mxGroupLimits } from '../../src/mail/transport/direct/mx-group.ts';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { ROLES } from '../../src/platform/config/roles.ts';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { aMessage } from '../unit/transport/a-message.ts';
import { a, mx, startNameServer, type TestNameServer } from './transport/name-server.ts';
import { type Sink, startSink } from './transport/smtp-sink.ts';

// Two instances on one database deliver to one receiving site, which holds every message until it is let go.

const CONNECTIONS = 6;

/** The messages that the site holds, each by the instance that brought it and its session. */
const held: { readonly by: string; readonly session: string; letGo(): void }[] = [];
let most = 0;
let database: TestDatabase;
let sql: postgres.Sql;
let dns: TestNameServer;
let sink: Sink;
let port: number;

beforeAll(async () => {
  database = await createTestDatabase();
  sql = postgres(database.url, { max: 1 });
  dns = await startNameServer();
  dns.zone = { 'receiver.test MX': [mx('mx.receiver.test', 10)], 'mx.receiver.test A': [a('127.0.0.1')] };
  port = await freePort();
  sink = await startSink(
    {
      onData(stream, session, done) {
        stream.resume();
        stream.on('end', () => {
          held.push({ by: session.hostNameAppearsAs, session: session.id, letGo: () => done() });
          most = Math.max(most, held.length);
        });
      },
      onClose(session) {
        const place = held.findIndex((message) => message.session === session.id);
        if (place >= 0) held.splice(place, 1);
      },
    },
    { port },
  );
});
afterAll(async () => {
  await sink[Symbol.asyncDispose]();
  await dns[Symbol.asyncDispose]();
  await sql.end();
  await database.close();
});

/** An instance that always has more to send than it may. */
async function instance(name: string) {
  const own = new PostgresDatabase(database.url);
  const monotonic = () => performance.now();
  const direct = new DirectTransport({
    monotonic,
    port,
    random: () => 0,
    ehloName: name,
    mayConnect: () => true,
    resolver: createResolver([dns.server], { timeoutMs: 5_000, rounds: 1 }),
    limits: mxGroupLimits(CONNECTIONS, 60_000),
  });
  const roster = new Roster({
    keys: () => ({ holds: [], sealsWith: '' }),
    database: own,
    monotonic,
    version: '0',
    roles: ROLES,
    everyMs: 30,
    onOthers: () => {},
    logger: pino({ level: 'silent' }),
  });
  roster.watch(() => direct.keepTo(roster.partOf('delivery')));
  await roster.start();
  const signal = new AbortController();
  const limits = { signal: signal.signal, deadlineMs: 600_000 };
  const message = aMessage({ recipients: ['bob@receiver.test'] });
  const send = async (): Promise<void> => {
    while (!signal.signal.aborted) await direct.send(message, limits);
  };
  const senders = Array.from({ length: 2 * CONNECTIONS }, send);
  return {
    roster,
    /**
     * Ends as the service does, its connections before its name in the roster; or it tells the others
     * nothing.
     */
    async end({ leaves }: { readonly leaves: boolean }): Promise<void> {
      if (!leaves) await own.close();
      signal.abort();
      await Promise.all(senders);
      await direct.close();
      await eventually('the site sees it go', () => held.every(({ by }) => by !== name) || undefined);
      await roster.stop();
      if (leaves) await own.close();
    },
  };
}

/** Lets messages go one by one until so many are held of each, and no other. */
const until = (wanted: Readonly<Record<string, number>>): Promise<true> =>
  eventually(`held are ${JSON.stringify(wanted)}`, () => {
    const count = Object.fromEntries(
      [...Map.groupBy(held, ({ by }) => by)].map(([by, each]) => [by, each.length]),
    );
    if (Bun.deepEquals(count, wanted)) return true;
    const tooMany = held.findIndex(({ by }) => (count[by] ?? 0) > (wanted[by] ?? 0));
    if (tooMany >= 0) held.splice(tooMany, 1)[0]?.letGo();
    return undefined;
  });

test('the connections to a site are shared out again as instances come, go and die', async () => {
  const first = await instance('first.example');
  await until({ 'first.example': CONNECTIONS });
  const second = await instance('second.example');
  await until({ 'first.example': 3, 'second.example': 3 });
  const third = await instance('third.example');
  await until({ 'first.example': 2, 'second.example': 2, 'third.example': 2 });
  // A new instance has one connection before the others make room.
  expect(most).toBeLessThanOrEqual(CONNECTIONS + 1);

  await third.end({ leaves: true });
  await until({ 'first.example': 3, 'second.example': 3 });
  await second.end({ leaves: false });
  await sql`update service_instances set seen_at = seen_at - interval '36 seconds'
    where id = ${second.roster.instances[0]?.id ?? ''}`;
  await until({ 'first.example': CONNECTIONS });
  await first.end({ leaves: true });
  expect(most).toBeLessThanOrEqual(CONNECTIONS + 1);
});
