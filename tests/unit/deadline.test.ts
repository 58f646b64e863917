import { expect, test } from 'bun:test';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { withDeadline } from '../../src/platform/async/deadline.ts';

/** Keeps the thread busy until then: to timers and sockets that is a process that was stopped. */
function standStillUntil(monotonic: number): void {
  while (performance.now() < monotonic);
}

test('an answer that waits in its socket is read before a deadline that has passed meanwhile', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const client = connect(port, '127.0.0.1');
  const [[remote]] = await Promise.all([once(server, 'connection'), once(client, 'connect')]);
  const deadlineMs = 50;
  const started = performance.now();
  const outcome = withDeadline(
    { signal: new AbortController().signal, deadlineMs },
    (signal) =>
      new Promise<string>((resolve) => {
        client.once('data', (answer) => resolve(answer.toString()));
        signal.addEventListener('abort', () => resolve('gave up'), { once: true });
      }),
  );
  (remote as typeof client).write('250 taken');
  standStillUntil(started + 2 * deadlineMs);
  expect(await outcome).toBe('250 taken');
  client.destroy();
  server.close();
});

test('a deadline ends work that nothing answers, and an abort of the caller ends it at once', async () => {
  const untilAborted = (signal: AbortSignal) =>
    new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('ended')));
  const caller = new AbortController();
  expect(await withDeadline({ signal: caller.signal, deadlineMs: 1 }, untilAborted)).toBe('ended');
  const hours = withDeadline({ signal: caller.signal, deadlineMs: 3_600_000 }, untilAborted);
  caller.abort();
  expect(await hours).toBe('ended');
  expect(await withDeadline({ signal: caller.signal, deadlineMs: 1 }, async (signal) => signal.aborted)).toBe(
    true,
  );
});
