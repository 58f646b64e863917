import { afterAll, beforeAll, expect, test } from 'bun:test';
import postgres from 'postgres';
import { changeStatus } from '../../src/audience/contacts/commands.ts';
import { createSealer } from '../../src/platform/crypto/sealer.ts';
import { createSigner } from '../../src/platform/crypto/signer.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { isDeadlocked } from '../../src/platform/db/sqlstate.ts';
import { suppress, type ToSuppress } from '../../src/sending/suppressions/commands.ts';
import { type RealService, startRealService } from '../contract/real-service.ts';
import { eventually } from '../support/eventually.ts';
import { LOCK_WAITS } from '../support/lock-waits.ts';
import { createTestDatabase } from '../support/postgres.ts';

// Two connections of one PostgreSQL: a person leaves while something else lifts what kept mail from their
// address. The leaving stays.

const SECRET_KEY = 'only-for-tests-only-for-tests-only';

let made: Awaited<ReturnType<typeof createTestDatabase>>;
let service: RealService;
let other: postgres.Sql;
let key: string;

beforeAll(async () => {
  made = await createTestDatabase();
  service = await startRealService({ DATABASE_URL: made.url });
  other = postgres(made.url, { max: 1 });
  key = await service.keyWith('live', ['*']);
});
afterAll(async () => {
  await other.end();
  await service[Symbol.asyncDispose]();
  await made.close();
});

const send = (method: string, path: string, body?: unknown, headers = {}) =>
  service.ask({ method, path, key, headers, ...(body !== undefined && { body }) });
const reasonsOf = async (address: string): Promise<readonly string[]> => {
  const [found] = (await send('GET', `/v1/suppressions?address=${address}`)).body.data;
  return found ? [found.reason, ...found.otherReasons] : [];
};

/** A contact whose address bounced two hours ago. */
async function bounced(email: string): Promise<{ readonly id: string; readonly email: string }> {
  const { id } = (await send('POST', '/v1/contacts', { email })).body.data;
  const csv = { 'content-type': 'text/csv' };
  await send('POST', '/v1/suppressions/import', `address,reason\n${email},bounced\n`, csv);
  await service.service.database.query(
    `with bounced as (update contacts set unsubscribed_at = unsubscribed_at - interval '2 hours' where id = $1 returning email)
     update suppressions set created_at = created_at - interval '2 hours' where address in (select email from bounced)`,
    [id],
  );
  return { id, email };
}

/** Consent of an hour ago. */
const agree = (email: string) => {
  const consent = { source: 'form', at: new Date(Date.now() - 3_600_000).toISOString() };
  return send('PATCH', `/v1/contacts/${email}`, { status: 'subscribed', consent });
};

const isWaited = async (): Promise<true | undefined> => {
  const waiters = await service.service.database.query(`select 1 from ${LOCK_WAITS}`);
  return waiters.length > 0 ? true : undefined;
};

/**
 * Begins `first` on one connection, and then `second` on another, which has to wait; then ends the first with
 * `last`, and commits.
 */
async function atOnce<Answer>(
  first: (database: Database) => Promise<unknown>,
  second: () => Promise<Answer>,
  last: (database: Database) => Promise<unknown> = async () => {},
): Promise<Answer> {
  let waiting: Promise<Answer> | undefined;
  await other.begin(async (transaction) => {
    const query = (text: string, parameters: readonly unknown[] = []) =>
      transaction.unsafe(text, [...parameters] as never[]);
    const database = { query } as unknown as Database;
    await first(database);
    waiting = second();
    await eventually('the second waits for the first', isWaited);
    await last(database);
  });
  if (!waiting) throw new Error('Nothing waited.');
  return waiting;
}

const unsubscription = (address: string): ToSuppress => ({
  workspaceId: service.workspaceId,
  address,
  emailId: null,
  at: Date.now(),
  reason: 'unsubscribed',
});
const unsubscribe = (database: Database, address: string) => suppress(database, unsubscription(address));

test('an unsubscription stays that commits while the bounce beside it is removed', async () => {
  const { email } = await bounced('removed@once.example');
  const told = await atOnce(
    (database) => unsubscribe(database, email),
    () => send('DELETE', `/v1/suppressions/${email}`),
  );
  expect(told.status).toBe(204);
  expect(await reasonsOf(email)).toEqual(['unsubscribed']);
});

test('an unsubscription stays that commits while an older consent comes', async () => {
  const { email } = await bounced('agreed@once.example');
  const told = await atOnce(
    (database) => unsubscribe(database, email),
    () => agree(email),
  );
  expect(told.status).toBe(422);
  expect(await reasonsOf(email)).toEqual(['bounced', 'unsubscribed']);
});

test('a leaving on the page stays that commits while an older consent comes', async () => {
  const contact = await bounced('page@once.example');
  const told = await atOnce(
    (database) =>
      changeStatus(
        { database, signer: createSigner(SECRET_KEY), sealer: createSealer(SECRET_KEY), tellsSes: false },
        { workspaceId: service.workspaceId, livemode: true },
        contact,
        { status: 'unsubscribed', consent: { source: 'preference page', at: new Date().toISOString() } },
        Date.now(),
      ),
    () => agree(contact.email),
  );
  expect(told.status).toBe(422);
  expect(await reasonsOf(contact.email)).toEqual(['bounced', 'unsubscribed']);
});

test('an unsubscription that PostgreSQL rolls back for a deadlock is repeated', async () => {
  let tried = 0;
  const { address, told } = await eventually('a circle that PostgreSQL ends in the service', async () => {
    const address = `circle-${++tried}@once.example`;
    await send('POST', '/v1/contacts', { email: address });
    const told = await atOnce(
      (database) => database.query('select 1 from contacts where email_key = $1 for update', [address]),
      () => send('POST', '/v1/suppressions', { address, reason: 'unsubscribed' }),
      // The row that the other has written, which waits for the contact.
      (database) => suppress(database, { ...unsubscription(address), reason: 'manual' }),
    ).catch((error: unknown) => {
      // The service looked for a circle, as it does once, before there was one: a busy machine.
      if (isDeadlocked(error)) return null;
      throw error;
    });
    return told === null ? undefined : { address, told };
  });
  expect(told.status).toBe(201);
  expect(await reasonsOf(address)).toEqual(['manual', 'unsubscribed']);
});

test.each([[['unsubscribed']], [[]]])(
  'a person who is forgotten as a bounce commits leaves a hash alone, with %p before it',
  async (before: readonly string[]) => {
    const email = `forgotten-${before.length}@once.example`;
    await send('POST', '/v1/contacts', { email });
    for (const reason of before) await send('POST', '/v1/suppressions', { address: email, reason });
    await atOnce(
      (database) => suppress(database, { ...unsubscription(email), reason: 'bounced' }),
      () => send('DELETE', `/v1/contacts/${email}`),
    );
    const { data } = await eventually('the erasure', async () => {
      const rows = await service.service.database.query('select 1 from erasures');
      return rows.length === 0 ? (await send('GET', `/v1/suppressions?address=${email}`)).body : undefined;
    });
    expect(data).toMatchObject([{ address: null, reason: 'bounced', otherReasons: before }]);
  },
);
