import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import pino from 'pino';
import type { EmailEvent } from '../../machines/email/context.ts';
import { Engine } from '../../src/engine/engine.ts';
import type { Kind } from '../../src/engine/machine/kind.ts';
import { loadConfig } from '../../src/platform/config/config.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { openService } from '../../src/service.ts';
import {
  accepted,
  emailSpawn,
  embeddedStore,
  idle,
  opened,
  plainInput,
  postgresStore,
  rowsOf,
  type Store,
} from '../support/engine.ts';
import { HookedDatabase } from '../support/engine-faults.ts';
import { createTestDatabase } from '../support/postgres.ts';

// A commit without a listener leaves out all possible listeners. A listener that begins between the decision
// and the statement, through another instance that this one has never heard of, still gets the event.

const NOW = Date.parse('2026-11-20T12:00:00.000Z');

let kinds: readonly Kind[];
const stores = new Map<string, Store>();
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  await using made = await createTestDatabase();
  const loaded = loadConfig({ HOST: '127.0.0.1', SECRET_KEY: 's'.repeat(32), DATABASE_URL: made.url });
  if ('problems' in loaded) throw new Error(loaded.problems.join('\n'));
  const service = await openService({ config: loaded.config, logger: pino({ level: 'silent' }) });
  // As the service runs them: with what other modules write in their commits.
  kinds = service.engine.kinds.filter(({ name }) => name === 'email' || name === 'webhookDelivery');
  await service.stop();
  stores.set('PostgreSQL', stack.use(await postgresStore()));
  stores.set('PGlite', stack.use(await embeddedStore()));
});
afterAll(() => stack.disposeAsync());

/**
 * An instance, and its statements of commits. A question whether anybody listens is not asked again where it
 * has taken twenty milliseconds, which a busy machine takes for any: here it may take an hour, unless the
 * test says otherwise.
 */
function instanceOver(
  database: Database,
  { monotonic = () => performance.now(), slowBeyond = '1 hour' } = {},
) {
  const hooked = new HookedDatabase(database);
  const inner = hooked.query.bind(hooked);
  hooked.query = (text, ...more) =>
    inner(text.replace("interval '20 milliseconds'", `interval '${slowBeyond}'`), ...more);
  const commits: string[] = [];
  /** Done once, between the next decision and its statement. */
  let meanwhile: (() => Promise<unknown>) | null = null;
  hooked.before = async (text) => {
    if (!text.includes('insert into email_turns')) return;
    commits.push(text);
    const done = meanwhile;
    meanwhile = null;
    await done?.();
  };
  const engine = new Engine({
    database: hooked,
    clock: { now: () => NOW, monotonic },
    logger: pino({ level: 'silent' }),
    kinds: kinds.map((kind) => (kind.name === 'email' ? { kind, performer: idle } : { kind })),
  });
  return {
    engine,
    /**
     * The commits of a piece of work: those that ask whether anybody listens, and those that have everybody
     * in them.
     */
    async commitsOf(work: () => Promise<unknown>, before?: () => Promise<unknown>) {
      commits.length = 0;
      meanwhile = before ?? null;
      await work();
      return commits.map((text) => (text.includes('listening as') ? 'asks' : 'unfolds'));
    },
  };
}

interface World {
  readonly database: Database;
  readonly workspaceId: string;
  readonly livemode: boolean;
}

const endpoint = async ({ database, workspaceId, livemode }: World, events: string): Promise<void> => {
  await database.query(
    `insert into webhook_endpoints (id, workspace_id, livemode, state, context, revision, machine_version, events)
     values ($1, $2, $3::boolean, 'active', '{}', 1, 1, $4::text[])`,
    [mintId('wh', NOW), workspaceId, livemode, events],
  );
};

const typesOf = async (database: Database, sql: string, parameter: string) =>
  (await rowsOf<{ type: string }>(database, sql, [parameter])).map(({ type }) => type);

/** The readers of an email's events in the commit that records them. */
interface Listener {
  readonly name: string;
  /** The readers of the kind in this test. */
  readonly readers: readonly string[];
  readonly columns?: Readonly<Record<string, string>>;
  readonly input?: Parameters<typeof plainInput>[1];
  begins(world: World): Promise<void>;
  /**
   * The events that it has got of an email that was sent, delivered, opened and clicked; of the campaign, of
   * all of them.
   */
  got(world: World, email: string): Promise<readonly unknown[]>;
  readonly expected: readonly unknown[];
}

const EVENTS = 'select type from email_events where email_id = $1 order by position, id';
const DELIVERED = 'select event_type as type from webhook_deliveries where email_id = $1';
const ALL = ['sent', 'delivered', 'opened', 'clicked'];

const CAMPAIGN = mintId('cmp', NOW);

const LISTENERS: readonly Listener[] = [
  {
    name: 'an endpoint',
    readers: ['webhookDelivery of recorded'],
    begins: (world) => endpoint(world, '{sent,opened}'),
    got: ({ database }, email) => typesOf(database, `${DELIVERED} order by 1`, email),
    expected: ['opened', 'sent'],
  },
  {
    name: 'an endpoint, by a test clock',
    readers: ['webhookDelivery of recorded_on_clock'],
    input: { testClockId: 'tc_1' },
    begins: (world) => endpoint(world, '{sent,opened}'),
    got: ({ database }, email) =>
      typesOf(
        database,
        `select event_type || ' by ' || test_clock_id as type from webhook_deliveries where email_id = $1 order by 1`,
        email,
      ),
    expected: ['opened by tc_1', 'sent by tc_1'],
  },
  {
    name: 'a contact',
    readers: ['contacts_active'],
    begins: async ({ database, workspaceId, livemode }) => {
      await database.query(
        `insert into contacts (workspace_id, livemode, id, email, email_key, properties, status, created_at, updated_at)
         values ($1, $2::boolean, $3, 'r0@example.com', 'r0@example.com', '{}', 'subscribed', now(), now())`,
        [workspaceId, livemode, mintId('con', NOW)],
      );
    },
    got: ({ database }, email) =>
      typesOf(database, 'select type from contact_activity where email_id = $1 order by 1', email),
    expected: ['clicked', 'delivered', 'opened', 'sent'],
  },
  {
    name: 'a campaign whose people are no contacts any more',
    readers: ['campaign_events', 'campaign_marked', 'campaign_tallied', 'campaign_clicked'],
    columns: { campaign_id: CAMPAIGN },
    begins: async ({ database, workspaceId, livemode }) => {
      await database.query(
        `insert into campaigns (id, workspace_id, livemode, state, context, revision, machine_version, attempt)
         values ($1, $2, $3::boolean, 'sent', '{}', 1, 1, 1)`,
        [CAMPAIGN, workspaceId, livemode],
      );
      await database.query(
        `insert into campaign_recipients (campaign_id, contact_id, address_hash, state)
         values ($1, 'con_1', md5('r0@example.com')::uuid, 'sent')`,
        [CAMPAIGN],
      );
      await database.query(
        `insert into campaign_contents (campaign_id, content, links) values ($1, '{}', '[]')`,
        [CAMPAIGN],
      );
    },
    got: ({ database }) =>
      rowsOf(
        database,
        `select sum(delivered)::integer as delivered, sum(opens)::integer as opens, sum(clicks)::integer as clicks,
           (select count(opened_at)::integer from campaign_recipients where campaign_id = $1) as marked,
           (select sum(clicks)::integer from campaign_clicks where campaign_id = $1) as people
         from campaign_tallies where campaign_id = $1`,
        [CAMPAIGN],
      ),
    expected: [{ delivered: 1, opens: 1, clicks: 1, marked: 1, people: 1 }],
  },
];

const report = (type: 'delivered' | 'clicked', data: Readonly<Record<string, unknown>>): EmailEvent => ({
  type: 'report.received',
  at: NOW,
  report: { type, recipient: 0, data },
});

/** Accepts an email. */
async function inserted(engine: Engine, { workspaceId }: World, { input, columns }: Partial<Listener> = {}) {
  const plain = emailSpawn(plainInput(NOW, input));
  await engine.spawn('email', { ...plain, workspaceId, columns: { ...plain.columns, ...columns } });
  return plain.id;
}

/** Sends it, which is delivered, opened and clicked in one write. */
const lived = (engine: Engine, id: string) =>
  Promise.all([
    engine.tell('email', id, accepted(NOW)),
    engine.tell('email', id, report('delivered', {})),
    engine.tell('email', id, opened(NOW)),
    engine.tell('email', id, report('clicked', { url: 'https://example.com/' })),
  ]);

/** A workspace without listeners. */
async function quietWorld(name: string): Promise<World> {
  const { database } = stores.get(name) as Store;
  const world = { database, workspaceId: mintId('ws', NOW), livemode: false };
  await database.query(
    `insert into workspaces (id, name, plan, created_at) values ($1, 'A test', 'free', now())`,
    [world.workspaceId],
  );
  return world;
}

test('every reader of the events of emails says where it listens, and is one of those below', () => {
  const email = kinds.find(({ name }) => name === 'email');
  const readers = [
    ...(email?.followers ?? []).filter(({ fact }) => fact === 'recorded'),
    ...(email?.children ?? []).filter(({ fact, reads = fact }) => reads === 'recorded'),
  ];
  const nameOf = (reader: (typeof readers)[number]) =>
    'name' in reader ? reader.name : `${reader.kind.name} of ${reader.fact}`;
  expect(readers.map(nameOf).sort()).toEqual(LISTENERS.flatMap((one) => one.readers).sort());
  expect(readers.filter(({ listens }) => !listens)).toEqual([]);
});

describe.each(['PostgreSQL', 'PGlite'])('on %s', (name) => {
  test.each(LISTENERS)(
    '$name that comes between decision and commit gets the events, and those after it',
    async (listener) => {
      const world = await quietWorld(name);
      // Each begins without a memory: on a machine that is slow enough a question may take so long that it is
      // not asked again.
      const { engine: first, commitsOf: commitsOfFirst } = instanceOver(world.database);
      const { engine, commitsOf } = instanceOver(world.database);
      const [early, between, late] = [
        await inserted(first, world, listener),
        await inserted(engine, world, listener),
        await inserted(engine, world, listener),
      ];
      expect(await commitsOfFirst(() => lived(first, early))).toEqual(['asks']);
      expect(await listener.got(world, early)).not.toEqual(listener.expected);
      expect(
        await commitsOf(
          () => lived(engine, between),
          () => listener.begins(world),
        ),
      ).toEqual(['asks', 'unfolds']);
      expect(await listener.got(world, between)).toEqual(listener.expected);
      // It is remembered, so that the next commit need not ask.
      expect(await commitsOf(() => lived(engine, late))).toEqual(['unfolds']);
      if (!listener.columns) expect(await listener.got(world, late)).toEqual(listener.expected);
      expect(await typesOf(world.database, EVENTS, early)).toEqual(ALL);
      expect(await typesOf(world.database, EVENTS, between)).toEqual(ALL);
    },
  );

  test('while others decide on the same emails, a new listener gets the events as well', async () => {
    const world = await quietWorld(name);
    // No time passes, so that the race that was lost stays a moment ago.
    const { engine, commitsOf } = instanceOver(world.database, { monotonic: () => 0 });
    const other = instanceOver(world.database).engine;
    const [raced, next] = [await inserted(engine, world), await inserted(engine, world)];
    await engine.tell('email', raced, accepted(NOW));
    const commits = await commitsOf(
      () => engine.tell('email', raced, opened(NOW)),
      () => other.tell('email', raced, opened(NOW)),
    );
    // Refused as a whole, left out, decided again.
    expect(commits).toHaveLength(3);
    const [listener] = LISTENERS as readonly [Listener];
    const later = await commitsOf(
      () => lived(engine, next),
      () => listener.begins(world),
    );
    expect(later.at(-1)).toBe('unfolds');
    expect(await listener.got(world, next)).toEqual(listener.expected);
    expect(await typesOf(world.database, EVENTS, raced)).toEqual(['sent', 'opened', 'opened']);
  });

  test('an event of another workspace, environment or type wakes no listener', async () => {
    const world = await quietWorld(name);
    await endpoint({ ...world, livemode: true }, '{sent,delivered,opened,clicked}');
    await endpoint(await quietWorld(name), '{sent,delivered,opened,clicked}');
    await endpoint(world, '{bounced}');
    const quiet = instanceOver(world.database);
    const id = await inserted(quiet.engine, world);
    expect(await quiet.commitsOf(() => lived(quiet.engine, id))).toEqual(['asks']);
    expect(await typesOf(world.database, DELIVERED, id)).toEqual([]);
    const told = instanceOver(world.database);
    const bounced = await inserted(quiet.engine, world);
    const bounce = { type: 'bounced', recipient: 0, data: { type: 'Permanent' } } as const;
    await quiet.engine.tell('email', bounced, accepted(NOW));
    const bounces = () =>
      told.engine.tell('email', bounced, { type: 'report.received', at: NOW, report: bounce });
    expect(await told.commitsOf(bounces)).toEqual(['asks', 'unfolds']);
    expect(await typesOf(world.database, DELIVERED, bounced)).toEqual(['bounced']);
    // Events that the endpoint did not ask for are still written without it.
    const more = await inserted(told.engine, world);
    expect(await told.commitsOf(() => lived(told.engine, more))).toEqual(['asks']);
  });

  test('what takes long to find out is written all the same, and not asked again', async () => {
    const world = await quietWorld(name);
    // Such a time is over at once.
    const { engine, commitsOf } = instanceOver(world.database, { slowBeyond: '-1 day' });
    const [one, other] = [await inserted(engine, world), await inserted(engine, world)];
    expect(await commitsOf(() => lived(engine, one))).toEqual(['asks']);
    expect(await commitsOf(() => lived(engine, other))).toEqual(['unfolds']);
    for (const id of [one, other]) expect(await typesOf(world.database, EVENTS, id)).toEqual(ALL);
  });
});
