import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { EmailEvent } from '../../machines/email/context.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import {
  accepted,
  countOf,
  emailSpawn,
  engineOver,
  foreign,
  opened,
  plainInput,
  postgresStore,
  rowsOf,
  type Store,
} from '../support/engine.ts';
import { HookedDatabase } from '../support/engine-faults.ts';
import { StatementRelay } from '../support/engine-relay.ts';
import { eventually } from '../support/eventually.ts';
import { livedMs, livedMsBeside } from '../support/own-time.ts';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
/** A text that only the statement of a commit, or of an acceptance, has. */
const COMMIT = 'ed","s'; // The end of an event's name, and the beginning of the state that it came in.
const ACCEPTANCE = '["spawned"';

let store: Store;
beforeAll(async () => {
  store = await postgresStore();
});
afterAll(() => store[Symbol.asyncDispose]());

/** An engine behind the relay, and one that always gets through. */
interface Scene extends AsyncDisposable {
  readonly relay: StatementRelay;
  readonly behind: HookedDatabase;
  readonly engine: Engine;
  readonly direct: Engine;
}

async function scene(): Promise<Scene> {
  const relay = await StatementRelay.to(store.url as string);
  const behind = new HookedDatabase(await PostgresDatabase.open(relay.url));
  return {
    relay,
    behind,
    engine: engineOver(behind),
    direct: engineOver(store.database),
    async [Symbol.asyncDispose]() {
      await behind.close();
      await relay[Symbol.asyncDispose]();
    },
  };
}

/** An email that waits to be moved or cancelled, at revision 1. */
async function scheduledEmail({ direct }: Scene): Promise<string> {
  const insert = emailSpawn(plainInput(NOW, { scheduledAt: NOW + 3_600_000 }));
  await direct.spawn('email', insert);
  return insert.id;
}

/** An email in an attempt, at revision 1: a report may be folded with the outcome. */
async function sendingEmail({ direct }: Scene): Promise<string> {
  const insert = emailSpawn(plainInput(NOW));
  await direct.spawn('email', insert);
  return insert.id;
}

const cancel: EmailEvent = { type: 'cancel.requested', at: NOW };
const moved = (to: number): EmailEvent =>
  ({ type: 'reschedule.requested', at: NOW, scheduledAt: to }) as EmailEvent;

async function conditionOf(
  id: string,
): Promise<{ state: string; revision: number; events: string[]; writes: number }> {
  const [row] = await rowsOf<{ state: string; revision: number }>(
    store.database,
    'select state, revision from emails_now where id = $1',
    [id],
  );
  const events = await rowsOf<{ type: string }>(
    store.database,
    'select type from email_events where email_id = $1 order by type',
    [id],
  );
  return {
    state: row?.state ?? 'absent',
    revision: row?.revision ?? 0,
    events: events.map(({ type }) => type),
    writes: await countOf(store.database, 'email_journal where actor_id = $1', [id]),
  };
}

describe('a commit whose reply is lost', () => {
  test('is found to have gone through, and no caller is refused or answered twice', async () => {
    await using here = await scene();
    const id = await scheduledEmail(here);
    const struck = here.relay.trap(COMMIT, 'lose its reply');
    const result = await here.engine.tell('email', id, cancel);
    await struck;
    expect(result).toMatchObject({ outcome: 'changed', state: 'cancelled' });
    expect(await conditionOf(id)).toEqual({ state: 'cancelled', revision: 2, events: [], writes: 2 });
  });

  test('is found although another instance has moved the actor on since', async () => {
    await using here = await scene();
    const id = await sendingEmail(here);
    const struck = here.relay.trap(COMMIT, 'lose its reply', () =>
      here.direct.tell('email', id, opened(NOW)),
    );
    const told = await Promise.all([
      here.engine.tell('email', id, accepted(NOW)),
      here.engine.tell('email', id, opened(NOW)),
    ]);
    await struck;
    expect(told.map(({ outcome }) => outcome)).toEqual(['changed', 'changed']);
    expect(await conditionOf(id)).toEqual({
      state: 'sent',
      revision: 3,
      events: ['opened', 'opened', 'sent'],
      writes: 3,
    });
  });

  test('counts as lost when it was another instance that won', async () => {
    await using here = await scene();
    const id = await scheduledEmail(here);
    await here.engine.tell('email', id, foreign('no.such.event', NOW));
    const struck = here.relay.trap(COMMIT, 'lose it', () =>
      here.direct.tell('email', id, moved(NOW + 7_200_000)),
    );
    const result = await here.engine.tell('email', id, cancel);
    await struck;
    expect(result).toMatchObject({ outcome: 'changed', state: 'cancelled' });
    expect(await conditionOf(id)).toEqual({ state: 'cancelled', revision: 3, events: [], writes: 3 });
  });

  test('is answered with 503 when it never arrived, and nothing has happened', async () => {
    await using here = await scene();
    const id = await scheduledEmail(here);
    const struck = here.relay.trap(COMMIT, 'lose it');
    await expect(here.engine.tell('email', id, cancel)).rejects.toBeInstanceOf(UnavailableError);
    await struck;
    expect(await conditionOf(id)).toEqual({ state: 'scheduled', revision: 1, events: [], writes: 1 });
    expect((await here.engine.tell('email', id, cancel)).outcome).toBe('changed');
  });

  test('is tried again when it tells an outcome, once', async () => {
    await using here = await scene();
    const id = await sendingEmail(here);
    const struck = here.relay.trap(COMMIT, 'lose it');
    const told = await Promise.all([
      here.engine.tell('email', id, accepted(NOW), { patienceMs: 60_000 }),
      here.engine.tell('email', id, opened(NOW), { patienceMs: 60_000 }),
    ]);
    await struck;
    expect(told.map(({ outcome }) => outcome)).toEqual(['changed', 'changed']);
    expect(await conditionOf(id)).toEqual({
      state: 'sent',
      revision: 2,
      events: ['opened', 'sent'],
      writes: 2,
    });
  });

  test('does not count twice when it goes through after it was given up', async () => {
    for (const when of ['before it is decided again', 'while the second try is on its way']) {
      await using here = await scene();
      const id = await sendingEmail(here);
      let looked = 0;
      here.behind.before = async (text) => {
        const isTry =
          text.startsWith('with input') ||
          (when.startsWith('before') && text.startsWith('select j.actor_id as id'));
        // The first of each is the doomed statement itself, and the look that does not find it.
        if (isTry && ++looked === (when.startsWith('before') ? 3 : 2)) await here.relay.release();
      };
      const struck = here.relay.trap(COMMIT, 'delay it');
      const told = await Promise.all([
        here.engine.tell('email', id, accepted(NOW), { patienceMs: 60_000 }),
        here.engine.tell('email', id, opened(NOW), { patienceMs: 60_000 }),
      ]);
      await struck;
      expect(told.map(({ outcome }) => outcome)).toEqual(['changed', 'changed']);
      expect(await conditionOf(id)).toEqual({
        state: 'sent',
        revision: 2,
        events: ['opened', 'sent'],
        writes: 2,
      });
    }
  });
});

describe('an acceptance whose reply is lost', () => {
  const meter = { period: 'lost', quota: 100 };
  const used = async () =>
    (await rowsOf<{ used: number }>(store.database, `select used from usage where period = 'lost'`))[0]
      ?.used ?? 0;

  test('is found to have gone through', async () => {
    await using here = await scene();
    const before = await used();
    const inserts = Array.from({ length: 5 }, () => emailSpawn(plainInput(NOW), { meter }));
    const struck = here.relay.trap(ACCEPTANCE, 'lose its reply');
    const spawned = await Promise.all(inserts.map((insert) => here.engine.spawn('email', insert)));
    await struck;
    expect(spawned.map(({ outcome }) => outcome)).toEqual(Array(5).fill('spawned'));
    for (const { id } of inserts) expect((await conditionOf(id)).writes).toBe(1);
    expect(await used()).toBe(before + 5);
  });

  test('is answered with 503 when it never arrived, and took no quota', async () => {
    await using here = await scene();
    const before = await used();
    const insert = emailSpawn(plainInput(NOW), { meter });
    const struck = here.relay.trap(ACCEPTANCE, 'lose it');
    await expect(here.engine.spawn('email', insert)).rejects.toBeInstanceOf(UnavailableError);
    await struck;
    expect((await conditionOf(insert.id)).state).toBe('absent');
    expect(await used()).toBe(before);
  });
});

describe('an engine on a frozen connection', () => {
  const timed = async (work: Promise<unknown>): Promise<{ error: unknown; ms: number }> => {
    let error: unknown = null;
    const ms = await livedMs(async () => {
      error = await work.then(
        () => null,
        (reason: unknown) => reason,
      );
    });
    return { error, ms };
  };

  /** Callers of a frozen engine hear in time; then the engine heals. */
  async function freezes(newcomersToo: boolean): Promise<void> {
    await using here = await scene();
    const [id, other] = await Promise.all([scheduledEmail(here), scheduledEmail(here)]);
    const insert = () => emailSpawn(plainInput(NOW));
    // The connection exists, and the statement is prepared.
    await here.engine.tell('email', id, moved(NOW + 7_200_000));
    here.relay.freeze({ newcomersToo });
    const asked = Promise.withResolvers<void>();
    here.behind.before = () => asked.resolve();
    const first = timed(here.engine.tell('email', id, cancel));
    const beside = timed(here.engine.spawn('email', insert()));
    await asked.promise;
    // These find a batch under way, and have to wait for its end before their own begins.
    const behind = [
      timed(here.engine.tell('email', other, cancel)),
      timed(here.engine.spawn('email', insert())),
    ];
    expect((await first).error).toBeInstanceOf(UnavailableError);
    // Only new connections, if any, get through.
    if (newcomersToo) expect((await beside).error).toBeInstanceOf(UnavailableError);
    here.relay.thaw({ dead: true });
    for (const { ms } of await Promise.all([first, beside, ...behind])) expect(ms).toBeLessThan(8_000);
    const healing = await livedMsBeside(store.url as string, () =>
      eventually(
        'it heals',
        async () => (await here.engine.tell('email', id, moved(NOW + 9_000_000))).outcome,
      ),
    );
    expect(healing).toBeLessThan(1_000);
    expect(await conditionOf(id)).toMatchObject({ state: 'scheduled', events: [] });
  }

  test('answers 503 within 8 s and recovers within 1 s', async () => {
    await Promise.all([freezes(false), freezes(true)]);
  });
});
