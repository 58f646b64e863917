import { expect, test } from 'bun:test';
import { SharedSessions } from '../../../src/mail/transport/shared-sessions.ts';

const signal = new AbortController().signal;
const refused = () => new Error('refused');

/** Sessions, each of whose messages goes on until the test ends it. */
function world(count: number) {
  const sessions = new SharedSessions(count);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const send = (name: string, isBulk: boolean): Promise<void> =>
    sessions.run(
      () => {
        begun.push(name);
        return new Promise((resolve) => ends.set(name, resolve));
      },
      isBulk,
      signal,
      refused,
    );
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return { sessions, begun, ends, send, settled };
}

test('campaigns leave a tenth of the sessions to other mail', async () => {
  const { begun, send, settled } = world(20);
  for (let n = 0; n < 30; n++) void send(`bulk ${n}`, true);
  await settled();
  expect(begun).toHaveLength(18);
  for (let n = 0; n < 2; n++) void send(`other ${n}`, false);
  await settled();
  expect(begun.slice(18)).toEqual(['other 0', 'other 1']);
});

test('other mail has the next session that becomes free, however many of a campaign came before it', async () => {
  const { begun, ends, send, settled } = world(2);
  void send('bulk 0', true);
  await settled();
  void send('other 0', false);
  for (let n = 1; n < 10; n++) void send(`bulk ${n}`, true);
  void send('other 1', false);
  await settled();
  expect(begun).toEqual(['bulk 0', 'other 0']);
  ends.get('bulk 0')?.();
  await settled();
  expect(begun.slice(2)).toEqual(['other 1']);
});

test('of a single session campaigns have their share', async () => {
  const { sessions, begun, ends, send, settled } = world(1);
  const only = send('bulk 0', true);
  await settled();
  expect([begun, sessions.idle]).toEqual([['bulk 0'], false]);
  ends.get('bulk 0')?.();
  await only;
  await sessions.drained();
  expect(sessions.idle).toBeTrue();
});
