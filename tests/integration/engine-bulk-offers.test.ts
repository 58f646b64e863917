import { expect, test } from 'bun:test';
import type { EmailEvent } from '../../machines/email/context.ts';
import type { Order } from '../../src/engine/machine/draft.ts';
import type { Performer } from '../../src/engine/runtime/performers.ts';
import { countOf, emailSpawn, engineOver, ManualClock, plainInput } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { onEachStore } from '../support/shared-store.ts';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
/** The time until an email that was not begun offers itself again. */
const AGAIN_MS = 10_000;

/** A performer that has room for so many of each sort, and begins nothing. */
function performer() {
  const orders: Order[] = [];
  const room = { all: 0, bulk: 0 };
  const made: Performer = {
    slots: 1_000,
    backlog: 4_000,
    room: () => room.all,
    bulkRoom: () => room.bulk,
    perform: (order) => {
      orders.push(order);
      return [];
    },
  };
  const taken = () => orders.splice(0).map(({ actor, isBulk = false }) => ({ id: actor.id, isBulk }));
  return { made, room, taken };
}

/** A live email, of a campaign where it is in bulk. */
const live = (isBulk: boolean, more: object = {}) => {
  const spawn = emailSpawn(plainInput(NOW, { livemode: true }), { isBulk, ...more });
  return { ...spawn, columns: { ...spawn.columns, ...(isBulk && { campaign_id: 'cmp_1' }) } };
};

onEachStore('emails without a waiting caller', (store) => {
  test('are claimed apart: however many wait, others are not behind them', async () => {
    const clock = new ManualClock(NOW);
    const { made, room, taken } = performer();
    const engine = engineOver(store.database, { clock, performer: made });
    const bulk = Array.from({ length: 600 }, () => live(true));
    const [other] = [live(false)];
    await Promise.all(bulk.map((spawn) => engine.spawn('email', spawn)));
    await engine.spawn('email', other);
    taken();
    engine.start();
    clock.time += AGAIN_MS;
    Object.assign(room, { all: 100, bulk: 0 });
    await engine.wakeDue();
    expect(taken()).toEqual([{ id: other.id, isBulk: false }]);
    room.bulk = 50;
    clock.time += AGAIN_MS;
    await engine.wakeDue();
    const later = taken();
    expect(later.filter(({ isBulk }) => !isBulk)).toEqual([{ id: other.id, isBulk: false }]);
    expect(new Set(later.filter(({ isBulk }) => isBulk).map(({ id }) => id)).size).toBe(600);
    await engine.stop();
  });

  test('stay apart when they come again after an attempt', async () => {
    const clock = new ManualClock(NOW);
    const { made, room, taken } = performer();
    const engine = engineOver(store.database, { clock, performer: made });
    const spawn = live(true);
    await engine.spawn('email', spawn);
    const outcome = { recipient: 0, outcome: 'deferred', data: {} };
    for (const event of [
      { type: 'attempt.begun', at: NOW, attempt: 1 },
      { type: 'attempt.completed', at: NOW, attempt: 1, outcomes: [outcome] },
    ])
      await engine.tell('email', spawn.id, event as EmailEvent);
    taken();
    engine.start();
    clock.time += 60_000;
    Object.assign(room, { all: 0, bulk: 10 });
    // The instance that was there at its time has the order first, and it is claimed once that was not begun.
    await eventually('it is claimed apart', async () => {
      await engine.wakeDue();
      clock.time += AGAIN_MS;
      return taken().some(({ id, isBulk }) => id === spawn.id && isBulk) || undefined;
    });
    expect(await countOf(store.database, 'email_due where is_bulk and id = $1', [spawn.id])).toBe(1);
    await engine.stop();
  });

  test('are left to a claim, where they are for another instance', async () => {
    const clock = new ManualClock(NOW);
    const [giving, claiming] = [performer(), performer()];
    const first = engineOver(store.database, { clock, performer: giving.made });
    const second = engineOver(store.database, { clock, performer: claiming.made });
    const [here, left] = [live(true), live(true, { isLeft: true })];
    await first.spawn('email', here);
    await first.spawn('email', left);
    expect(giving.taken().map(({ id }) => id)).toEqual([here.id]);
    claiming.room.bulk = 10;
    second.start();
    await second.wakeDue();
    // An email that was left is due at once, and one that is carried out there is not.
    const claimed = claiming.taken().map(({ id }) => id);
    expect([claimed.includes(left.id), claimed.includes(here.id)]).toEqual([true, false]);
    expect(await countOf(store.database, 'email_due where is_bulk and id = $1', [left.id])).toBe(1);
    await Promise.all([first.stop(), second.stop()]);
  });
});
