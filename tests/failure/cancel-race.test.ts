import { describe, expect, test } from 'bun:test';
import type { EmailContext } from '../../machines/email/context.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { EventResult } from '../../src/engine/machine/result.ts';
import type { Performer } from '../../src/engine/runtime/performers.ts';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import { simulate } from '../../src/sending/emails/simulator/simulator.ts';
import { createClient, type Reply } from '../support/client.ts';
import { emailSpawn, engineOver, ManualClock, plainInput, rowsOf } from '../support/engine.ts';
import { eventually, momentOf } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { startService, TEST_KEY } from '../support/service.ts';
import { onEachStore } from '../support/shared-store.ts';

const NOON = Date.parse('2026-11-20T12:00:00.000Z');
const RACES = 100;
/** The wins that each side needs: races in which only one side ever wins are none. */
const WINS = 5;

describe('cancelling an email at the moment it comes due', () => {
  test('over HTTP on two instances, cancels it for good or answers 409 and sends it', async () => {
    await using database = await createTestDatabase();
    const env = {
      DATABASE_URL: database.url,
      SECRET_KEY: 'only-for-tests-only-for-tests-only',
      RATE_LIMIT_PER_IP: '0',
      RATE_LIMIT_PER_KEY: '0',
      // Ten rounds of a hundred are more than a day's emails of a test key.
      TEST_SENDS_PER_DAY: '0',
      LOG_LEVEL: 'warn',
    };
    await using one = await startService({ env });
    await using two = await startService({ env });
    const clients = [one, two].map(({ url }) => createClient(url, TEST_KEY));
    const client = (index: number) => clients[index % 2] as (typeof clients)[number];

    const races: { id: string; reply: Reply }[] = [];
    const endedAs = (status: number) => races.filter(({ reply }) => reply.status === status);
    // On a busy machine the moment that decides is a wider one, and comes later: more races find it.
    for (
      let heat = 0;
      heat < 10 && Math.min(...[200, 409].map((end) => endedAs(end).length)) < WINS;
      heat++
    ) {
      const first = Date.now() + 2_000 * (heat + 1);
      races.push(
        ...(await Promise.all(
          Array.from({ length: RACES }, async (_, index) => {
            const due = first + index * 15;
            const sent = await client(index).post('/v1/emails', {
              from: 'sender@example.com',
              to: 'delivered@simulator.svc.test',
              subject: `Race ${index}`,
              text: 'Now or never.',
              scheduledAt: new Date(due).toISOString(),
            });
            expect(sent.status).toBe(202);
            // The moment itself, a little before it and a little after: what decides is a few milliseconds
            // wide.
            await momentOf(due - 15 + (index % 31) + heat * 10 * ((index % 7) - 3));
            const id = sent.body.data.id as string;
            return { id, reply: await client(index + 1).delete(`/v1/emails/${id}`) };
          }),
        )),
      );
    }
    const [won, late] = [endedAs(200), endedAs(409)];
    expect(won.length + late.length).toBe(races.length);
    expect(Math.min(won.length, late.length)).toBeGreaterThanOrEqual(WINS);
    for (const { reply } of late) expect(reply.body.error.code).toBe('CONFLICT');
    for (const { reply } of won) expect(reply.body.data.status).toBe('cancelled');

    const seen = (id: string): Promise<Reply> => client(0).get(`/v1/emails/${id}`);
    for (const { id } of late) {
      const { body } = await eventually('it is delivered', async () => {
        const reply = await seen(id);
        return reply.body.data.status === 'delivered' ? reply : undefined;
      });
      expect(body.data.events.map(({ type }: { type: string }) => type)).toEqual(['sent', 'delivered']);
    }
    // All that was sent has been delivered by now; what was cancelled has stayed so.
    for (const { id } of won)
      expect((await seen(id)).body.data).toMatchObject({ status: 'cancelled', events: [], sentAt: null });
  });
});

onEachStore(`${RACES} events against ${RACES} timers at once`, (store) => {
  test('end each email one way, and give back the quota of the cancelled ones', async () => {
    const clock = new ManualClock(NOON);
    const attempts: string[] = [];
    const performer: Performer = {
      slots: 1_000,
      backlog: 1_000,
      perform: ({ actor }) => {
        attempts.push(actor.id);
        return simulate(actor.snapshot.context as EmailContext, '<m@test>', clock.now());
      },
    };
    // Two instances where the database can be shared.
    await using stack = new AsyncDisposableStack();
    const other =
      store.url === null
        ? store.database
        : stack.adopt(new PostgresDatabase(store.url), (database) => database.close());
    const engines: Engine[] = [store.database, other].map((database) =>
      engineOver(database, { clock, performer }),
    );
    const [waking, cancelling] = engines as [Engine, Engine];
    const meter = { period: '2026-11-20', quota: 100_000 };
    const ends = new Map<string, number>();
    let round = 0;
    const wonBy = (end: number) => [...ends.values()].filter((each) => each === end).length;
    // On a busy machine one side may win for rounds on end: more of them find the moment at which both can.
    for (; round < 6 || (round < 60 && Math.min(wonBy(0), wonBy(1)) === 0); round++) {
      clock.time = NOON + round * 10_000;
      const due = clock.time + 5_000;
      const inserts = Array.from({ length: RACES }, () =>
        emailSpawn(plainInput(clock.time, { scheduledAt: due, recipients: [{ simulate: 'delivered' }] }), {
          meter,
        }),
      );
      await Promise.all(inserts.map((insert) => cancelling.spawn('email', insert)));
      clock.time = due;
      // Some events come before the clock looks, some while it does, some while it writes.
      let woken: Promise<void> | undefined;
      const telling: Promise<EventResult>[] = [];
      for (const [index, { id }] of inserts.entries()) {
        if (index === 20 * (round % 3)) woken = waking.wakeDue();
        // Those who wake read twice before they write: in a third of the rounds the others wait longer.
        if (round % 3 === 0 || index % 5 === 0) await new Promise(setImmediate);
        telling.push(cancelling.tell('email', id, { type: 'cancel.requested', at: due }));
      }
      const outcomes = await Promise.all(telling);
      await woken;
      outcomes.forEach(({ outcome }, index) => {
        ends.set(inserts[index]?.id as string, outcome === 'changed' ? 0 : 1);
      });
      expect(outcomes.every(({ outcome }) => outcome === 'changed' || outcome === 'refused')).toBeTrue();
    }
    await Promise.all(engines.map((engine) => engine.stop()));

    const rows = await rowsOf<{ id: string; state: string; revision: number; events: number }>(
      store.database,
      `select id, state, revision, (select count(*)::integer from email_events v where v.email_id = e.id) as events
       from emails_now e`,
    );
    expect(rows.length).toBe(round * RACES);
    for (const { id, state, revision, events } of rows) {
      const sent = ends.get(id) === 1;
      expect([state, events]).toEqual(sent ? ['delivered', 2] : ['cancelled', 0]);
      expect(revision).toBeGreaterThanOrEqual(sent ? 3 : 2);
    }
    const sent = [...ends].flatMap(([id, end]) => (end === 1 ? [id] : []));
    expect(attempts.sort()).toEqual(sent.sort());
    // Both sides have won some.
    expect(Math.min(wonBy(0), wonBy(1))).toBeGreaterThan(0);
    const [usage] = await rowsOf<{ used: number }>(store.database, 'select used from usage');
    expect(usage?.used).toBe(sent.length);
  });
});
