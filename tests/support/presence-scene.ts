import { afterAll, afterEach, beforeAll, beforeEach } from 'bun:test';
import pino from 'pino';
import postgres from 'postgres';
import { News } from '../../src/engine/news.ts';
import { LOCKS, Presence, type PresenceParts } from '../../src/engine/presence.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import { postgresStore, type Store } from './engine.ts';
import { eventually } from './eventually.ts';

export interface Watcher {
  readonly id: string;
  readonly news: News;
  readonly presence: Presence;
  readonly taken: number[];
}

export type SessionSource = Pick<Database, 'query' | 'session'>;

/** The locks that instances hold. */
export const HOLDERS = `select pid, objid::bigint::integer as epoch from pg_locks
  where locktype = 'advisory' and mode = 'ExclusiveLock' and granted
    and database = (select oid from pg_database where datname = current_database())`;

/** Instances that watch each other on a separate database, for the tests of a file. */
export function presenceScene() {
  let store: Store;
  let sql: postgres.Sql;
  let open: AsyncDisposableStack;
  beforeAll(async () => {
    store = await postgresStore();
    sql = postgres(store.url ?? '', { max: 1, onnotice: () => {} });
  });
  afterAll(async () => {
    await sql.end();
    await store[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    open = new AsyncDisposableStack();
    await sql`truncate service_instances, emails, email_turns, email_due`;
  });
  afterEach(() => open.disposeAsync());

  async function openedDatabase(): Promise<PostgresDatabase> {
    const database = await PostgresDatabase.open(store.url ?? '');
    open.defer(() => database.close());
    return database;
  }

  /** An instance that looks at once, unless the parts say otherwise. */
  async function watcher(given?: SessionSource, parts: Partial<PresenceParts> = {}): Promise<Watcher> {
    const database = given ?? (await openedDatabase());
    const id = crypto.randomUUID();
    await sql`insert into service_instances (id, roles, seen_at) values (${id}, '{}', now())`;
    const taken: number[] = [];
    const news = new News({ database, id, hasOthers: () => true });
    const presence = new Presence({
      database,
      id,
      logger: pino({ level: 'silent' }),
      monotonic: () => performance.now(),
      news,
      takeUp: async (epochs) => taken.push(...epochs),
      onLeft: () => {},
      lookAfterMs: 0,
      waitMs: 300,
      ...parts,
    });
    open.defer(() => presence.stop());
    return { id, news, presence, taken };
  }

  /** Sessions of a database, at whose statements and closes a test looks. */
  const observed = (
    database: Database,
    { onQuery, onClose }: { onQuery?(text: string): void; onClose?(hasHeld: boolean): Promise<void> },
  ): SessionSource => ({
    query: database.query.bind(database),
    session(onNotification) {
      const real = database.session(onNotification);
      if (!real) return null;
      let hasHeld = false;
      return {
        ended: real.ended,
        async query<Row extends object>(text: string, deadlineMs: number): Promise<readonly Row[]> {
          hasHeld ||= text.includes('pg_try_advisory_lock(');
          onQuery?.(text);
          return await real.query<Row>(text, deadlineMs);
        },
        async close() {
          await onClose?.(hasHeld);
          await real.close();
        },
      };
    },
  });

  const epochOf = ({ presence }: Watcher, former: number | null = null): Promise<number> =>
    eventually('an epoch', () => (presence.epoch === former ? undefined : (presence.epoch ?? undefined)));
  const storedEpoch = async (id: string) =>
    (await sql`select epoch from service_instances where id = ${id}`)[0]?.epoch ?? null;
  const holderOf = async (epoch: number): Promise<number> => {
    const found = await sql.unsafe<{ pid: number; epoch: number }[]>(HOLDERS);
    return found.find((one) => one.epoch === epoch)?.pid ?? 0;
  };

  /** A dead instance with that epoch: the lock of it is free. */
  const leaveDead = (epoch: number) =>
    sql`insert into service_instances (id, roles, seen_at, epoch) values (${`dead ${epoch}`}, '{}', now(), ${epoch})`;

  /** Another instance that lives: its row, and the session that holds its lock. */
  async function neighbour(epoch: number): Promise<{ die(): Promise<void> }> {
    const session = postgres(store.url ?? '', { max: 1, onnotice: () => {} });
    open.defer(() => session.end());
    await session`select pg_advisory_lock(${LOCKS}, ${epoch})`;
    await sql`insert into service_instances (id, roles, seen_at, epoch) values (${`live ${epoch}`}, '{}', now(), ${epoch})`;
    return { die: () => session.end() };
  }

  /** The statements that watch at the moment, with a transaction that began after each of them. */
  const watching = () => sql<
    { pid: number; began: string; xmin: string | null; next: string }[]
  >`select pid, query_start::text as began, backend_xmin::text as xmin, pg_current_xact_id()::text as next
  from pg_stat_activity where query like 'do $$ begin%pg_advisory_xact_lock_shared%' and state = 'active'
    and datname = current_database()`;

  /** Waits until that many sessions have each begun to watch again, twice. */
  async function watchedAgain(sessions: number): Promise<void> {
    const seen = new Map<number, Set<string>>();
    await eventually('all have watched again', async () => {
      for (const { pid, began } of await watching()) seen.set(pid, (seen.get(pid) ?? new Set()).add(began));
      return [...seen.values()].filter(({ size }) => size > 2).length >= sessions || undefined;
    });
  }

  return {
    get store() {
      return store;
    },
    get sql() {
      return sql;
    },
    get open() {
      return open;
    },
    openedDatabase,
    watcher,
    observed,
    epochOf,
    storedEpoch,
    holderOf,
    leaveDead,
    neighbour,
    watching,
    watchedAgain,
  };
}
