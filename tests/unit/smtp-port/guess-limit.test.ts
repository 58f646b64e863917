import { describe, expect, test } from 'bun:test';
import { GuessLimit, type GuessLimits } from '../../../src/mail/inbound/port/guess-limit.ts';

/** A limit whose time the test moves. Late answers wait until `answer` lets the first one go. */
function limitAt(limits: Partial<GuessLimits> = {}) {
  const clock = { ms: 0 };
  const late: { ms: number; go: () => void }[] = [];
  const limit = new GuessLimit(limits, {
    monotonic: () => clock.ms,
    wait: (ms, signal) =>
      new Promise<void>((go, fail) => {
        late.push({ ms, go });
        signal?.addEventListener('abort', fail);
      }),
  });
  /** The end of one unknown recipient: at once, late, or that of the connection. */
  const name = async (client = '192.0.2.7'): Promise<'at once' | 'late' | 'ended'> => {
    const before = late.length;
    const answer = limit.unknown(client);
    if (late.length === before) return (await answer) ? 'at once' : 'ended';
    late.at(-1)?.go();
    return (await answer) ? 'late' : 'ended';
  };
  const names = async (count: number, client?: string): Promise<string[]> => {
    const ends: string[] = [];
    for (let number = 0; number < count; number++) ends.push(await name(client));
    return ends;
  };
  return { clock, late, limit, name, names };
}

describe('unknown recipients of one client within ten minutes', () => {
  test('are answered at once up to 20, late by five seconds up to 100, and then end the connection', async () => {
    const { late, limit, name, names } = limitAt();
    expect(new Set(await names(20))).toEqual(new Set(['at once']));
    expect(new Set(await names(80))).toEqual(new Set(['late']));
    expect(late.map(({ ms }) => ms)).toEqual(Array.from({ length: 80 }, () => 5_000));
    expect(limit.isOver('192.0.2.7')).toBe(false);
    expect(await name()).toBe('ended');
    expect(limit.isOver('192.0.2.7')).toBe(true);
    expect([limit.isOver('192.0.2.8'), await name('192.0.2.8')]).toEqual([false, 'at once']);
  });

  test('are forgotten when the ten minutes since the first are over', async () => {
    const { clock, limit, name, names } = limitAt();
    await names(101);
    clock.ms = 599_999;
    expect([limit.isOver('192.0.2.7'), await name()]).toEqual([true, 'ended']);
    clock.ms = 600_000;
    expect([limit.isOver('192.0.2.7'), await name()]).toEqual([false, 'at once']);
  });

  test('count for the whole network of an IPv6 client, and IPv4 inside IPv6 as IPv4', async () => {
    const { name, names } = limitAt();
    await names(20, '2001:db8:1:2::1');
    expect(await name('2001:db8:1:2:ffff::9')).toBe('late');
    expect(await name('2001:db8:1:3::1')).toBe('at once');
    await names(20, '192.0.2.9');
    expect(await name('::ffff:192.0.2.9')).toBe('late');
  });

  test('come off by the routes that stored a message, up to ten of one, and never in advance', async () => {
    const { limit, name, names } = limitAt();
    for (let number = 0; number < 9; number++) limit.stored('192.0.2.7', 10);
    expect(new Set(await names(20))).toEqual(new Set(['at once']));
    expect(await name()).toBe('late');
    limit.stored('192.0.2.7', 1);
    expect(await name()).toBe('late');
    limit.stored('192.0.2.7', 50);
    expect(new Set(await names(9))).toEqual(new Set(['at once']));
    expect(await name()).toBe('late');
  });

  test('do not put the known recipients of a client off that has brought mail within the day, up to 1,000', async () => {
    const { clock, limit, name, names } = limitAt();
    limit.stored('192.0.2.7', 1);
    await names(1_000);
    expect([limit.isOver('192.0.2.7'), await name(), limit.isOver('192.0.2.7')]).toEqual([
      false,
      'ended',
      true,
    ]);
    clock.ms = 86_400_000 - 1;
    await names(101);
    expect(limit.isOver('192.0.2.7')).toBe(false);
    clock.ms = 86_400_000;
    expect(limit.isOver('192.0.2.7')).toBe(true);
  });
});

describe('late answers', () => {
  test('of a client that goes are given up, and their places with them', async () => {
    const { limit, name } = limitAt({ free: 0, held: { total: 1, each: 1 } });
    const end = new AbortController();
    const waiting = limit.unknown('192.0.2.7', end.signal);
    expect(await name('192.0.2.8')).toBe('ended');
    end.abort();
    expect(await waiting).toBe(false);
    expect(await name('192.0.2.8')).toBe('late');
  });

  test('are under way five at once for one client and forty in all; the next connection ends', async () => {
    const { late, limit, names } = limitAt();
    const clients = Array.from({ length: 9 }, (_, index) => `192.0.2.${index}`);
    for (const client of clients) await names(20, client);
    const waiting: Promise<boolean>[] = [];
    for (const client of clients.slice(0, 8)) {
      for (let number = 0; number < 5; number++) waiting.push(limit.unknown(client));
      expect(await limit.unknown(client)).toBe(false);
    }
    expect(late).toHaveLength(40);
    expect(await limit.unknown('192.0.2.8')).toBe(false);
    for (const { go } of late) go();
    expect(await Promise.all(waiting)).toEqual(Array.from({ length: 40 }, () => true));
    const next = limit.unknown('192.0.2.8');
    late.at(-1)?.go();
    expect(await next).toBe(true);
  });
});

test('at most so many clients are remembered; the one whose time ends first is forgotten', async () => {
  const { name, names, clock } = limitAt({ clients: 2 });
  await names(20, '192.0.2.1');
  clock.ms += 1;
  await names(20, '192.0.2.2');
  expect(await name('192.0.2.2')).toBe('late');
  clock.ms += 1;
  expect(await name('192.0.2.3')).toBe('at once');
  expect([await name('192.0.2.2'), await name('192.0.2.1')]).toEqual(['late', 'at once']);
});
