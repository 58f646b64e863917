import { expect, test } from 'bun:test';
import { LARGEST_FILE } from '../../src/audience/contacts/imports/model.ts';
import { messageMemory } from '../../src/platform/config/message-memory.ts';

const MIB = 1_048_576;
/** The shares of a memory, in MiB. */
const sharesOf = (memory: number) =>
  Object.fromEntries(
    Object.entries(messageMemory(memory * MIB)).map(([name, { total, each }]) => [
      name,
      [total, each].map((octets) => Math.floor(octets / MIB)),
    ]),
  );

test('a machine with plenty has as much as is useful', () => {
  const most = { requests: [512, 256], submitted: [256, 128], received: [256, 128], sent: [256, 128] };
  expect(sharesOf(24_000)).toEqual(most);
  // All of them full, beside an idle service, take so much.
  expect(sharesOf(256 + 4 * 1_280)).toEqual(most);
});

test('a machine of 2 GiB has what fits in it, all shares full at once', () => {
  const shares = messageMemory(2_048 * MIB);
  const all = Object.values(shares).reduce((sum, { total }) => sum + total, 0);
  expect(256 * MIB + 4 * all).toBeLessThanOrEqual(2_048 * MIB);
  expect(sharesOf(2_048).requests).toEqual([179, 89]);
});

test('the smallest machine takes the largest body and the largest message, one at a time', () => {
  expect(messageMemory(0).requests.each).toBe(LARGEST_FILE);
  for (const memory of [64, 256, 512])
    expect(sharesOf(memory)).toEqual({
      requests: [50, 50],
      submitted: [32, 32],
      received: [32, 32],
      sent: [32, 32],
    });
});
