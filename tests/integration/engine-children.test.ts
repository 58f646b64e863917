import { beforeAll, beforeEach, expect, test } from 'bun:test';
import pino from 'pino';
import { Engine } from '../../src/engine/engine.ts';
import type { Performer } from '../../src/engine/runtime/performers.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { ManualClock, rowsOf, TEST } from '../support/engine.ts';
import { helperKind, makeFixtureTables, taskKind, watcherKind } from '../support/engine-fixture-kind.ts';
import { onEachStore } from '../support/shared-store.ts';

const NOW = Date.UTC(2026, 10, 22);

onEachStore('children', (store) => {
  let engine: Engine;
  /** Which actors were told to work, in order. */
  let worked: string[];

  beforeAll(() => makeFixtureTables(store.database));
  beforeEach(() => {
    worked = [];
    const performer: Performer = {
      slots: 100,
      backlog: 100,
      perform: ({ actor }) => {
        worked.push(actor.id);
        return [];
      },
    };
    engine = new Engine({
      database: store.database,
      clock: new ManualClock(NOW),
      logger: pino({ level: 'silent' }),
      kinds: [taskKind, helperKind, watcherKind].map((kind) => ({
        kind,
        performer,
      })),
    });
  });

  const spawn = async (): Promise<string> => {
    const id = mintId('run', NOW);
    await engine.spawn('task', { ...TEST, id, input: { at: NOW }, columns: {} });
    return id.slice(4);
  };

  test('that a spawn makes are performed at once, as the actor itself is', async () => {
    const ids = await Promise.all([spawn(), spawn(), spawn()]);
    const expected = ids.flatMap((id) => [`run_${id}`, `imp_${id}`]);
    expect(worked.toSorted()).toEqual(expected.toSorted());
  });

  test('that an event makes are performed at once, and are of another kind than those of the spawn', async () => {
    const id = await spawn();
    worked = [];
    await engine.tell('task', `run_${id}`, { type: 'work.completed', at: NOW, attempt: 1 });
    expect(worked).toEqual([`aud_${id}`]);
  });

  test('take events from the moment they are made, with a separate history', async () => {
    const id = await spawn();
    const result = await engine.tell('helper', `imp_${id}`, { type: 'stop.requested', at: NOW });
    expect(result).toMatchObject({ outcome: 'changed', state: 'stopped' });
    const rows = await rowsOf(
      store.database,
      `select h.state, h.parent, h.revision, j.revision as written from helpers h
       join helper_journal j on j.actor_id = h.id where h.id = $1 order by j.revision`,
      [`imp_${id}`],
    );
    expect(rows).toEqual(
      [1, 2].map((written) => ({ state: 'stopped', parent: `run_${id}`, revision: 2, written })),
    );
  });
});
