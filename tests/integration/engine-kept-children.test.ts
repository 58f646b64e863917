import { expect, test } from 'bun:test';
import pino from 'pino';
import type { WebhookDeliveryEvent } from '../../machines/webhook-delivery/context.ts';
import { Engine } from '../../src/engine/engine.ts';
import type { Performer } from '../../src/engine/runtime/performers.ts';
import { readLife } from '../../src/engine/store/actors.ts';
import type { LeaseTimes } from '../../src/engine/store/local-leases.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { lowestIdAt } from '../../src/platform/db/ids.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import { emails } from '../../src/sending/emails/kind.ts';
import { fanOut } from '../../src/sending/webhooks/deliveries/fan-out.ts';
import { webhookDeliveries, webhookDeliveryKind } from '../../src/sending/webhooks/deliveries/kind.ts';
import { stopDeliveries } from '../../src/sending/webhooks/deliveries/stop-pending.ts';
import { actorPage } from '../../src/web/live/actors.ts';
import {
  accepted,
  countOf,
  emailSpawn,
  idle,
  opened,
  plainInput,
  TEST,
  WORKSPACE,
} from '../support/engine.ts';
import { HookedDatabase } from '../support/engine-faults.ts';
import { eventually } from '../support/eventually.ts';
import { away, KEPT_AT, type KeptCondition, KeptScene } from '../support/kept-scene.ts';
import { countsOfLarge } from '../support/large-counts.ts';
import { onEachStore, type SharedStore } from '../support/shared-store.ts';

const NOW = KEPT_AT;
/** However slow the machine is, an instance takes no other for gone. */
const QUICK: LeaseTimes = { beatMs: 10, goneAfterMs: 60_000, stuckAfterMs: 60_000 };
/** One that soon does. */
const TAKING_OVER: Partial<LeaseTimes> = { goneAfterMs: 400 };
const ENDPOINT = 'wh_kept';
const OF_EMAIL = 'email_id = $1';
/** Longer than an attempt may take. */
const BEHIND_LEASE_MS = 60_000;

const taken = (at: number, attempt = 1): WebhookDeliveryEvent => ({
  type: 'attempt.succeeded',
  at,
  attempt,
  attemptedAt: at,
  httpStatus: 204,
  responseBody: 'thanks',
  durationMs: 7,
  error: null,
  webhookId: ENDPOINT,
  endpointIsFailing: false,
});

/** Instances whose emails call for a delivery each. */
class Scene extends KeptScene {
  private constructor(database: Database) {
    super(database, {
      relation: 'webhook_deliveries',
      tables: [
        'emails',
        'email_turns',
        'email_due',
        'instances',
        'webhook_endpoints',
        'webhook_deliveries',
        'webhook_delivery_journal',
        'webhook_attempts',
      ],
      isOurs: ({ id }) => id.startsWith('dlv_'),
    });
  }

  static async over({ database }: SharedStore): Promise<Scene> {
    await database.query(
      `insert into workspaces (id, name, plan, created_at) values ($1, 'Kept', 'free', now()) on conflict do nothing`,
      [WORKSPACE],
    );
    await database.query(
      `insert into webhook_endpoints (id, workspace_id, livemode, state, context, revision, machine_version, events)
       values ('${ENDPOINT}', $1, false, 'active', '{}', 1, 1, '{sent,opened}')`,
      [WORKSPACE],
    );
    return new Scene(database);
  }

  instance(performer: Performer = idle, times: Partial<LeaseTimes> = {}) {
    const own = new HookedDatabase(this.database);
    const engine = new Engine({
      database: own,
      clock: this.clock,
      logger: pino({ level: 'silent' }),
      kinds: [emails(idle, [fanOut]), webhookDeliveries(performer)],
      keeping: { ...QUICK, ...times },
    });
    this.start(engine);
    return { engine, own };
  }

  /** The delivery that the commit of an email's outcome makes. */
  async delivery(engine: Engine, acceptedAt = this.clock.time): Promise<KeptCondition> {
    const insert = emailSpawn(plainInput(this.clock.time));
    await engine.spawn('email', insert);
    await engine.tell('email', insert.id, accepted(acceptedAt));
    return this.conditionWhere(OF_EMAIL, insert.id);
  }

  /** A delivery that the instance keeps: the first ones call for its term. */
  async kept(engine: Engine): Promise<string> {
    return await eventually('a delivery that is kept', async () => {
      const { id, kept_by, isDue } = await this.delivery(engine);
      if (kept_by !== null && !isDue) return id;
      await engine.tell('webhookDelivery', id, taken(this.clock.time));
      return undefined;
    });
  }

  /** One that is kept by an instance which is cut off then. */
  async keptByOneThatIsAway(): Promise<string> {
    const { engine, own } = this.instance();
    const id = await this.kept(engine);
    own.before = away;
    return id;
  }

  attempts(id: string): Promise<number> {
    return countOf(this.database, `webhook_attempts where delivery_id = '${id}'`);
  }
}

onEachStore('deliveries that an instance keeps', (store) => {
  test('have no place among what is due until their outcome, and a whole history', async () => {
    await using scene = await Scene.over(store);
    const { engine } = scene.instance();
    const id = await scene.kept(engine);
    expect(await scene.condition(id)).toMatchObject({ state: 'posting', revision: 1, isDue: false });
    const wanted = { state: 'posting', idPrefix: 'dlv_', after: null };
    expect(JSON.stringify(await actorPage(scene.database, webhookDeliveryKind, TEST, wanted))).toContain(id);
    expect(await countsOfLarge(scene.database, webhookDeliveryKind)).toMatchObject({
      posting: { count: 1, exact: true },
    });
    expect(await engine.tell('webhookDelivery', id, taken(NOW))).toMatchObject({ state: 'success' });
    expect(await scene.condition(id)).toMatchObject({ state: 'success', revision: 2, isDue: false });
    expect(await scene.attempts(id)).toBe(1);
    const life = await readLife(scene.database, webhookDeliveryKind, id, TEST);
    expect(life?.steps.map(({ event, to, attempt, effects }) => ({ event, to, attempt, effects }))).toEqual([
      { event: 'spawned', to: 'posting', attempt: 1, effects: ['post'] },
      { event: 'attempt.succeeded', to: 'success', attempt: 1, effects: ['record'] },
    ]);
    expect(life?.truncated).toBe(false);
    expect(await scene.faults()).toEqual([]);
    await engine.stop();
    expect(await countOf(scene.database, 'instances')).toBe(0);
  });

  test('wait for the clock after a failure, and are sent again when asked for', async () => {
    await using scene = await Scene.over(store);
    const { engine } = scene.instance();
    const id = await scene.kept(engine);
    await engine.tell('webhookDelivery', id, { ...taken(NOW), type: 'attempt.failed' } as never);
    expect(await scene.condition(id)).toMatchObject({ state: 'scheduled', revision: 2, isDue: true });
    await engine.tell('webhookDelivery', id, { type: 'redeliver.requested', at: NOW });
    expect(await scene.condition(id)).toMatchObject({ state: 'posting', revision: 3, isDue: true });
    expect(await scene.faults()).toEqual([]);
  });

  test('are left to the clock by another instance when theirs is gone, and come to an end there', async () => {
    await using scene = await Scene.over(store);
    const dead = scene.instance();
    const ids = [await scene.kept(dead.engine), await scene.kept(dead.engine)];
    const settled = await scene.kept(dead.engine);
    await dead.engine.tell('webhookDelivery', settled, taken(NOW));
    dead.own.before = away;
    const performer: Performer = {
      ...idle,
      perform: ({ actor }) => [taken(scene.clock.time, (actor.snapshot.context as KeptCondition).attempt)],
    };
    const { engine } = scene.instance(performer, TAKING_OVER);
    for (const id of ids)
      expect(await scene.leftToClock(id)).toMatchObject({ state: 'posting', revision: 2, attempt: 1 });
    expect(await scene.faults()).toEqual([]);
    expect(await scene.condition(settled)).toMatchObject({ state: 'success', revision: 2, isDue: false });
    scene.clock.time += BEHIND_LEASE_MS;
    await engine.wakeDue();
    for (const id of ids)
      await eventually('the second attempt has come to something', async () =>
        (await scene.condition(id)).state === 'success' ? true : undefined,
      );
    expect(await scene.condition(ids[0] as string)).toMatchObject({ attempt: 2, isDue: false });
    expect(await scene.attempts(ids[0] as string)).toBe(1);
    expect(await scene.faults()).toEqual([]);
  });

  test('take an outcome that comes late as long as the attempt is theirs, and refuse it afterwards', async () => {
    await using scene = await Scene.over(store);
    const frozen = scene.instance();
    const early = await scene.kept(frozen.engine);
    const late = await scene.kept(frozen.engine);
    frozen.own.before = away;
    const { engine } = scene.instance(idle, TAKING_OVER);
    await scene.leftToClock(early);
    await scene.leftToClock(late);
    frozen.own.before = () => {};
    // The frozen instance still has them as they were inserted: it loses the race, and decides again.
    expect(await frozen.engine.tell('webhookDelivery', early, taken(NOW))).toMatchObject({
      outcome: 'changed',
    });
    expect(await scene.condition(early)).toMatchObject({ state: 'success', revision: 3, isDue: false });
    scene.clock.time += BEHIND_LEASE_MS;
    await engine.wakeDue();
    expect(await frozen.engine.tell('webhookDelivery', late, taken(NOW))).toMatchObject({
      outcome: 'refused',
    });
    expect(await scene.condition(late)).toMatchObject({ state: 'posting', attempt: 2 });
    expect(await scene.attempts(late)).toBe(0);
    expect(await scene.faults()).toEqual([]);
  });

  test('that are written after their term was closed have a place among what is due', async () => {
    await using scene = await Scene.over(store);
    const frozen = scene.instance();
    await scene.kept(frozen.engine);
    // The email itself has had a turn, so that no other instance writes one meanwhile.
    const insert = emailSpawn(plainInput(NOW));
    await frozen.engine.spawn('email', insert);
    await frozen.engine.tell('email', insert.id, accepted(NOW));
    const { promise: thawed, resolve: thaw } = Promise.withResolvers<void>();
    let isSent = false;
    frozen.own.before = (text) => {
      const isMaking = text.includes('insert into webhook_deliveries');
      isSent ||= isMaking;
      // Neither that nor its heartbeat comes through; what is read beforehand does.
      return isMaking || text.includes('instances') ? thawed : undefined;
    };
    const told = frozen.engine.tell('email', insert.id, opened(NOW));
    await eventually('the statement is on its way', () => isSent || undefined);
    scene.instance(idle, TAKING_OVER);
    await eventually('its term is gone', async () =>
      (await countOf(scene.database, `instances where kind = 'webhookDelivery'`)) === 0 ? true : undefined,
    );
    thaw();
    expect((await told).outcome).toBe('changed');
    const made = await scene.conditionWhere(`${OF_EMAIL} and event_type = 'opened'`, insert.id);
    expect(made).toMatchObject({ state: 'posting', revision: 1, isDue: true, kept_by: null });
    expect(await scene.faults()).toEqual([]);
  });

  for (const isFound of [false, true])
    test(`whose commit's reply was lost are found where it ${isFound ? 'could' : 'could not'} be read back`, async () => {
      await using scene = await Scene.over(store);
      const { engine, own } = scene.instance(idle, TAKING_OVER);
      const known = await scene.kept(engine);
      const insert = emailSpawn(plainInput(NOW));
      await engine.spawn('email', insert);
      const inner = own.query.bind(own);
      let lost = false;
      own.query = async (text, parameters, options) => {
        if (lost && !isFound && text.startsWith('select j.actor_id'))
          throw new UnavailableError('Neither this.');
        const rows = await inner(text, parameters, options);
        if (!lost && text.includes('insert into webhook_deliveries')) {
          lost = true;
          throw new UnavailableError('The reply is lost.', 'unknown');
        }
        return rows as never;
      };
      const told = engine.tell('email', insert.id, accepted(NOW));
      if (isFound) expect((await told).outcome).toBe('changed');
      else await expect(told).rejects.toBeInstanceOf(UnavailableError);
      expect(lost).toBe(true);
      own.query = inner;
      const made = await scene.conditionWhere(OF_EMAIL, insert.id);
      expect(await scene.leftToClock(made.id)).toMatchObject({ revision: 2, attempt: 1 });
      expect(await scene.leftToClock(known)).toMatchObject({ revision: 2, attempt: 1 });
      expect(await scene.faults()).toEqual([]);
    });

  test('of a commit that was rolled back hold no mark, and those of its repetition are kept', async () => {
    await using scene = await Scene.over(store);
    const { engine, own } = scene.instance();
    // As long as it is kept, the term goes on.
    const first = await scene.kept(engine);
    const insert = emailSpawn(plainInput(NOW));
    await engine.spawn('email', insert);
    let failures = 0;
    own.before = (text) => {
      if (failures > 0 || !text.includes('insert into webhook_deliveries')) return;
      failures++;
      throw Object.assign(new Error('A deadlock.'), { code: '40P01', errno: '40P01' });
    };
    await engine.tell('email', insert.id, accepted(NOW));
    expect(failures).toBe(1);
    const made = await scene.conditionWhere(OF_EMAIL, insert.id);
    expect(made).toMatchObject({ state: 'posting', isDue: false });
    for (const id of [first, made.id]) await engine.tell('webhookDelivery', id, taken(NOW));
    // Nothing is under way any more: an instance that keeps nothing ends its term by itself.
    await eventually('the term is over', async () =>
      (await countOf(scene.database, `instances where kind = 'webhookDelivery'`)) === 0 ? true : undefined,
    );
  });

  test('whose order was dropped are left to the clock by their own instance', async () => {
    await using scene = await Scene.over(store);
    const failing: Performer = {
      ...idle,
      perform() {
        throw new Error('The order fails.');
      },
    };
    const { engine } = scene.instance(failing, { stuckAfterMs: 0 });
    const id = await eventually('one that was kept is left', async () => {
      const { id, kept_by } = await scene.delivery(engine);
      return kept_by === null ? undefined : id;
    });
    expect(await scene.leftToClock(id)).toMatchObject({ state: 'posting', attempt: 1, revision: 2 });
    expect(await scene.faults()).toEqual([]);
  });

  test('stop with their endpoint', async () => {
    await using scene = await Scene.over(store);
    const id = await scene.keptByOneThatIsAway();
    await scene.database.query(`update webhook_endpoints set state = 'disabled' where id = $1`, [ENDPOINT]);
    // Another instance, which does not take over what that one keeps.
    const other = scene.instance(idle, { beatMs: 60_000 });
    await stopDeliveries({ engine: other.engine, clock: scene.clock });
    expect(await scene.condition(id)).toMatchObject({ state: 'failed', revision: 2, isDue: false });
    expect(await scene.faults()).toEqual([]);
  });

  test('are reported by an audit when their instance would not be missed', async () => {
    await using scene = await Scene.over(store);
    const id = await scene.keptByOneThatIsAway();
    const { kept_by } = await scene.condition(id);
    await eventually('the mark lies behind it', async () => {
      // A beat that had begun before may write its own mark once more behind this one.
      await scene.database.query('update instances set low_water = $1 where id = $2', [
        lowestIdAt('dlv', NOW + 1),
        kept_by,
      ]);
      return (await scene.faults()).length > 0 ? true : undefined;
    });
    expect(await scene.faults()).toEqual([
      `inserts: ${id} has no turn and no due row, and lies below the mark of its instance`,
    ]);
  });

  test('are none without a listener: no term is begun for them', async () => {
    await using scene = await Scene.over(store);
    await scene.database.query(`update webhook_endpoints set state = 'disabled' where id = $1`, [ENDPOINT]);
    const { engine, own } = scene.instance();
    const begun = new Set<unknown>();
    own.before = (text, parameters) => {
      if (text.startsWith('insert into instances')) begun.add(parameters[1]);
    };
    const insert = emailSpawn(plainInput(NOW));
    await engine.spawn('email', insert);
    await engine.tell('email', insert.id, accepted(NOW));
    await engine.stop();
    expect(begun.has(webhookDeliveryKind.name)).toBe(false);
    expect(await countOf(scene.database, 'webhook_deliveries')).toBe(0);
  });

  test('are none of a late event: their ids may lie below the mark', async () => {
    await using scene = await Scene.over(store);
    const { engine } = scene.instance();
    await scene.kept(engine);
    expect(await scene.delivery(engine, NOW - 3_600_000)).toMatchObject({
      state: 'posting',
      isDue: true,
      kept_by: null,
    });
  });
});
