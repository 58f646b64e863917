import { expect, test } from 'bun:test';
import { eraseWorkspace, journalsOf, tellProgress } from '../../src/accounts/workspace/erase.ts';
import { surveyTables } from '../../src/accounts/workspace/owned-tables.ts';
import { MODULE_KINDS } from '../../src/modules.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { fillWorkspace, tracesOf } from '../support/full-workspace.ts';
import { onEachStore } from '../support/shared-store.ts';

// A million rows, killed ten times on the way: bun tests/bench/erase-workspace.ts

const journals = journalsOf(MODULE_KINDS);
const CONTACTS = 60;
const BATCH = 7;
const WINDOW = 30;

/** The same database, in which these are done otherwise. */
const over = (database: Database, own: Partial<Pick<Database, 'query' | 'script'>>): Database =>
  new Proxy(database, { get: (it, name) => Reflect.get(name in own ? own : it, name) });

/**
 * A database that hears how many rows each statement deletes and reads, and dies before its `lives`-th
 * deletion.
 */
function watched(database: Database, lives = Number.POSITIVE_INFINITY) {
  const seen = { deletions: 0, mostRows: 0, mostRead: 0 };
  const script: Database['script'] = async (text) => {
    if (++seen.deletions >= lives) throw new Error('killed');
    await database.script(text);
  };
  const query: Database['query'] = async (text, parameters = [], options = {}) => {
    if (text.startsWith('delete') && ++seen.deletions >= lives) throw new Error('killed');
    const lists = parameters.filter((each) => Array.isArray(each)) as string[][];
    // The first list names the rows that these belong to, the second one is the first column of their key.
    if (text.startsWith('delete')) seen.mostRows = Math.max(seen.mostRows, lists[1]?.length ?? 0);
    const rows = await database.query<never>(text, parameters, options);
    if (!text.includes('pg_class')) seen.mostRead = Math.max(seen.mostRead, rows.length);
    return rows;
  };
  return { seen, database: over(database, { query, script }) };
}

onEachStore('a workspace is erased', (store) => {
  test('in statements of few rows, again and again from where it was killed, and of no other workspace', async () => {
    await fillWorkspace(store.database, 'ws_gone', CONTACTS);
    await fillWorkspace(store.database, 'ws_other', CONTACTS);
    const before = await tracesOf(store.database, 'ws_other');
    expect(Object.keys(before).length).toBeGreaterThan(20);
    expect(Object.keys(await tracesOf(store.database, 'ws_gone'))).toEqual(Object.keys(before));
    const limits = { batch: BATCH, window: WINDOW };
    const removed = new Map<string, number>();
    const onRemoved = (table: string, rows: number) =>
      void removed.set(table, (removed.get(table) ?? 0) + rows);
    let kills = 0;
    for (let isGone = false; !isGone; ) {
      const { database, seen } = watched(store.database, 30);
      isGone = await eraseWorkspace(database, journals, 'ws_gone', { ...limits, onRemoved }).catch(
        (error: Error) => {
          if (error.message !== 'killed') throw error;
          kills += 1;
          return false;
        },
      );
      expect(seen.mostRows).toBeLessThanOrEqual(BATCH);
      expect(seen.mostRead).toBeLessThanOrEqual(WINDOW);
    }
    expect(kills).toBeGreaterThan(2);
    expect(await tracesOf(store.database, 'ws_gone')).toEqual({});
    expect(await tracesOf(store.database, 'ws_other')).toEqual(before);
    // Each row was removed once, and told.
    for (const [table, stored] of [
      ...['contacts', 'contact_activity', 'campaign_recipients', 'usage_entries'].map((name) => [name, name]),
      ['email_turns', 'email_turns_default'],
    ] as const)
      expect([table, removed.get(table ?? '')]).toEqual([table, before[stored ?? '']]);
  });

  test('with what an instance writes that takes its campaign over meanwhile', async () => {
    await fillWorkspace(store.database, 'ws_late', CONTACTS);
    const { database } = store;
    let steps = 0;
    /** Before the campaign goes, and after its journal has. */
    const takeOver = async (text: string) => {
      if (!/delete from campaigns\b/.test(text) || steps > 0) return;
      const written = await database.query(
        `with changed as (
           update campaigns set revision = revision + 1 where workspace_id = 'ws_late' returning id, revision
         )
         insert into campaign_journal (actor_id, revision, commit_tag, steps)
         select id, revision, 1, '[]' from changed returning actor_id`,
      );
      steps = written.length;
    };
    const raced = over(database, {
      async query(text, parameters, options) {
        await takeOver(text);
        return database.query(text, parameters, options);
      },
      async script(text) {
        await takeOver(text);
        await database.script(text);
      },
    });
    expect(await eraseWorkspace(raced, journals, 'ws_late')).toBe(true);
    expect(steps).toBeGreaterThan(0);
    expect(
      await database.query(
        `select actor_id from campaign_journal j where not exists (select from campaigns c where c.id = j.actor_id)`,
      ),
    ).toEqual([]);
  });

  test('by two at once, and is stopped between two statements', async () => {
    await fillWorkspace(store.database, 'ws_twice', CONTACTS);
    const limits = { batch: BATCH, window: WINDOW };
    const stop = new AbortController();
    let told = 0;
    const stopped = eraseWorkspace(store.database, journals, 'ws_twice', {
      ...limits,
      stop: stop.signal,
      onRemoved() {
        told += 1;
        stop.abort();
      },
    });
    expect([await stopped, told]).toEqual([false, 1]);
    expect(Object.keys(await tracesOf(store.database, 'ws_twice'))).toContain('workspaces');
    const both = [1, 2].map(() => eraseWorkspace(store.database, journals, 'ws_twice', limits));
    expect(await Promise.all(both)).toEqual([true, true]);
    expect(await tracesOf(store.database, 'ws_twice')).toEqual({});
  });

  test('through an index or a key, whichever table it is', async () => {
    const { owned } = await surveyTables(store.database, journals);
    // Dependent rows are looked up by their row, and tables without an index are short: usage is added up
    // every ten seconds.
    expect(owned.filter(({ owner, isIndexed }) => owner && !isIndexed)).toEqual([]);
    expect(
      owned.filter(({ isIndexed, key }) => !isIndexed && key.length === 0).map(({ table }) => table),
    ).toEqual(['usage_entries']);
    const keysOf = (wanted: string) =>
      owned.find(({ table }) => table === wanted)?.key.map(({ name }) => name);
    for (const owner of new Set(owned.flatMap(({ owner }) => (owner ? [owner.table] : []))))
      expect([owner, keysOf(owner)?.includes('id')]).toEqual([owner, true]);
  });
});

test('the progress is logged every 100,000 rows and at the end', () => {
  const told: string[] = [];
  const { onRemoved, end } = tellProgress((sentence) => told.push(sentence));
  for (let rows = 0; rows < 250; rows++) onRemoved('contacts', 1_000);
  end();
  expect(told).toEqual([
    '100,000 rows removed, the last ones from contacts.',
    '200,000 rows removed, the last ones from contacts.',
    'All rows removed: 250,000 in this run.',
  ]);
});
