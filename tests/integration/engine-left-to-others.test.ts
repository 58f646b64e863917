import { afterAll, beforeAll, expect, test } from 'bun:test';
import pino from 'pino';
import { Engine } from '../../src/engine/engine.ts';
import { shareOf } from '../../src/engine/machine/share.ts';
import type { Roles } from '../../src/platform/config/roles.ts';
import { emails } from '../../src/sending/emails/kind.ts';
import { emailSpawn, idle, ManualClock, plainInput, postgresStore, type Store } from '../support/engine.ts';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');

let store: Store;
beforeAll(async () => {
  store = await postgresStore();
});
afterAll(() => store[Symbol.asyncDispose]());

/** The number of times that an instance with these roles tells others of the email that it accepts. */
async function told(
  roles: Roles,
  inMs: number,
  { isLeft = false, isStopping = false }: { readonly isLeft?: boolean; readonly isStopping?: boolean } = {},
): Promise<number> {
  let times = 0;
  const registration = emails(idle);
  const engine = new Engine({
    database: store.database,
    clock: new ManualClock(NOW),
    shards: null,
    logger: pino({ level: 'silent' }),
    kinds: [{ ...registration, share: shareOf(roles, 'engine', registration.kind) }],
    onLeftToOthers: () => times++,
  });
  const later = inMs > 0 ? { scheduledAt: NOW + inMs } : {};
  const input = plainInput(NOW, { livemode: true, leaseMs: 720_000, ...later });
  if (isStopping) await engine.stop();
  await engine.spawn('email', { ...emailSpawn(input), isLeft });
  await engine.stop();
  return times;
}

test('an instance tells others of what it accepts and cannot begin, if it is due before they look again', async () => {
  expect(await told(['http'], 0)).toBe(1);
  expect(await told(['http'], 59_000)).toBe(1);
  expect(await told(['http'], 3_600_000)).toBe(0);
  expect(await told(['engine'], 0)).toBe(1);
});

test('an instance with all roles tells others of nothing but what it leaves to them', async () => {
  expect(await told(['http', 'engine', 'delivery'], 0)).toBe(0);
  expect(await told(['http', 'engine', 'delivery'], 59_000)).toBe(0);
  expect(await told(['http', 'engine', 'delivery'], 0, { isLeft: true })).toBe(1);
});

test('an instance that stops tells others of what it still accepts and does not begin', async () => {
  expect(await told(['http', 'engine', 'delivery'], 0, { isStopping: true })).toBeGreaterThan(0);
});
