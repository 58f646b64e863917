import { expect, test } from 'bun:test';
import { type ApiKeyEvent, type ApiKeyInput, apiKeyMachine } from '../../machines/api-key/machine.ts';
import type { EmailContext, EmailEvent, EmailInput } from '../../machines/email/context.ts';
import { emailMachine } from '../../machines/email/machine.ts';
import type { RecordedEvent } from '../../machines/email/recipient.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { ActorEvent } from '../../src/engine/machine/kind.ts';
import { actorReader } from '../../src/engine/store/actors.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { emailKind } from '../../src/sending/emails/kind.ts';
import { emailSpawn, engineOver, ManualClock, rowsOf, TEST, WORKSPACE } from '../support/engine.ts';
import {
  type ActorHistory,
  BEGINNINGS,
  BORN,
  everyEvent,
  shortestLives,
  simpleLives,
} from '../support/engine-email-model.ts';
import { LoneActor } from '../support/lone-actor.ts';
import { onEachStore } from '../support/shared-store.ts';

/** Everything that is written of one life, in a form that is the same wherever it was lived. */
interface Record {
  readonly outcomes: readonly string[];
  readonly state: string;
  readonly context: unknown;
  readonly timers: unknown;
  readonly wakeAt: number | null;
  readonly revision: number;
  readonly lastEvent: string | null;
  readonly failureReason: string | null;
  readonly events: readonly {
    readonly type: string;
    readonly recipient: string;
    readonly at: number;
    readonly data: unknown;
  }[];
  readonly suppressed: readonly string[];
  readonly journal: readonly (readonly string[])[];
}

const isTimer = ({ type }: ActorEvent): boolean => type.startsWith('xstate.after.');
const address = (recipient: number): string => `r${recipient}@example.com`;

/** The life as the machine alone would live it, each event in a separate write. */
function foreseen({ input, events }: ActorHistory): Record {
  const actor = new LoneActor<EmailContext>(emailMachine, input, input.at);
  const told: RecordedEvent[] = [];
  const suppressed = new Set<string>();
  const observe = (): void => {
    for (const { type, params } of actor.effects) {
      if (type === 'record') told.push(...(params as { events: readonly RecordedEvent[] }).events);
      if (type === 'suppress')
        for (const recipient of (params as { recipients: readonly number[] }).recipients)
          suppressed.add(address(recipient));
    }
  };
  observe();
  const journal = [['spawned']];
  const outcomes: string[] = [];
  for (const event of events) {
    const taken = actor.tell(event);
    if (taken) observe();
    const name = isTimer(event) ? `after.${event.type.split('.')[2]}` : event.type;
    if (taken) journal.push([name]);
    if (!isTimer(event)) outcomes.push(taken ? 'changed' : 'refused');
  }
  const { state, context, delays } = actor;
  const due = Object.entries(delays).map(
    ([delay, at]) => [`xstate.after.${delay}.email.${state}`, at] as const,
  );
  return {
    outcomes,
    state,
    context,
    timers: due.length > 0 ? Object.fromEntries(due) : null,
    wakeAt: due.length > 0 ? Math.min(...due.map(([, at]) => at)) : null,
    revision: journal.length,
    lastEvent: context.lastEvent,
    failureReason: context.failureReason,
    events: told.map(({ type, recipient, at, data }) => ({ type, recipient: address(recipient), at, data })),
    suppressed: [...suppressed].sort(),
    journal,
  };
}

/** A place where lives are lived. */
interface World {
  readonly database: Database;
  readonly engine: Engine;
  readonly clock: ManualClock;
}

/** The row of an email, and what else is kept of it. */
type Row = Omit<Record, 'outcomes' | keyof Marks>;
type Marks = Pick<Record, 'events' | 'suppressed' | 'journal'>;

/** A life that was lived, of which the marks are still to be read. */
interface Lived extends Row {
  readonly id: string;
  readonly workspaceId: string;
  readonly outcomes: readonly string[];
}

/**
 * The same lives told to the real engine, side by side, their timers fired by the engine's own clock. That is
 * one for all: their events come at the same moments, and timers at the same of them.
 */
async function lived({ database, engine, clock }: World, lives: readonly ActorHistory[]): Promise<Lived[]> {
  const [first] = lives;
  if (!first) return [];
  clock.time = first.input.at;
  const begun = await Promise.all(
    lives.map(async ({ input, events }) => {
      const workspaceId = mintId('ws', BORN);
      const insert = emailSpawn(input, { workspaceId });
      await engine.spawn('email', insert);
      return { id: insert.id, workspaceId, events, outcomes: [] as string[] };
    }),
  );
  for (const [step, { at }] of first.events.entries()) {
    clock.time = at;
    // A timer of one of them is a timer of all.
    if (begun.some(({ events }) => isTimer(events[step] as ActorEvent))) await engine.wakeDue();
    else
      await Promise.all(
        begun.map(async ({ id, events, outcomes }) =>
          outcomes.push((await engine.tell('email', id, events[step] as EmailEvent)).outcome),
        ),
      );
  }
  const ids = begun.map(({ id }) => id);
  const rows = await rowsOf<Row & { id: string }>(
    database,
    `select id, state, context, timers, (extract(epoch from wake_at) * 1000)::float8 as "wakeAt", revision,
       last_event as "lastEvent", failure_reason as "failureReason" from emails_now where id = any($1)`,
    [ids],
  );
  // Their remaining timers do not matter while others live.
  await database.query('delete from email_due where id = any($1)', [ids]);
  const rowOf = new Map(rows.map((row) => [row.id, row]));
  return begun.map(({ id, workspaceId, outcomes }) => {
    const row = rowOf.get(id);
    if (!row) throw new Error(`no email ${id}`);
    return { workspaceId, outcomes, ...row };
  });
}

/** The moments of a life, and those of them at which timers fire. */
const momentsOf = ({ input, events }: ActorHistory): string =>
  JSON.stringify([input.at, ...events.map((event) => [event.at, isTimer(event)])]);

/** The records of lives, whose marks are read for all of them together. */
async function recorded(database: Database, lives: readonly Lived[]): Promise<readonly Record[]> {
  const ids = lives.map(({ id }) => id);
  const events = await rowsOf<Record['events'][number] & { id: string }>(
    database,
    `select email_id as id, type, recipient, (extract(epoch from occurred_at) * 1000)::float8 as at, data
     from email_events where email_id = any($1) order by position, email_events.id`,
    [ids],
  );
  const suppressed = await rowsOf<{ id: string; address: string }>(
    database,
    'select workspace_id as id, address from suppressions where workspace_id = any($1) order by address',
    [lives.map(({ workspaceId }) => workspaceId)],
  );
  const journal = await rowsOf<{ id: string; steps: { event: string }[] }>(
    database,
    'select actor_id as id, steps from email_journal where actor_id = any($1) order by revision',
    [ids],
  );
  const eventsOf = Map.groupBy(events, ({ id }) => id);
  const suppressedOf = Map.groupBy(suppressed, ({ id }) => id);
  const journalOf = Map.groupBy(journal, ({ id }) => id);
  return lives.map(({ id, workspaceId, ...life }) => ({
    ...life,
    events: (eventsOf.get(id) ?? []).map(({ id: _, ...event }) => event),
    suppressed: (suppressedOf.get(workspaceId) ?? []).map(({ address }) => address),
    journal: (journalOf.get(id) ?? []).map(({ steps }) => steps.map(({ event }) => event)),
  }));
}

/** A timer fires when its moment has come: where a path has it fire earlier or later, the clock decides. */
function clocked({ input, events }: ActorHistory): ActorHistory {
  const actor = new LoneActor<EmailContext>(emailMachine, input, input.at);
  const moved: ActorEvent[] = [];
  for (const event of events) {
    const delay = event.type.split('.')[2] as string;
    const due = isTimer(event) ? actor.delays[delay] : undefined;
    const next = due === undefined ? event : { ...event, at: Math.max(due, event.at) };
    // The times of later events are relative to those of earlier ones.
    const at = Math.max(next.at, moved.at(-1)?.at ?? input.at);
    moved.push({ ...next, at });
    actor.tell({ ...next, at });
  }
  return { input, events: moved };
}

const beginnings = Object.values<EmailInput>(BEGINNINGS);
const lives = beginnings.flatMap((input) => [...shortestLives(input), ...simpleLives(input)]).map(clocked);

const hasTimers = ({ events }: ActorHistory): boolean => events.some(isTimer);

/** Lives that no other one goes on from. */
const whole = (all: readonly ActorHistory[]): readonly ActorHistory[] => {
  const told = new Map(all.map((life) => [JSON.stringify([life.input, life.events]), life]));
  for (const { input, events } of all)
    for (let length = 0; length < events.length; length++)
      told.delete(JSON.stringify([input, events.slice(0, length)]));
  return [...told.values()];
};

/**
 * A life, and at its end everything else that could be told: refusals must leave the same marks as in the
 * machine.
 */
const tested: readonly ActorHistory[] = whole(lives).map((life, index) => {
  const actor = new LoneActor<EmailContext>(emailMachine, life.input, life.input.at);
  for (const event of life.events) actor.tell(event);
  const told = everyEvent(actor.context).filter(({ event }) => !isTimer(event));
  const one = told[index % told.length] as (typeof told)[number];
  return { input: life.input, events: [...life.events, one.event] };
});

/** One of so many neighbours, which differ in an event or two. */
const oneOf = (neighbours: number, which: number) =>
  tested.filter((_, index) => index % neighbours === which);

/**
 * Each path is lived on PostgreSQL, in turns with the actor in memory and read from its row: either way meets
 * neighbours of each path. Beside it the embedded database shows that the same statements do the same there.
 */
const LIVED = {
  'with actors kept in memory': {
    keptActors: 20_000,
    onServer: oneOf(2, 0),
    embedded: oneOf(16, 0).slice(0, 20),
  },
  'with every actor read from its row before each event': {
    keptActors: 0,
    onServer: oneOf(2, 1),
    embedded: oneOf(16, 1),
  },
};

onEachStore('every path', (store) => {
  const isServer = (): boolean => store.url !== null;
  for (const [memory, { keptActors, onServer, embedded }] of Object.entries(LIVED))
    test(`is lived as the machine foresees it, ${memory}`, async () => {
      const clock = new ManualClock(BORN);
      const world = {
        database: store.database,
        clock,
        engine: engineOver(store.database, { clock, keptActors }),
      };
      const paths = isServer() ? onServer : embedded;
      const [timed, timeless] = [paths.filter(hasTimers), paths.filter((life) => !hasTimers(life))];
      expect(Math.min(timed.length, timeless.length)).toBeGreaterThan(isServer() ? 30 : 1);
      // The clock is one for all: lives in which it plays no part, or the same one, are lived side by side,
      // batched together.
      const all = (await Promise.all(timeless.map((life) => lived(world, [life])))).flat();
      const rounds = [...Map.groupBy(timed, momentsOf).values()];
      for (const round of rounds) all.push(...(await lived(world, round)));
      expect(await recorded(store.database, all)).toEqual([...timeless, ...rounds.flat()].map(foreseen));
      // The engine puts a life together by a separate statement, which must not differ from the view.
      const read = await actorReader(store.database, emailKind)(all.map(({ id }) => id));
      const contexts = new Map(read.map(({ id, context }) => [id, context]));
      expect(all.map(({ id }) => contexts.get(id))).toEqual(all.map(({ context }) => context));
    });

  test('of an API key is lived as its machine foresees it', async () => {
    const engine = engineOver(store.database, { keptActors: 0 });
    const input: ApiKeyInput = { at: BORN, permissions: ['emails:read'] };
    const replaced: ApiKeyEvent = { type: 'permissions.replaced', at: BORN + 1, permissions: ['*'] };
    const revoked: ApiKeyEvent = { type: 'revoke.requested', at: BORN + 2 };
    await store.database.query(
      `insert into workspaces (id, name, plan, created_at) values ($1, 'Test', 'free', now()) on conflict do nothing`,
      [WORKSPACE],
    );
    for (const events of [
      [],
      [replaced],
      [revoked],
      [replaced, replaced, revoked],
      [revoked, replaced, revoked],
    ]) {
      const actor = new LoneActor(apiKeyMachine, input, input.at);
      const id = mintId('key', BORN);
      const columns = { name: 'A key', prefix: 'svc_…', hash: id };
      expect((await engine.spawn('apiKey', { ...TEST, id, input, columns })).outcome).toBe('spawned');
      let revision = 1;
      for (const event of events) {
        const taken = actor.tell(event);
        if (taken) revision++;
        expect<unknown>(await engine.tell('apiKey', id, event, { scope: TEST })).toEqual({
          outcome: taken ? 'changed' : 'refused',
          state: actor.state,
          context: actor.context,
        });
      }
      const [row] = await rowsOf<object>(
        store.database,
        `select state, context, revision, (extract(epoch from revoked_at) * 1000)::float8 as revoked, wake_at from api_keys where id = $1`,
        [id],
      );
      const { revokedAt } = actor.context as { revokedAt: number | null };
      expect({ ...row }).toEqual({
        state: actor.state,
        context: actor.context,
        revision,
        revoked: revokedAt,
        wake_at: null,
      });
    }
  });
});
