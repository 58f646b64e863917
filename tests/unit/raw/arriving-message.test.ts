import { expect, test } from 'bun:test';
import { NO_ROOM } from '../../../src/http/body/read-body.ts';
import { MailRoom, SLOW } from '../../../src/mail/submission/mail-room.ts';
import { ArrivedMessage, takeMessage } from '../../../src/sending/emails/raw/arriving-message.ts';

const MIB = 1_048_576;
const TOTAL = 10 * MIB;

function opened() {
  const clock = { now: 0 };
  const room = new MailRoom({ total: TOTAL, each: TOTAL }, () => clock.now);
  return { clock, room, isEmpty: () => room.hasRoom('ws_any', TOTAL) };
}

async function* pieces(count: number, between: (at: number) => void = () => {}) {
  for (let at = 0; at < count; at++) {
    between(at);
    yield new Uint8Array(MIB).fill(at);
  }
}

test('a raw message keeps its memory until it is released, and is whole', async () => {
  const { room, isEmpty } = opened();
  const message = await takeMessage(pieces(3), room, 'ws_1');
  if (!(message instanceof ArrivedMessage)) throw message;
  expect(message.octets.length).toBe(3 * MIB);
  expect([message.octets[0], message.octets[MIB], message.octets.at(-1)]).toEqual([0, 1, 2]);
  expect(isEmpty()).toBe(false);
  await message.release();
  expect(isEmpty()).toBe(true);
});

test('a raw message for which there is no room is refused as soon as that is known, and holds nothing', async () => {
  const { room, isEmpty } = opened();
  let came = 0;
  expect(
    await takeMessage(
      pieces(30, () => came++),
      room,
      'ws_1',
    ),
  ).toBe(NO_ROOM);
  expect(came).toBe(11);
  expect(isEmpty()).toBe(true);
});

test('a raw message that comes slowly gives its place to another, and its client is refused', async () => {
  const { clock, room, isEmpty } = opened();
  let other: ReturnType<MailRoom['arriving']> | undefined;
  const slowly = pieces(8, (at) => {
    if (at !== 7) return;
    clock.now = SLOW.ms;
    other = room.arriving('ws_2');
    expect(other.hold(5 * MIB)).toBe(true);
  });
  expect(await takeMessage(slowly, room, 'ws_1')).toBe(NO_ROOM);
  other?.release();
  expect(isEmpty()).toBe(true);
});

test('a raw message that breaks off holds nothing', async () => {
  const { room, isEmpty } = opened();
  const broken = pieces(8, (at) => {
    if (at === 4) throw new Error('It broke off.');
  });
  expect(await takeMessage(broken, room, 'ws_1').catch(({ message }: Error) => message)).toBe(
    'It broke off.',
  );
  expect(isEmpty()).toBe(true);
});
