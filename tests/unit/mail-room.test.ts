import { describe, expect, test } from 'bun:test';
import { MailRoom, SLOW } from '../../src/mail/submission/mail-room.ts';
import { messageMemory } from '../../src/platform/config/message-memory.ts';

const MIB = 1_048_576;
const LARGE = 20 * MIB;
const PLENTY = messageMemory(Number.POSITIVE_INFINITY).submitted;
/** The room of a service where memory is plentiful, and a clock. */
const opened = () => {
  const clock = { now: 0 };
  return { clock, room: new MailRoom(PLENTY, () => clock.now) };
};
/** Messages that have so many octets so far, and whether each lost its memory. */
const arrive = (room: MailRoom, workspaceId: string, count: number, octets: number) =>
  Array.from({ length: count }, () => {
    const place = room.arriving(workspaceId);
    const message = { place, isHeld: place.hold(octets), isLost: false };
    place.onLost(() => {
      message.isLost = true;
    });
    return message;
  });

describe('the room of large messages', () => {
  test('is not held for an hour by two workspaces whose messages come octet by octet', () => {
    const { clock, room } = opened();
    const slow = [...arrive(room, 'ws_1', 6, LARGE), ...arrive(room, 'ws_2', 6, LARGE)];
    const rest = arrive(room, 'ws_3', 1, 16 * MIB);
    expect([...slow, ...rest].every(({ isHeld }) => isHeld)).toBe(true);
    for (const { place } of slow) {
      clock.now += 10;
      place.hold(LARGE + 1);
    }
    clock.now = SLOW.ms - 1;
    expect([room.hasRoom('ws_4', LARGE), room.arriving('ws_4').hold(LARGE)]).toEqual([false, false]);
    clock.now = SLOW.ms;
    for (const place of [room.arriving('ws_4'), room.arriving('ws_5')]) {
      expect(room.hasRoom('ws_4', LARGE)).toBe(true);
      expect(place.hold(LARGE)).toBe(true);
    }
    // The slowest ones have lost theirs, no more of them than are needed.
    expect(slow.map(({ isLost }) => isLost).filter(Boolean)).toHaveLength(2);
    expect(slow.slice(0, 2).every(({ isLost }) => isLost)).toBe(true);
    expect(rest[0]?.isLost).toBe(false);
    expect(slow[0]?.place.hold(LARGE + 2)).toBe(false);
  });

  test('keeps a message that goes on arriving, or has arrived, while it is full', () => {
    const { clock, room } = opened();
    const [whole, steady, slow] = ['ws_1', 'ws_2', 'ws_3'].map((id) => arrive(room, id, 1, 80 * MIB)[0]);
    expect(arrive(room, 'ws_4', 1, 14 * MIB)[0]?.isHeld).toBe(true);
    whole?.place.keep();
    clock.now = SLOW.ms;
    expect(steady?.place.hold(81 * MIB)).toBe(true);
    expect(slow?.place.hold(81 * MIB - 1)).toBe(true);
    expect(room.hasRoom('ws_5', 80 * MIB)).toBe(true);
    expect(room.hasRoom('ws_5', 120 * MIB)).toBe(false);
    expect(arrive(room, 'ws_5', 1, 80 * MIB)[0]?.isHeld).toBe(true);
    expect([whole, steady, slow].map((one) => one?.isLost)).toEqual([false, false, true]);
  });

  test('gives a slow message nothing of another, and no workspace more than its share', () => {
    const { clock, room } = opened();
    const [first, second] = ['ws_1', 'ws_2'].map((id) => arrive(room, id, 1, 128 * MIB)[0]);
    const asking = room.arriving('ws_3');
    clock.now = SLOW.ms;
    expect(asking.hold(MIB)).toBe(false);
    expect([first?.isLost, second?.isLost]).toEqual([false, false]);
    expect([room.hasRoom('ws_1', MIB), room.hasRoom('ws_3', MIB)]).toEqual([false, true]);
  });
});
