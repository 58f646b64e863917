import { expect, test } from 'bun:test';
import { mintApiKey } from '../../../src/http/auth/api-key.ts';
import { KeyAuthenticator } from '../../../src/http/auth/key-authenticator.ts';
import type { Database } from '../../../src/platform/db/database.ts';

/** A database of which every key that is asked for is an active one. */
const everyKey = {
  query: async (_: string, [hashes]: readonly (readonly string[])[]) =>
    hashes?.map((hash) => ({
      hash,
      id: `key_${hash}`,
      workspace_id: 'ws_1',
      livemode: false,
      plan: 'free',
      terms: hash,
      context: { permissions: ['*'] },
      default_from: null,
      default_reply_to: null,
      last_used_at: null,
    })),
} as unknown as Database;

const clock = { time: 0, now: () => 0, monotonic: () => clock.time };

test('a key is remembered for a minute, counted from its look-up', async () => {
  const authenticator = new KeyAuthenticator(everyKey, clock);
  const key = mintApiKey(false);
  expect(authenticator.remembered(key)).toBeNull();
  await authenticator.authenticate(key);
  clock.time = 59_999;
  expect(authenticator.remembered(key)?.recollection?.isConfirmed).toBe(false);
  clock.time = 60_000;
  expect(authenticator.remembered(key)).toBeNull();
});

test('of two thousand keys the one that was looked up longest ago is forgotten first', async () => {
  const authenticator = new KeyAuthenticator(everyKey, clock);
  const keys = Array.from({ length: 2_001 }, () => mintApiKey(false));
  const [first = '', second = '', ...others] = keys;
  for (const key of [first, second]) await authenticator.authenticate(key);
  await Promise.all(others.slice(0, 1_998).map(authenticator.authenticate));
  expect(authenticator.remembered(first)).not.toBeNull();
  // Looked up again it is the newest of them.
  await authenticator.authenticate(first);
  await authenticator.authenticate(others[1_998] as string);
  expect(keys.map((key) => authenticator.remembered(key) === null)).toEqual(
    keys.map((key) => key === second),
  );
});

test('where no commit can judge it nothing is remembered', async () => {
  const authenticator = new KeyAuthenticator(everyKey, clock, false);
  const key = mintApiKey(false);
  expect((await authenticator.authenticate(key))?.id).toStartWith('key_');
  expect(authenticator.remembered(key)).toBeNull();
});
