import { afterAll, beforeAll, expect, test } from 'bun:test';
import postgres from 'postgres';
import { mintId } from '../../src/platform/db/ids.ts';
import { Failure } from '../../src/platform/errors/failure.ts';
import { readLog } from '../../src/sending/events/queries.ts';
import { postgresStore, type Store } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { EDITABLE_VIEWS } from '../support/stored-email.ts';

// Transactions do not end in the order in which they begin. A reader who polls while they run must still see
// every event once, in one order.

let store: Store;
let sql: postgres.Sql;
beforeAll(async () => {
  store = await postgresStore();
  sql = postgres(store.url ?? '', { max: 12, onnotice: () => {} });
  await sql.unsafe(EDITABLE_VIEWS);
});
afterAll(async () => {
  await sql.end();
  await store[Symbol.asyncDispose]();
});

const write = async (to: postgres.Sql, workspaceId: string, type = 'sent', livemode = false) => {
  const id = mintId('evt', Date.now());
  await to`insert into email_events (email_id, id, workspace_id, livemode, type, recipient, occurred_at, data)
    values (${mintId('em', Date.now())}, ${id}, ${workspaceId}, ${livemode}, ${type}, 'a@b.co', now(), '{"k":1}')`;
  return id;
};

/** A client of the log that keeps its cursor. */
class Follower {
  readonly seen: string[] = [];
  cursor: string | undefined;
  /** The answers that it has got. */
  pages = 0;

  constructor(
    private readonly workspaceId: string,
    private readonly limit = 100,
    private readonly types?: string,
  ) {}

  /** Reads all there is now; how many that was. */
  async catchUp(): Promise<number> {
    const before = this.seen.length;
    for (;;) {
      const caller = { workspaceId: this.workspaceId, livemode: false };
      const query = {
        limit: this.limit,
        ...(this.cursor === undefined ? {} : { after: this.cursor }),
        ...(this.types === undefined ? {} : { types: this.types }),
      };
      const page = await readLog(store, { caller, query } as Parameters<typeof readLog>[1]);
      if (page instanceof Failure) throw new Error(page.message);
      this.pages += 1;
      this.seen.push(...page.data.map(({ id }) => id));
      expect(page.pagination.nextCursor).not.toBeNull();
      this.cursor = page.pagination.nextCursor ?? undefined;
      if (!page.pagination.hasMore) return this.seen.length - before;
    }
  }
}

/**
 * All of a follower's events, once there are so many: an analyze anywhere on the server holds the log for a
 * moment.
 */
const reach = (follower: Follower, total: number): Promise<readonly string[]> =>
  eventually(
    `${total} events`,
    async () => {
      await follower.catchUp();
      return follower.seen.length >= total ? follower.seen : undefined;
    },
    { everyMs: 5 },
  );

test('the event log shows each event once to a reader polling during late commits', async () => {
  const written: string[] = [];
  let writing = true;
  const followers = [new Follower('ws_many', 7), new Follower('ws_many')];
  const haveLooked = () => followers.every(({ pages }) => pages > 5);
  const writer = async (round: number) => {
    // On a busy machine it goes on until both have looked amid it.
    for (let i = 0; i < 25 || !haveLooked(); i += 1)
      await sql.begin(async (tx) => {
        const ids = [await write(tx as never, 'ws_many'), await write(tx as never, 'ws_many')];
        await tx`select pg_sleep(${((round * 7 + i * 13) % 10) / 400})`;
        ids.push(await write(tx as never, 'ws_many'));
        written.push(...ids);
      });
  };
  const polling = followers.map(async (follower) => {
    while (writing) await follower.catchUp();
    await reach(follower, written.length);
  });
  await Promise.all(Array.from({ length: 10 }, (_, round) => writer(round)));
  writing = false;
  await Promise.all(polling);
  expect(written.length).toBeGreaterThanOrEqual(750);
  const [first, second] = followers as [Follower, Follower];
  expect([...first.seen].sort()).toEqual(written.sort());
  expect(second.seen).toEqual(first.seen);
});

test('the event log waits for an open writing transaction, then continues in one order', async () => {
  const follower = new Follower('ws_held');
  const before = await write(sql, 'ws_held');
  await reach(follower, 1);
  const { promise: letGo, resolve: release } = Promise.withResolvers<void>();
  const { promise: held, resolve: isHeld } = Promise.withResolvers<string>();
  const holding = sql.begin(async (tx) => {
    isHeld(await write(tx as never, 'ws_held'));
    await letGo;
  });
  const early = await held;
  const late = [await write(sql, 'ws_held'), await write(sql, 'ws_held')];
  expect(await follower.catchUp()).toBe(0);
  release();
  await holding;
  expect(await reach(follower, 4)).toEqual([before, early, ...late]);
  expect(await follower.catchUp()).toBe(0);
});

test('the event log does not wait for an open reading transaction', async () => {
  const follower = new Follower('ws_reader');
  await sql.begin('isolation level repeatable read', async (tx) => {
    await tx`select count(*) from email_events`;
    const id = await write(sql, 'ws_reader');
    expect(await reach(follower, 1)).toEqual([id]);
  });
});

test('an event log cursor is bound to its environment and filter', async () => {
  const follower = new Follower('ws_types', 2, 'bounced,opened');
  for (const type of ['sent', 'bounced', 'sent', 'opened', 'delivered', 'bounced'])
    await write(sql, 'ws_types', type);
  await write(sql, 'ws_types', 'bounced', true);
  await write(sql, 'ws_other', 'bounced');
  await reach(follower, 3);
  await write(sql, 'ws_types', 'sent');
  const next = await write(sql, 'ws_types', 'opened');
  expect((await reach(follower, 4)).at(-1)).toBe(next);
  expect(await follower.catchUp()).toBe(0);
  const other = new Follower('ws_types', 2, 'bounced');
  other.cursor = follower.cursor;
  await expect(other.catchUp()).rejects.toThrow('not valid');
});

test('an empty event log has a cursor to read later events from', async () => {
  const follower = new Follower('ws_empty');
  expect(await follower.catchUp()).toBe(0);
  const id = await write(sql, 'ws_empty');
  expect(await reach(follower, 1)).toEqual([id]);
});

test('an event log page ends within one commit, and the next one goes on there', async () => {
  const written = await sql.begin(async (tx) => {
    const ids: string[] = [];
    for (let n = 0; n < 30; n++)
      ids.push(await write(tx as never, 'ws_one_commit', n % 5 === 0 ? 'bounced' : 'sent'));
    return ids;
  });
  const rare = written.filter((_, n) => n % 5 === 0);
  for (const [limit, types, expected] of [
    [7, undefined, written],
    [1, undefined, written],
    [4, 'bounced', rare],
    [100, 'bounced,opened', rare],
  ] as const) {
    const follower = new Follower('ws_one_commit', limit, types);
    await reach(follower, expected.length);
    expect(follower.seen).toEqual([...expected].sort());
    expect(await follower.catchUp()).toBe(0);
  }
});

test('a reader that begins at the end gets nothing of before, whatever its types, and everything after', async () => {
  const workspaceId = 'ws_end';
  const caller = { workspaceId, livemode: false };
  const read = (query: object) =>
    readLog(store, { caller, query: { limit: 50, ...query } } as Parameters<typeof readLog>[1]);
  const endOf = async (query: object): Promise<string> => {
    const page = await read({ from: 'end', ...query });
    if (page instanceof Failure) throw new Error(page.message);
    expect(page.data).toEqual([]);
    expect(page.pagination.hasMore).toBe(false);
    return page.pagination.nextCursor as string;
  };
  const after = async (cursor: string, query: object = {}) => {
    const page = await read({ after: cursor, ...query });
    if (page instanceof Failure) throw new Error(page.message);
    return page.data.map(({ id }) => id);
  };
  const ofNothing = await endOf({});
  const early = await write(sql, workspaceId, 'clicked');
  expect(await eventually('the first event', async () => (await after(ofNothing))[0])).toBe(early);
  const [end, endOfOpens] = [await endOf({}), await endOf({ types: 'opened' })];
  const late = await write(sql, workspaceId, 'opened');
  expect(await eventually('the second event', async () => (await after(end))[0])).toBe(late);
  expect(await after(endOfOpens, { types: 'opened' })).toEqual([late]);
  expect(await read({ from: 'end', after: end })).toMatchObject({
    extra: { details: [{ path: '/query/from' }] },
  });
});
