import { expect, test } from 'bun:test';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import { LARGE, MessageTurns, readingMs } from '../../src/sending/mailboxes/message-turns.ts';
import { retried } from '../../src/sending/mailboxes/retried.ts';

const MIB = 1_048_576;
const ofWorkspace = (workspaceId: string, livemode = true) => ({ workspaceId, livemode });
const never = () => new Promise<string>(() => {});
const read = async () => 'read';

test('a large message at a slow server holds no small one', async () => {
  const turns = new MessageTurns();
  for (const name of ['a', 'b', 'c']) void turns.take(ofWorkspace(name), 32 * MIB, never);
  expect(await turns.take(ofWorkspace('d'), LARGE, read)).toBe('read');
  turns.close();
  expect(await turns.take(ofWorkspace('d'), 1, read)).toBeNull();
});

test('small messages of one environment at a slow server hold those of no other', async () => {
  const turns = new MessageTurns();
  for (let count = 0; count < 50; count++) void turns.take(ofWorkspace('a', false), LARGE, never);
  expect(await turns.take(ofWorkspace('a'), LARGE, read)).toBe('read');
  expect(await turns.take(ofWorkspace('b'), LARGE, read)).toBe('read');
  turns.close();
});

test('a server has more time for a larger message', () => {
  expect([readingMs(0), readingMs(8 * MIB)]).toEqual([10_000, 42_000]);
});

test('a message is tried again while something is unavailable for a moment', async () => {
  const { signal } = new AbortController();
  let tries = 0;
  const failing = (times: number, error: Error) => async () => {
    tries += 1;
    if (tries <= times) throw error;
    return tries;
  };
  const busy = new UnavailableError('busy');
  expect(await retried(failing(3, busy), signal, 0)).toBe(4);
  tries = 0;
  await expect(retried(failing(9, busy), signal, 0)).rejects.toBe(busy);
  expect(tries).toBe(4);
  tries = 0;
  const other = new Error('other');
  await expect(retried(failing(9, other), signal, 0)).rejects.toBe(other);
  expect(tries).toBe(1);
});
