import { beforeAll, expect, test } from 'bun:test';
import type { EmailEvent } from '../../machines/email/context.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import {
  accepted,
  countOf,
  emailSpawn,
  engineOver,
  foreign,
  LIVE,
  opened,
  plainInput,
  rowsOf,
  TEST,
} from '../support/engine.ts';
import { HookedDatabase } from '../support/engine-faults.ts';
import { onEachStore } from '../support/shared-store.ts';
import { EDITABLE_VIEWS } from '../support/stored-email.ts';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
/**
 * A moment that PostgreSQL does not read as JavaScript writes it: with a sign before a year of five digits.
 */
const POISON = Date.UTC(10_000, 0);

onEachStore('commits of the engine', (store) => {
  let database: HookedDatabase;
  beforeAll(() => {
    database = new HookedDatabase(store.database);
  });

  /** An email that has been sent; opens may be told to it for ever. */
  async function sentEmails(count: number, engine = engineOver(database)): Promise<readonly string[]> {
    const inserts = Array.from({ length: count }, () => emailSpawn(plainInput(NOW)));
    await Promise.all(inserts.map((insert) => engine.spawn('email', insert)));
    await Promise.all(inserts.map(({ id }) => engine.tell('email', id, accepted(NOW))));
    return inserts.map(({ id }) => id);
  }

  const rowOf = async (id: string) =>
    (
      await rowsOf<{ state: string; revision: number; machine_version: number }>(
        database,
        'select state, revision, machine_version from emails_now where id = $1',
        [id],
      )
    )[0];
  const opensOf = (id: string) =>
    countOf(database, `email_events where email_id = $1 and type = 'opened'`, [id]);

  test('folds the events of one actor into one write, and answers each with what it led to', async () => {
    const engine = engineOver(database);
    const now = Date.now();
    const insert = emailSpawn(plainInput(now, { scheduledAt: now + 3_600_000 }));
    const { id } = insert;
    await engine.spawn('email', insert);
    const before = database.statements;
    const reschedule = {
      type: 'reschedule.requested',
      at: NOW + 1,
      scheduledAt: NOW + 7_200_000,
    } as EmailEvent;
    const told = await Promise.all([
      engine.tell('email', id, reschedule),
      engine.tell('email', id, opened(NOW + 2)),
      engine.tell('email', id, { type: 'cancel.requested', at: NOW + 3 }),
      engine.tell('email', id, { type: 'cancel.requested', at: NOW + 4 }),
    ]);
    expect(told.map((one) => [one.outcome, 'state' in one ? one.state : null])).toEqual([
      ['changed', 'scheduled'],
      ['refused', 'scheduled'],
      ['changed', 'cancelled'],
      ['refused', 'cancelled'],
    ]);
    expect((await rowOf(id))?.revision).toBe(2);
    // One read, since a far-off email is not kept, and one write.
    expect(database.statements - before - 1).toBe(2);
    const journal = await rowsOf<{ revision: number; steps: { event: string; to: string }[] }>(
      database,
      'select revision, steps from email_journal where actor_id = $1 order by revision',
      [id],
    );
    expect(journal.map(({ steps }) => steps.map(({ event, to }) => `${event} → ${to}`))).toEqual([
      ['spawned → scheduled'],
      ['reschedule.requested → scheduled', 'cancel.requested → cancelled'],
    ]);
  });

  test('writes a whole batch by one statement for each lane', async () => {
    const engine = engineOver(database);
    const ids = await sentEmails(200, engine);
    const before = database.statements;
    const results = await Promise.all(ids.map((id) => engine.tell('email', id, opened(NOW))));
    expect(new Set(results.map(({ outcome }) => outcome))).toEqual(new Set(['changed']));
    // Each lane reads its actors and writes them.
    expect(database.statements - before).toBe(database.kind === 'embedded' ? 2 : 4);
  });

  test('refuses, and writes nothing, what a state does not take', async () => {
    const engine = engineOver(database);
    const [id = ''] = await sentEmails(1, engine);
    const events: EmailEvent[] = [
      { type: 'cancel.requested', at: NOW },
      foreign('no.such.event', NOW),
      foreign('xstate.after.lease.email.sending', NOW),
      foreign('xstate.init', NOW),
      foreign('xstate.stop', NOW),
    ];
    for (const event of events) expect((await engine.tell('email', id, event)).outcome).toBe('refused');
    expect(await rowOf(id)).toEqual({ state: 'sent', revision: 2, machine_version: 1 });
  });

  test('takes no forged timer from outside, in the very state that waits for it', async () => {
    const engine = engineOver(database);
    const insert = emailSpawn(plainInput(NOW, { scheduledAt: NOW + 60_000 }));
    await engine.spawn('email', insert);
    const result = await engine.tell(
      'email',
      insert.id,
      foreign('xstate.after.due.email.scheduled', NOW + 60_000),
    );
    expect(result.outcome).toBe('refused');
    expect((await rowOf(insert.id))?.revision).toBe(1);
  });

  test('keeps actors of another workspace or environment absent', async () => {
    const engine = engineOver(database);
    const [id = ''] = await sentEmails(1, engine);
    for (const scope of [LIVE, { ...TEST, workspaceId: 'ws_other' }])
      expect(await engine.tell('email', id, opened(NOW), { scope })).toEqual({ outcome: 'absent' });
    expect(await engine.tell('email', mintId('em', NOW), opened(NOW), { scope: TEST })).toEqual({
      outcome: 'absent',
    });
    expect(await opensOf(id)).toBe(0);
    expect((await engine.tell('email', id, opened(NOW), { scope: TEST })).outcome).toBe('changed');
  });

  test('stores the version of the machine with every write', async () => {
    const engine = engineOver(database);
    const [id = ''] = await sentEmails(1, engine);
    expect((await rowOf(id))?.machine_version).toBe(1);
    await database.script(EDITABLE_VIEWS);
    await database.query('update emails_now set machine_version = 0 where id = $1', [id]);
    await engine.tell('email', id, opened(NOW));
    expect((await rowOf(id))?.machine_version).toBe(1);
  });

  test('a poisoned event hurts neither its neighbours nor those folded with it', async () => {
    const engine = engineOver(database);
    const ids = await sentEmails(60, engine);
    const poisoned = ids[17] as string;
    const told = await Promise.allSettled([
      ...ids.map((id) => engine.tell('email', id, opened(id === poisoned ? POISON : NOW))),
      engine.tell('email', poisoned, opened(NOW)),
      engine.tell('email', poisoned, opened(POISON)),
      engine.tell('email', poisoned, opened(NOW)),
      engine.tell('email', poisoned, { type: 'cancel.requested', at: NOW }),
    ]);
    const outcomes = told.map((one) => (one.status === 'fulfilled' ? one.value.outcome : 'failed'));
    expect(outcomes[17]).toBe('failed');
    expect(outcomes.slice(60)).toEqual(['changed', 'failed', 'changed', 'refused']);
    expect(outcomes.filter((outcome) => outcome === 'changed').length).toBe(59 + 2);
    for (const id of ids) expect(await opensOf(id)).toBe(id === poisoned ? 2 : 1);
  });

  test('a poisoned email costs its neighbours nothing, and no quota', async () => {
    const engine = engineOver(database);
    const meter = { period: `poison ${store.url}`, quota: 100 };
    const inserts = Array.from({ length: 40 }, (_, index) => {
      return emailSpawn(plainInput(index === 7 ? POISON : NOW), { meter });
    });
    const spawned = await Promise.allSettled(inserts.map((insert) => engine.spawn('email', insert)));
    expect(spawned.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []))).toEqual([7]);
    const [usage] = await rowsOf<{ used: number }>(database, 'select used from usage where period = $1', [
      meter.period,
    ]);
    expect(usage?.used).toBe(39);
    expect(await rowOf(inserts[7]?.id as string)).toBeUndefined();
  });

  test('what a server said is no poison, whatever octets it said it in', async () => {
    const engine = engineOver(database);
    const insert = emailSpawn(plainInput(NOW, { livemode: true }));
    await engine.spawn('email', insert);
    const outcomes = [{ recipient: 0, outcome: 'accepted', data: { response: '250 \0 \ud83d \\u0000' } }];
    const begun = { type: 'attempt.begun', at: NOW, attempt: 1, by: 'me' } as EmailEvent;
    await engine.tell('email', insert.id, begun);
    const ended = { type: 'attempt.completed', at: NOW, attempt: 1, by: 'me', outcomes } as EmailEvent;
    expect((await engine.tell('email', insert.id, ended)).outcome).toBe('changed');
    const [event] = await rowsOf<{ response: string }>(
      database,
      `select data->>'response' as response from email_events where email_id = $1`,
      [insert.id],
    );
    expect(event?.response).toBe('250 \uFFFD \uFFFD \\u0000');
  });

  test('a bug in what one call hands over fails that call alone', async () => {
    const engine = engineOver(database);
    const ids = await sentEmails(3, engine);
    const claim = (key: string) => ({
      key: `${store.url} ${key}`,
      scope: TEST,
      fingerprint: 'f',
      status: 200,
      reply: () => {
        if (key === 'b') throw new TypeError('a bug');
        return '{}';
      },
    });
    const results = await Promise.allSettled(
      ids.map((id, index) => engine.tell('email', id, opened(NOW), { claim: claim('abc'.charAt(index)) })),
    );
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await Promise.all(ids.map(opensOf))).toEqual([1, 0, 1]);
    const inserts = ['a', 'b', 'c'].map((key) =>
      emailSpawn(plainInput(NOW), { claim: claim(`${key} insert`) }),
    );
    const bad = emailSpawn(plainInput(NOW), { claim: claim('b') });
    const spawned = await Promise.allSettled(
      [...inserts, bad].map((insert) => engine.spawn('email', insert)),
    );
    expect(spawned.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected']);
  });

  test('a row that no machine can read stops no event or timer of others', async () => {
    const clock = { time: NOW, now: () => clock.time, monotonic: () => performance.now() };
    const messages: string[] = [];
    const engine = engineOver(database, { clock, logged: (message) => messages.push(message) });
    const inserts = Array.from({ length: 3 }, () =>
      emailSpawn(plainInput(NOW, { scheduledAt: NOW + 3_600_000 })),
    );
    const ids = inserts.map(({ id }) => id);
    await Promise.all(inserts.map((insert) => engine.spawn('email', insert)));
    const unreadable = ids[1] as string;
    await database.script('alter table emails drop constraint emails_state_check');
    await database.query(`update emails set state = 'teleported' where id = $1`, [unreadable]);
    clock.time = NOW + 3_600_000;
    await engine.wakeDue();
    expect(await Promise.all(ids.map(async (id) => (await rowOf(id))?.state))).toEqual([
      'sending',
      'teleported',
      'sending',
    ]);
    expect(messages.length).toBe(1);
    const told = await Promise.allSettled(ids.map((id) => engine.tell('email', id, accepted(NOW + 2_000))));
    expect(told.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    await database.script(EDITABLE_VIEWS);
    await database.query('delete from emails_now where id = $1', [unreadable]);
  });

  test('a refusal rests on the row, not on a memory of it', async () => {
    const [here, there] = [engineOver(database), engineOver(database)];
    const insert = emailSpawn(plainInput(NOW));
    await here.spawn('email', insert);
    // The other instance brings it to an end of which this one knows nothing: it remembers an attempt that
    // runs.
    await there.tell('email', insert.id, accepted(NOW + 1));
    expect((await here.tell('email', insert.id, opened(NOW + 2))).outcome).toBe('changed');
    expect(await opensOf(insert.id)).toBe(1);
  });

  test('a full mailbox takes no more, but for what tells of something that was done', async () => {
    // Its clock does not move: no deadline passes while a busy machine writes 20,000 events.
    const engine = engineOver(database, { clock: { now: () => NOW, monotonic: () => 0 } });
    const ids = await sentEmails(50, engine);
    const release = database.hold();
    const anyId = (index: number): string => ids[index % ids.length] as string;
    const first = engine.tell('email', anyId(0), opened(NOW));
    // It may wait for others for a moment, since fifty were inside before; what follows would leave together
    // with it.
    await release.isAsked;
    const waiting = Array.from({ length: 20_000 }, (_, index) =>
      engine.tell('email', anyId(index), opened(NOW)),
    );
    const refused = await engine.tell('email', anyId(0), opened(NOW)).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(UnavailableError);
    expect(engine.hasRoom('email')).toBeFalse();
    const patient = engine.tell('email', anyId(0), opened(NOW), { patienceMs: 60_000 });
    release();
    const results = await Promise.all([first, ...waiting, patient]);
    expect(results.every(({ outcome }) => outcome === 'changed')).toBeTrue();
    expect(await countOf(database, `email_events where email_id = any($1::text[])`, [ids])).toBe(50 + 20_002);
    expect(engine.hasRoom('email')).toBeTrue();
  });

  test('outcomes outlast a database that is away, and stay in order', async () => {
    const engine = engineOver(database);
    const others = await sentEmails(499, engine);
    const insert = emailSpawn(plainInput(NOW));
    await engine.spawn('email', insert);
    const away = new UnavailableError('away');
    database.failNext(away, away, away);
    // The batch ends between the attempt's outcome and what was reported after it.
    const told = [
      ...others.map((id) => engine.tell('email', id, opened(NOW), { patienceMs: 60_000 })),
      engine.tell('email', insert.id, accepted(NOW), { patienceMs: 60_000 }),
      engine.tell('email', insert.id, opened(NOW), { patienceMs: 60_000 }),
    ];
    expect((await Promise.all(told)).every(({ outcome }) => outcome === 'changed')).toBeTrue();
    expect(await opensOf(insert.id)).toBe(1);
  });

  test('a caller without patience hears at once that the database is away', async () => {
    const engine = engineOver(database);
    const [id = ''] = await sentEmails(1, engine);
    database.failNext(new UnavailableError('away'), new UnavailableError('away'));
    await expect(engine.tell('email', id, opened(NOW))).rejects.toBeInstanceOf(UnavailableError);
    await expect(engine.spawn('email', emailSpawn(plainInput(NOW)))).rejects.toBeInstanceOf(UnavailableError);
    expect((await engine.tell('email', id, opened(NOW))).outcome).toBe('changed');
    expect(await opensOf(id)).toBe(1);
  });

  test('a listener that fails disturbs no other', async () => {
    const messages: string[] = [];
    const engine = engineOver(database, { logged: (message) => messages.push(message) });
    const heard: string[] = [];
    engine.listen(() => {
      throw new Error('a bug');
    });
    const stop = engine.listen((kind, drafts) =>
      heard.push(...drafts.map(({ after }) => `${kind.name} ${after.id}`)),
    );
    const [id = ''] = await sentEmails(1, engine);
    expect(heard).toEqual([`email ${id}`, `email ${id}`]);
    expect(messages.length).toBe(2);
    stop();
    await engine.tell('email', id, opened(NOW));
    expect(heard.length).toBe(2);
  });
});
