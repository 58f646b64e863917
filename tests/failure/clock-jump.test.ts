import { expect, test } from 'bun:test';
import type { EmailContext } from '../../machines/email/context.ts';
import { openSession } from '../../src/engine/audit/session.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { auditLedger } from '../../src/ops/audit/audit.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { periodOf } from '../../src/platform/time/clock.ts';
import { simulate } from '../../src/sending/emails/simulator/simulator.ts';
import {
  countOf,
  emailSpawn,
  engineOver,
  ManualClock,
  plainInput,
  postgresStore,
  rowsOf,
} from '../support/engine.ts';
import { sharedStore } from '../support/shared-store.ts';

// The effects of the wall clock on emails: leases and schedules are moments of it, attempts are counted.

const HOUR = 3_600_000;
const NOON = Date.parse('2026-11-20T12:00:00Z');
const store = sharedStore(postgresStore);

const simulated = (clock: ManualClock) =>
  engineOver(store.database, {
    clock,
    performer: {
      slots: 1_000,
      backlog: 0,
      perform: ({ actor }) => simulate(actor.snapshot.context as EmailContext, '<m@test>', clock.now()),
    },
  });

async function accept(engine: Engine, clock: ManualClock, scheduledIn: number | null): Promise<string> {
  const at = clock.now();
  const id = mintId('em', at);
  const scheduledAt = scheduledIn === null ? null : at + scheduledIn;
  const input = plainInput(at, { scheduledAt, recipients: [{ simulate: 'delivered' }] });
  const meter = { period: periodOf(false, at), quota: 1_000 };
  expect((await engine.spawn('email', emailSpawn(input, { id, meter }))).outcome).toBe('spawned');
  return id;
}

const stateOf = async (id: string): Promise<string | undefined> =>
  (await rowsOf<{ state: string }>(store.database, 'select state from emails_now where id = $1', [id]))[0]
    ?.state;

const timesSent = (id: string): Promise<number> =>
  countOf(store.database, `email_events where email_id = $1 and type = 'sent'`, [id]);

async function expectLedgerHolds(at: number): Promise<void> {
  const session = await openSession({ url: store.url, dataDir: null });
  const findings = await auditLedger(session, at);
  await session.close();
  expect(findings.named).toEqual([]);
}

test('a clock that jumps ahead: what became due fires once, and nothing fires again', async () => {
  const clock = new ManualClock(NOON);
  const engine = simulated(clock);
  const soon = await accept(engine, clock, HOUR / 2);
  const later = await accept(engine, clock, 2 * HOUR);
  clock.time += HOUR;
  await engine.wakeDue();
  await engine.stop();
  expect([await stateOf(soon), await stateOf(later)]).toEqual(['delivered', 'scheduled']);
  const again = simulated(clock);
  await again.wakeDue();
  await again.stop();
  expect(await timesSent(soon)).toBe(1);
  await expectLedgerHolds(clock.time);
});

test('a clock that jumps ahead over a lease: the attempt counts as lost, its late outcome is refused', async () => {
  const clock = new ManualClock(NOON + 10 * HOUR);
  const idle = engineOver(store.database, { clock });
  const id = await accept(idle, clock, null);
  clock.time += HOUR / 2;
  await idle.wakeDue();
  const outcome = (attempt: number) =>
    idle.tell('email', id, {
      type: 'attempt.completed',
      at: clock.time,
      attempt,
      outcomes: [{ recipient: 0, outcome: 'accepted', data: {} }],
    } as never);
  expect((await outcome(1)).outcome).toBe('refused');
  expect((await outcome(2)).outcome).toBe('changed');
  expect(await timesSent(id)).toBe(1);
  await idle.stop();
  await expectLedgerHolds(clock.time);
});

test('a clock that jumps back: new emails are sent at once, scheduled ones wait for their moment', async () => {
  const clock = new ManualClock(NOON + 20 * HOUR);
  const engine = simulated(clock);
  const scheduled = await accept(engine, clock, HOUR);
  clock.time -= HOUR;
  const fresh = await accept(engine, clock, null);
  await engine.wakeDue();
  await engine.stop();
  expect([await stateOf(fresh), await stateOf(scheduled)]).toEqual(['delivered', 'scheduled']);
  const later = simulated(clock);
  clock.time += 2 * HOUR + 1;
  await later.wakeDue();
  await later.stop();
  expect(await stateOf(scheduled)).toBe('delivered');
  expect(await timesSent(scheduled)).toBe(1);
  await expectLedgerHolds(clock.time);
});

test('two instances whose clocks are ten minutes apart: each scheduled email fires once', async () => {
  const ahead = new ManualClock(NOON + 40 * HOUR);
  const behind = new ManualClock(ahead.time - 600_000);
  const [first, second] = [simulated(ahead), simulated(behind)];
  const ids: string[] = [];
  for (let i = 0; i < 20; i++) ids.push(await accept(first, ahead, 60_000));
  ahead.time += 60_000;
  behind.time += 60_000;
  await Promise.all([first.wakeDue(), second.wakeDue()]);
  behind.time = ahead.time;
  await second.wakeDue();
  await Promise.all([first.stop(), second.stop()]);
  for (const id of ids) expect([await stateOf(id), await timesSent(id)]).toEqual(['delivered', 1]);
  await expectLedgerHolds(ahead.time);
});
