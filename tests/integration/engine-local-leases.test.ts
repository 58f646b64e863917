import { describe, expect, test } from 'bun:test';
import postgres from 'postgres';
import type { Engine } from '../../src/engine/engine.ts';
import type { Performer } from '../../src/engine/runtime/performers.ts';
import type { LeaseTimes } from '../../src/engine/store/local-leases.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { lowestIdAt } from '../../src/platform/db/ids.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import { emailKind } from '../../src/sending/emails/kind.ts';
import { readPage } from '../../src/sending/emails/read/page.ts';
import {
  accepted,
  countOf,
  emailSpawn,
  engineOver,
  idle,
  opened,
  plainInput,
  postgresStore,
  WORKSPACE,
} from '../support/engine.ts';
import { HookedDatabase } from '../support/engine-faults.ts';
import { eventually } from '../support/eventually.ts';
import { away, KEPT_AT, type KeptCondition, KeptScene } from '../support/kept-scene.ts';
import { countsOfLarge } from '../support/large-counts.ts';
import { LOCK_WAITS } from '../support/lock-waits.ts';
import { onEachStore, sharedStore } from '../support/shared-store.ts';

const NOW = KEPT_AT;
const QUICK: LeaseTimes = { beatMs: 10, goneAfterMs: 400, stuckAfterMs: 60_000 };
const CALLER = { workspaceId: WORKSPACE, livemode: false } as Parameters<typeof readPage>[1];

class Scene extends KeptScene {
  constructor(database: Database) {
    super(database, {
      relation: 'emails_now',
      tables: ['emails', 'email_turns', 'email_due', 'instances'],
      isOurs: ({ check }) => check === 'inserts' || check === 'snapshots' || check === 'journals',
    });
  }

  instance(performer: Performer = idle, times: Partial<LeaseTimes> = {}) {
    const own = new HookedDatabase(this.database);
    const engine = engineOver(own, { clock: this.clock, performer, keeping: { ...QUICK, ...times } });
    this.start(engine);
    return { engine, own };
  }

  /** An actor that the instance holds: the first ones ask for its term. */
  async keptInsert(engine: Engine): Promise<string> {
    return await eventually('an insert that is kept', async () => {
      const insert = emailSpawn(plainInput(this.clock.time));
      await engine.spawn('email', insert);
      const { kept_by, isDue } = await this.condition(insert.id);
      if (kept_by !== null && !isDue) return insert.id;
      await engine.tell('email', insert.id, accepted(this.clock.time));
      return undefined;
    });
  }
}

/** The ids from which on the list looks for those that are kept. */
async function bounds(scene: Scene): Promise<readonly string[]> {
  const from: string[] = [];
  const watched = {
    kind: scene.database.kind,
    query: async (text: string, parameters: readonly string[] = []) => {
      const rows = await scene.database.query<{ mark?: string }>(text, parameters);
      if (text.endsWith(' as mark')) from.push(...rows.map(({ mark = '' }) => mark));
      return rows;
    },
  } as unknown as Database;
  await readPage(watched, CALLER, { status: 'sending', limit: 10 } as never, {
    after: null,
    now: scene.clock.time,
  });
  return from;
}

onEachStore('inserts that an instance keeps', (store) => {
  test('have no place among what is due, are listed, and need none for their outcome', async () => {
    await using scene = new Scene(store.database);
    const { engine } = scene.instance();
    const id = await scene.keptInsert(engine);
    expect(await scene.condition(id)).toMatchObject({ state: 'sending', revision: 1, isDue: false });
    const page = await readPage(scene.database, CALLER, { status: 'sending', limit: 10 } as never, {
      after: null,
      now: scene.clock.time,
    });
    expect('rows' in page && page.rows.map((row) => row.id)).toEqual([id]);
    // Ids of deliveries sort before those of emails: by their mark all emails would be looked through.
    await scene.database.query(
      `insert into instances (id, kind, open, heartbeat_at, low_water) values (-1, 'webhookDelivery', true, now(), 'dlv_0')`,
    );
    expect(await bounds(scene)).toEqual([expect.stringMatching(/^em_/)]);
    await scene.database.query('delete from instances where id = -1');
    expect(await countsOfLarge(scene.database, emailKind)).toMatchObject({
      sending: { count: 1, exact: true },
    });
    expect(await scene.faults()).toEqual([]);
    expect(await engine.tell('email', id, accepted(NOW))).toMatchObject({
      outcome: 'changed',
      state: 'sent',
    });
    expect(await scene.condition(id)).toMatchObject({ revision: 2, isDue: false });
    await engine.stop();
    expect(await countOf(scene.database, 'instances')).toBe(0);
  });

  test('are left to the clock by another instance when theirs is gone, and come to an end there', async () => {
    await using scene = new Scene(store.database);
    const dead = scene.instance();
    const ids = [await scene.keptInsert(dead.engine), await scene.keptInsert(dead.engine)];
    const settled = await scene.keptInsert(dead.engine);
    await dead.engine.tell('email', settled, accepted(NOW));
    dead.own.before = away;
    const { engine } = scene.instance({
      ...idle,
      perform: ({ actor }) => [accepted(scene.clock.time, (actor.snapshot.context as KeptCondition).attempt)],
    });
    for (const id of ids)
      expect(await scene.leftToClock(id)).toMatchObject({ state: 'sending', revision: 2, attempt: 1 });
    expect(await scene.faults()).toEqual([]);
    expect(await scene.condition(settled)).toMatchObject({ state: 'sent', revision: 2, isDue: false });
    scene.clock.time += 10_000;
    await engine.wakeDue();
    for (const id of ids)
      await eventually('the second attempt has come to something', async () =>
        (await scene.condition(id)).state === 'sent' ? true : undefined,
      );
    expect(await scene.condition(ids[0] as string)).toMatchObject({ attempt: 2, isDue: false });
  });

  test('take an outcome that comes late as long as the attempt is theirs, and refuse it afterwards', async () => {
    await using scene = new Scene(store.database);
    const frozen = scene.instance();
    const early = await scene.keptInsert(frozen.engine);
    const late = await scene.keptInsert(frozen.engine);
    frozen.own.before = away;
    const { engine } = scene.instance();
    await scene.leftToClock(early);
    await scene.leftToClock(late);
    frozen.own.before = () => {};
    // The frozen instance still has them as they were inserted: it loses the race, and decides again.
    expect(await frozen.engine.tell('email', early, accepted(NOW))).toMatchObject({ outcome: 'changed' });
    expect(await scene.condition(early)).toMatchObject({ state: 'sent', revision: 3, isDue: false });
    scene.clock.time += 10_000;
    await engine.wakeDue();
    expect(await frozen.engine.tell('email', late, accepted(NOW))).toMatchObject({ outcome: 'refused' });
    expect(await scene.condition(late)).toMatchObject({ state: 'sending', attempt: 2 });
    expect(await countOf(scene.database, `email_events where email_id = '${late}'`)).toBe(0);
    // Its term is closed: what it accepts now goes by the clock, until it has another one.
    // No engine may close that, which could take a beat that is late for a missing one.
    await engine.stop();
    expect(await scene.condition(await scene.keptInsert(frozen.engine))).toMatchObject({ isDue: false });
    expect(await scene.faults()).toEqual([]);
  });

  test('that are written after their term was closed have a place among what is due', async () => {
    await using scene = new Scene(store.database);
    const frozen = scene.instance();
    await scene.keptInsert(frozen.engine);
    const insert = emailSpawn(plainInput(NOW));
    const { promise: thawed, resolve: thaw } = Promise.withResolvers<void>();
    let isSent = false;
    frozen.own.before = (text) => {
      if (text.includes('insert into emails')) isSent = true;
      return thawed;
    };
    const spawned = frozen.engine.spawn('email', insert);
    await eventually('the statement is on its way', () => isSent || undefined);
    scene.instance();
    await eventually('its term is gone', async () =>
      (await countOf(scene.database, 'instances')) === 0 ? true : undefined,
    );
    thaw();
    expect((await spawned).outcome).toBe('spawned');
    expect(await scene.condition(insert.id)).toMatchObject({ state: 'sending', revision: 1, isDue: true });
    // Its instance took it for kept: the outcome ends its place among what is due all the same.
    await frozen.engine.tell('email', insert.id, accepted(NOW));
    expect(await scene.condition(insert.id)).toMatchObject({ state: 'sent', revision: 2, isDue: false });
  });

  test('whose commit is unknown end the term, and are found', async () => {
    await using scene = new Scene(store.database);
    const { engine, own } = scene.instance();
    const known = await scene.keptInsert(engine);
    const insert = emailSpawn(plainInput(NOW));
    let lost = false;
    const inner = own.query.bind(own);
    own.query = async (text, parameters, options) => {
      if (lost && text.startsWith('select j.actor_id')) {
        lost = false;
        throw new UnavailableError('Neither this.');
      }
      const rows = await inner(text, parameters, options);
      if (options?.name === 'spawn') {
        lost = true;
        throw new UnavailableError('The reply is lost.', 'unknown');
      }
      return rows as never;
    };
    await expect(engine.spawn('email', insert)).rejects.toBeInstanceOf(UnavailableError);
    own.query = inner;
    expect(await scene.leftToClock(insert.id)).toMatchObject({ state: 'sending', revision: 2, attempt: 1 });
    expect(await scene.leftToClock(known)).toMatchObject({ revision: 2 });
    expect(await scene.faults()).toEqual([]);
  });

  test('whose order was dropped are left to the clock by their own instance', async () => {
    await using scene = new Scene(store.database);
    const failing: Performer = {
      ...idle,
      perform() {
        throw new Error('The order fails.');
      },
    };
    const { engine } = scene.instance(failing, { stuckAfterMs: 0, goneAfterMs: 60_000 });
    const insert = emailSpawn(plainInput(NOW));
    await eventually('the instance has a term', async () => {
      await engine.spawn('email', emailSpawn(plainInput(NOW)));
      return (await countOf(scene.database, 'instances')) > 0 ? true : undefined;
    });
    await engine.spawn('email', insert);
    expect(await scene.leftToClock(insert.id)).toMatchObject({ state: 'sending', attempt: 1 });
    // Once is enough: an actor with a second write is left alone.
    expect(await engine.tell('email', insert.id, opened(NOW))).toMatchObject({ outcome: 'refused' });
    expect((await scene.condition(insert.id)).revision).toBeLessThanOrEqual(2);
  });

  test('are reported by an audit when their instance would not be missed, or its mark lies behind them', async () => {
    await using scene = new Scene(store.database);
    const { engine, own } = scene.instance();
    const id = await scene.keptInsert(engine);
    own.before = away;
    const { kept_by } = await scene.condition(id);
    // A beat that had begun before may write its own mark once more behind this one.
    const found = await eventually('the mark lies behind it', async () => {
      await scene.database.query('update instances set low_water = $1 where id = $2', [
        lowestIdAt('em', NOW + 1),
        kept_by,
      ]);
      const faults = await scene.faults();
      return faults.length > 0 ? faults : undefined;
    });
    expect(found).toEqual([
      `inserts: ${id} has no turn and no due row, and lies below the mark of its instance`,
    ]);
    await scene.database.query('delete from instances');
    expect(await scene.faults()).toEqual([
      `inserts: ${id} has no turn and no due row, and the instance that kept it is gone`,
    ]);
  });

  test('cost an instance nothing that has none: its term ends', async () => {
    await using scene = new Scene(store.database);
    const { engine, own } = scene.instance(idle, { goneAfterMs: 60_000 });
    const id = await scene.keptInsert(engine);
    await engine.tell('email', id, accepted(NOW));
    await eventually('the term is over', async () =>
      (await countOf(scene.database, 'instances')) === 0 ? true : undefined,
    );
    let written = 0;
    own.before = (text) => {
      if (/insert|update|delete/.test(text)) written++;
    };
    expect(written).toBe(0);
    own.before = () => {};
    await scene.keptInsert(engine);
  });
});

describe('an insert on a server', () => {
  const store = sharedStore(postgresStore);

  test('is seen by the instance that closes its term while it is being written', async () => {
    await using scene = new Scene(store.database);
    const frozen = scene.instance();
    const known = await scene.keptInsert(frozen.engine);
    const { kept_by } = await scene.condition(known);
    frozen.own.before = away;
    const slow = postgres(store.url as string, { max: 1 });
    const id = lowestIdAt('em', NOW + 5);
    // The statement of an insert, with time between its parts.
    await slow.unsafe('begin');
    await slow.unsafe(`select id from instances where open and id = ${kept_by} for key share`);
    scene.instance();
    await eventually('an instance waits to close it', async () =>
      (await countOf(scene.database, LOCK_WAITS)) > 0 ? true : undefined,
    );
    await slow.unsafe(`insert into emails select '${id}', workspace_id, livemode, state, context, timers, machine_version, commit_tag,
      steps, at, scheduled_at, recipients, recipient_keys, sender_key, subject, tags, domain_id, template_id, campaign_id, envelope,
      kept_by, content from emails where id = '${known}'`);
    await slow.unsafe('commit');
    await slow.end();
    expect(await scene.leftToClock(id)).toMatchObject({ state: 'sending', revision: 2 });
  });
});
