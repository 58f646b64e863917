import { expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import pino from 'pino';
import type { FlowDefinition } from '../../machines/flow-run/definition.ts';
import { compileFlow } from '../../machines/flow-run/machine.ts';
import { flowRunKind } from '../../src/automation/flows/kind.ts';
import { findFlow } from '../../src/automation/flows/store.ts';
import { enroller } from '../../src/automation/flows/triggers/enrol.ts';
import { Follower } from '../../src/automation/flows/triggers/follower.ts';
import { Laggards } from '../../src/automation/flows/triggers/laggards.ts';
import { Engine } from '../../src/engine/engine.ts';
import type { Database, Orm, ReadOptions } from '../../src/platform/db/database.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import { idle, postgresStore } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';

// The filters of one workspace take longer than a statement may. Everybody else's flows go on, and its own as
// far as they can.

const SLOW = { workspace: 'ws_slow', flow: 'flw_000000000000000000000001', contact: 'con_s' };
const OTHER = { workspace: 'ws_other', flow: 'flw_000000000000000000000002', contact: 'con_o' };
const PEOPLE = 6;

const filter = { field: 'properties.plan', operator: 'eq', value: 'pro' };
const definition: FlowDefinition = {
  trigger: { type: 'event', name: 'go', filter },
  entry: 'wait',
  reentry: 'never',
  quietHours: null,
  exitWhen: null,
  steps: [
    {
      key: 'wait',
      type: 'waitForEvent',
      config: { name: 'paid', filter, timeout: { amount: 1, unit: 'weeks' } },
    },
    { key: 'mark', type: 'updateContact', config: { firstName: 'Ada' } },
  ],
  edges: [{ from: 'wait', to: 'mark', when: 'event' }],
};

/**
 * Answers no statement that asks about one of these contacts: the server ends brief ones, as by its timeout.
 */
class SlowReads {
  readonly contacts = new Set<string>();

  over(inner: Database): Database {
    const read = (run: (orm: Orm) => PromiseLike<unknown>, options?: ReadOptions) =>
      inner.read<unknown>((orm) => {
        const asked = run(orm) as PromiseLike<unknown> & {
          toSQL?(): { readonly params: readonly unknown[] };
        };
        const text = JSON.stringify(asked.toSQL?.().params ?? []);
        if (![...this.contacts].some((contact) => text.includes(contact))) return asked;
        if (options?.isBrief) return orm.execute(sql.raw(`do $$ begin raise sqlstate '57014'; end $$`));
        const cause = Object.assign(new Error('canceling statement'), { code: '57014' });
        throw new UnavailableError('A statement took too long.', 'no', 1, { cause });
      }, options);
    return new Proxy(inner, {
      get: (target, name) => {
        if (name === 'read') return read;
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }
}

async function prepare(database: Database): Promise<void> {
  for (const { workspace, flow, contact } of [SLOW, OTHER]) {
    await database.query(
      `insert into workspaces (id, name, plan, created_at) values ($1, 'Test', 'growth', now())`,
      [workspace],
    );
    await database.query(
      `insert into flows (workspace_id, livemode, id, name, status, version, published_version, trigger_type, listens_to, created_at, updated_at)
       values ($1, true, $2, 'Paid', 'active', 1, 1, 'event', 'go', now(), now())`,
      [workspace, flow],
    );
    await database.query(
      `insert into flow_versions (flow_id, version, definition, created_at, published_at) values ($1, 1, $2::text::json, now(), now())`,
      [flow, JSON.stringify(definition)],
    );
    await database.query(
      `insert into contacts (workspace_id, livemode, id, email, email_key, properties, status, created_at, updated_at)
       select $1, true, $2 || n, n || '@example.com', n || '@example.com', '{"plan":"pro"}', 'subscribed', now(), now()
       from generate_series(1, ${PEOPLE}) n`,
      [workspace, contact],
    );
  }
}

async function openWorld() {
  const store = await postgresStore();
  await prepare(store.database);
  const slow = new SlowReads();
  const database = slow.over(store.database);
  let aheadMs = 0;
  const clock = { now: () => Date.now() + aheadMs, monotonic: () => performance.now() };
  const logger = pino({ level: 'silent' });
  const engine = new Engine({
    database,
    clock,
    logger,
    kinds: [{ kind: flowRunKind, performer: idle, machineOf: async () => compileFlow(definition) }],
  });
  const deps = { database, engine, clock, logger, enrol: enroller({ database, engine, clock }) };
  let told = 0;
  const [follower, lane] = [new Follower(deps), new Laggards(deps)];
  /** A busy server may miss a deadline: the service does it again a second later, and so does this test. */
  const unlessBusy = (error: unknown): void => {
    if (!(error instanceof UnavailableError)) throw error;
  };
  /** The number of runs in a state, of each of the two. */
  const standing = async (state: string): Promise<readonly number[]> => {
    const [row] = await store.database.query<{ slow: number; other: number }>(
      `select count(*) filter (where flow_id = $1)::integer as slow, count(*) filter (where flow_id = $2)::integer as other
       from flow_runs where state = $3`,
      [SLOW.flow, OTHER.flow, state],
    );
    return [row?.slow ?? -1, row?.other ?? -1];
  };
  const alone = () => store.database.query('select workspace_id as id, size, tries from flow_laggards');
  return {
    slow,
    follower,
    lane,
    standing,
    alone,
    unlessBusy,
    /** Follows until so many runs stand there: a transaction elsewhere may hold the log back. */
    followed: (state: string, counts: readonly number[]) =>
      eventually(`${counts} in ${state}`, async () => {
        await follower.follow().catch(unlessBusy);
        return Bun.deepEquals(await standing(state), counts) || undefined;
      }),
    /** Follows by itself until that state. Without the clock it does not go on there. */
    caughtUp: (so: object) =>
      eventually(JSON.stringify(so), async () => {
        await lane.follow().catch(unlessBusy);
        const [row] = await alone();
        return Bun.deepMatch(so, row ?? {}) || undefined;
      }),
    pass: (ms: number): void => {
      aheadMs += ms;
    },
    /** Something that everybody did. */
    happened: (name: string) =>
      store.database.query(
        `insert into contact_activity (contact_id, id, livemode, type, at, subject)
         select c || n, $1 || c || n, true, 'event', now(), $2
         from unnest($3::text[]) c cross join generate_series(1, ${PEOPLE}) n`,
        [`act_${++told}`, name, [SLOW.contact, OTHER.contact]],
      ),
    behindSince: async ({ workspace, flow }: typeof SLOW) =>
      (await findFlow(store.database, { workspaceId: workspace, livemode: true }, flow))?.behind_since,
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

test('the slow filters of one workspace delay no other, and leave out only contacts that they cannot answer', async () => {
  await using world = await openWorld();
  const { slow, pass, happened, standing, alone, behindSince, followed, caughtUp } = world;
  slow.contacts.add('con_s3');
  await happened('go');
  await followed('wait', [0, PEOPLE]);
  expect(await alone()).toMatchObject([{ id: SLOW.workspace }]);
  expect(await behindSince(SLOW)).toBeNumber();
  expect(await behindSince(OTHER)).toBeNull();

  // With fewer and fewer at once only that contact is left, which is tried again later.
  await caughtUp({ size: 1, tries: 1 });
  expect(await standing('wait')).toEqual([2, PEOPLE]);
  pass(5_100);
  await caughtUp({ size: 1, tries: 2 });

  // Meanwhile others are followed.
  await happened('paid');
  await followed('mark', [0, PEOPLE]);

  pass(60_100);
  await caughtUp({ tries: 0 });
  // The one is left out. Everybody else has begun, and has been told what came then.
  await eventually('the end of the log', async () => {
    await world.lane.follow().catch(world.unlessBusy);
    return (await behindSince(SLOW)) === null || undefined;
  });
  expect(await standing('mark')).toEqual([PEOPLE - 1, PEOPLE]);

  // It goes on by itself for ten minutes, and with everybody else then.
  slow.contacts.clear();
  await happened('go');
  await eventually('the run of the one', async () => {
    await world.follower.follow().catch(world.unlessBusy);
    await world.lane.follow().catch(world.unlessBusy);
    return (await standing('wait'))[0] === 1 || undefined;
  });
  expect(await alone()).toMatchObject([{ id: SLOW.workspace }]);
  pass(600_000);
  await happened('paid');
  await followed('mark', [PEOPLE, PEOPLE]);
  expect(await alone()).toEqual([]);
});

test('runs behind a slow filter are woken late, and all others in time', async () => {
  await using world = await openWorld();
  const { slow, happened, alone, followed, standing } = world;
  await happened('go');
  await followed('wait', [PEOPLE, PEOPLE]);
  slow.contacts.add('con_s3');
  await happened('paid');
  await followed('mark', [0, PEOPLE]);
  expect(await alone()).toMatchObject([{ id: SLOW.workspace }]);
  slow.contacts.clear();
  await eventually('the last of them', async () => {
    await world.lane.follow().catch(world.unlessBusy);
    return Bun.deepEquals(await standing('mark'), [PEOPLE, PEOPLE]) || undefined;
  });
});
