import { expect, test } from 'bun:test';
import type { RunningKind } from '../../../src/engine/runtime/running-kind.ts';
import { wakeablesOf } from '../../../src/engine/runtime/timers/waking.ts';

// A performer of campaigns holds thousands of orders that have not begun: due actors are woken beside them.

function roomsOf(offers: object | undefined): readonly number[] {
  const rooms = { room: 8_000, roomForDue: -5_000, roomForOffers: 20, roomForBulk: 10 };
  const running = {
    performing: {},
    kind: { offers },
    share: { wakes: true, offers: true },
    store: {},
    ...rooms,
  };
  return wakeablesOf(running as unknown as RunningKind, {} as never).map(({ room }) => room());
}

test('timers of a kind that offers itself fire while its orders wait for their turn', () => {
  expect(roomsOf({ where: 'a', bulk: 'b' })).toEqual([8_000, 20, 10]);
});

test('of a kind that orders at once, as many are woken as can begin in time', () => {
  expect(roomsOf(undefined)).toEqual([-5_000]);
});
