import { expect, test } from 'bun:test';
import { join } from 'node:path';

const ENTRY = new URL('../../src/mail/liquid/liquid-thread.ts', import.meta.url);

test('the thread of templates starts on a machine that is too busy for its first rendering', async () => {
  const preload = join(import.meta.dir, '../support/leaping-clock.ts');
  const thread = new Worker(ENTRY, { preload });
  const { promise, resolve } = Promise.withResolvers<unknown>();
  thread.onmessage = ({ data }) => resolve(data);
  thread.onerror = (event) => {
    event.preventDefault();
    resolve(event.message);
  };
  expect(await promise).toHaveProperty('ready');
  thread.terminate();
});
