import { beforeAll, beforeEach, expect, test } from 'bun:test';
import pino from 'pino';
import { Engine } from '../../src/engine/engine.ts';
import type { Selection } from '../../src/engine/runtime/timers/tell-where.ts';
import type { Database, Parameter } from '../../src/platform/db/database.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { idle, LIVE, ManualClock, rowsOf } from '../support/engine.ts';
import { helperKind, makeFixtureTables, taskKind, watcherKind } from '../support/engine-fixture-kind.ts';
import { onEachStore } from '../support/shared-store.ts';

const NOW = Date.UTC(2026, 10, 22);

onEachStore('an event for selected actors', (store) => {
  let workspaceId: string;
  beforeAll(() => makeFixtureTables(store.database));
  beforeEach(() => {
    workspaceId = mintId('ws', NOW);
  });

  const engineOn = (database: Database): Engine =>
    new Engine({
      database,
      clock: new ManualClock(NOW),
      logger: pino({ level: 'silent' }),
      kinds: [taskKind, helperKind, watcherKind].map((kind) => ({
        kind,
        performer: idle,
      })),
    });
  const spawn = async (engine: Engine, parent: string): Promise<string> => {
    const id = mintId('run', NOW);
    const request = { ...LIVE, workspaceId, id, input: { at: NOW }, columns: { parent } };
    await engine.spawn('task', request);
    return id;
  };
  const selection = (): Selection => ({
    where: 'a.workspace_id = $1',
    parameters: [workspaceId],
    along: [{ name: 'parent', type: 'text' }],
    reason: `case when p.parent <> 'spared' then p.parent end`,
  });
  const stop = () => ({ type: 'stop.requested', at: NOW }) as const;
  const states = async () =>
    Object.fromEntries(
      (
        await rowsOf<{ id: string; state: string }>(
          store.database,
          'select id, state from tasks where workspace_id = $1',
          [workspaceId],
        )
      ).map(({ id, state }) => [id, state]),
    );

  test('changes those that take it, with their history, and says how many', async () => {
    const engine = engineOn(store.database);
    const [stopped, spared, done] = await Promise.all(
      ['chosen', 'spared', 'chosen'].map((parent) => spawn(engine, parent)),
    );
    await engine.tell('task', done as string, { type: 'work.completed', at: NOW, attempt: 1 });
    expect(await engine.tellWhere('task', selection(), stop)).toBe(1);
    expect(await states()).toEqual({
      [stopped as string]: 'stopped',
      [spared as string]: 'working',
      [done as string]: 'done',
    });
    const steps = await rowsOf(
      store.database,
      `select steps->0->>'event' as event from task_journal where actor_id = $1 order by revision`,
      [stopped as string],
    );
    expect(steps).toEqual([{ event: 'spawned' }, { event: 'stop.requested' }]);
    expect(await engine.tellWhere('task', selection(), stop)).toBe(0);
  });

  test('leaves an actor alone that changes between the look and the commit', async () => {
    const moved = await spawn(engineOn(store.database), 'chosen');
    const other = await spawn(engineOn(store.database), 'chosen');
    const database = Object.create(store.database) as Database;
    database.query = async <Row extends object>(sql: string, parameters?: readonly Parameter[]) => {
      const rows = await store.database.query<Row>(sql, parameters);
      // As another instance does whose lease ended: the machine would take the event still.
      if (sql.startsWith('with page as'))
        await store.database.query('update tasks set revision = revision + 1 where id = $1', [moved]);
      return rows;
    };
    expect(await engineOn(database).tellWhere('task', selection(), stop)).toBe(1);
    expect(await states()).toEqual({ [moved]: 'working', [other]: 'stopped' });
  });

  test('reaches each of them, and ends between two commits when asked to', async () => {
    const engine = engineOn(store.database);
    const ids = await Promise.all(Array.from({ length: 1_200 }, () => spawn(engine, 'chosen')));
    const asked = new AbortController();
    let told = 0;
    const once = () => {
      if (++told === 1) asked.abort();
      return stop();
    };
    const first = await engine.tellWhere('task', selection(), once, asked.signal);
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThan(ids.length);
    expect(await engine.tellWhere('task', selection(), stop)).toBe(ids.length - first);
    expect(new Set(Object.values(await states()))).toEqual(new Set(['stopped']));
  });

  test('writes each chunk with one commit', async () => {
    const engine = engineOn(store.database);
    await Promise.all(Array.from({ length: 1_000 }, () => spawn(engine, 'chosen')));
    expect(await engine.tellWhere('task', selection(), stop)).toBe(1_000);
    const commits = await rowsOf<{ actors: number }>(
      store.database,
      `select count(*)::integer as actors from task_journal j join tasks t on t.id = j.actor_id
       where t.workspace_id = $1 and j.revision = 2 group by j.commit_tag`,
      [workspaceId],
    );
    expect(commits.map(({ actors }) => actors)).toEqual([500, 500]);
  });

  test('fails where the database fails, and a repeated call reaches the rest', async () => {
    const ids = await Promise.all([
      spawn(engineOn(store.database), 'chosen'),
      spawn(engineOn(store.database), 'chosen'),
    ]);
    const database = Object.create(store.database) as Database;
    database.query = <Row extends object>(sql: string, parameters?: readonly Parameter[]) =>
      sql.startsWith('with input')
        ? Promise.reject(new Error('away'))
        : store.database.query<Row>(sql, parameters);
    await expect(engineOn(database).tellWhere('task', selection(), stop)).rejects.toThrow('away');
    expect(await engineOn(store.database).tellWhere('task', selection(), stop)).toBe(ids.length);
  });
});
