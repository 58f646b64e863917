import { afterAll, beforeAll, expect, test } from 'bun:test';
import postgres from 'postgres';
import { endSessions, setPassword } from '../../src/accounts/members/accounts.ts';
import { SessionStore } from '../../src/http/auth/sessions/session-store.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { postgresStore, rowsOf, type Store } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { LOCK_WAITS } from '../support/lock-waits.ts';

// The end of sessions and the beginning of one at the same time, statement by statement: only a server has
// two connections.

let store: Store;
let sql: postgres.Sql;
beforeAll(async () => {
  store = await postgresStore();
  sql = postgres(store.url ?? '', { max: 2, onnotice: () => {} });
  await sql`insert into workspaces (id, name, plan, created_at) values ('ws_1', 'w', 'free', now())`;
  await sql`insert into accounts (id, email, email_key, name, password, created_at)
    values ('acc_1', 'a@x.example', 'a@x.example', 'A', 'old', now())`;
});
afterAll(async () => {
  await sql.end();
  await store[Symbol.asyncDispose]();
});

const SUBJECT = { kind: 'account', id: 'acc_1', workspaceId: 'ws_1', livemode: true } as const;
const opening = (more: object) => ({
  expiresAt: Date.now() + 60_000,
  userAgent: '',
  client: '192.0.2.1',
  replaces: null,
  ...more,
});
const storeOver = (database: Pick<Database, 'query'>) =>
  new SessionStore(database as Database, () => Date.now());
const sessions = async () => (await rowsOf(store.database, 'select id from browser_sessions')).length;
const passwordIs = (hash: string) => sql`update accounts set password = ${hash} where id = 'acc_1'`;

/** Runs statements in a transaction that stays open until `commit`. */
async function held() {
  const connection = await sql.reserve();
  await connection`begin`;
  const query = async (text: string, values: readonly unknown[] = []) =>
    Array.from(await connection.unsafe(text, values as never[]));
  return {
    database: { query } as unknown as Database,
    async commit() {
      await connection`commit`;
      connection.release();
    },
  };
}
const untilOneWaits = () =>
  eventually('a statement that waits for a lock', async () => {
    const waiting = await sql.unsafe(`select from ${LOCK_WAITS}`);
    return waiting.length > 0 || undefined;
  });

test('a sign-in with the old password opens nothing when the new one is written meanwhile', async () => {
  const change = await held();
  await change.database.query(`update accounts set password = 'new' where id = 'acc_1'`);
  const opened = storeOver(store.database).open(SUBJECT, opening({ provided: { password: 'old' } }));
  await untilOneWaits();
  await change.commit();
  expect([await opened, await sessions()]).toEqual([null, 0]);
  expect(await storeOver(store.database).open(SUBJECT, opening({ provided: { password: 'old' } }))).toBe(
    null,
  );
});

test('a session that is being opened when the password changes ends with it', async () => {
  await passwordIs('old');
  const signIn = await held();
  const token = await storeOver(signIn.database).open(SUBJECT, opening({ provided: { password: 'old' } }));
  expect(token).toHaveLength(43);
  const changed = setPassword(store.database, { id: 'acc_1', password: 'old' }, 'new', null);
  await untilOneWaits();
  await signIn.commit();
  expect([await changed, await sessions()]).toEqual([true, 0]);
});

test('of two changes from the same password the second writes nothing, and ends no session', async () => {
  await passwordIs('old');
  await storeOver(store.database).open(SUBJECT, opening({}));
  const first = await held();
  await first.database.query(`update accounts set password = 'first' where id = 'acc_1'`);
  const second = setPassword(store.database, { id: 'acc_1', password: 'old' }, 'second', null);
  await untilOneWaits();
  await first.commit();
  const isSet = await second;
  const [account] = await sql`select password from accounts where id = 'acc_1'`;
  expect([isSet, account?.password, await sessions()]).toEqual([false, 'first', 1]);
  await endSessions(store.database, 'acc_1', null);
});

test('a session that moves to another workspace while all are ended ends too, whichever is first', async () => {
  const stolen = await storeOver(store.database).open(SUBJECT, opening({}));
  const move = await held();
  const moved = await storeOver(move.database).open(
    SUBJECT,
    opening({ replaces: stolen, provided: 'replaced' }),
  );
  const ended = endSessions(store.database, 'acc_1', null);
  await untilOneWaits();
  await move.commit();
  await ended;
  expect([moved?.length, await sessions()]).toEqual([43, 0]);

  const again = await storeOver(store.database).open(SUBJECT, opening({}));
  const ending = await held();
  await endSessions(ending.database, 'acc_1', null);
  const late = storeOver(store.database).open(SUBJECT, opening({ replaces: again, provided: 'replaced' }));
  await untilOneWaits();
  await ending.commit();
  expect([await late, await sessions()]).toEqual([null, 0]);
});
