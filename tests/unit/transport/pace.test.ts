import { afterEach, beforeEach, describe, expect, jest, test } from 'bun:test';
import { HOLDS } from '../../../src/mail/transport/limits/learned.ts';
import { LEAST_PER_MINUTE } from '../../../src/mail/transport/limits/pace.ts';
import { SiteLimits } from '../../../src/mail/transport/limits/site-limits.ts';

let at = 0;
beforeEach(() => {
  at = 10_000_000;
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const STEP_MS = 25;
const NEVER = new AbortController().signal;
const clocks = { now: () => at, monotonic: () => at };

/** Lets time pass for the timers and for the clock, until `is` holds. */
async function pass(ms: number, is: () => boolean = () => false): Promise<void> {
  for (const until = at + ms; at < until && !is(); ) {
    at += STEP_MS;
    jest.advanceTimersByTime(STEP_MS);
    for (let turns = 0; turns < 20; turns += 1) await Promise.resolve();
  }
}

/** A server that takes so many mails in each window, which begins with the first mail in it. */
class Server {
  readonly site = new SiteLimits(clocks);
  #windowEnds = 0;
  #inWindow = 0;
  taken = 0;
  refused = 0;

  constructor(
    public most: number,
    public windowMs: number,
  ) {}

  takes(): boolean {
    if (at >= this.#windowEnds) {
      this.#windowEnds = at + this.windowMs;
      this.#inWindow = 0;
    }
    if (this.#inWindow >= this.most) return false;
    this.#inWindow += 1;
    return true;
  }

  /** Sends one mail, which is tried until it was taken. */
  async send(): Promise<void> {
    for (;;) {
      this.site.mayGoFaster();
      if (!(await this.site.pace.turn(NEVER))) throw new Error('The mail was given up.');
      if (this.takes()) break;
      this.refused += 1;
      this.site.pace.refused();
    }
    this.taken += 1;
    this.site.pace.accepted();
  }

  /** Sends so many over twenty sessions; answers the milliseconds that it took. */
  async burst(mails: number): Promise<number> {
    const [before, since] = [this.taken, at];
    let left = mails;
    const session = async () => {
      while (left-- > 0) await this.send();
    };
    for (let each = 0; each < 20; each++) void session();
    await pass(3_600_000, () => this.taken - before === mails);
    return at - since;
  }
}

describe('few mails teach no rate', () => {
  test('one that left a while ago and one that is refused are no rate of one a minute', async () => {
    const server = new Server(1, 1_000);
    await server.burst(1);
    await pass(40_000);
    expect(await server.burst(2)).toBeLessThan(2_000);
    expect([server.refused > 0, server.site.record]).toEqual([true, {}]);
    await pass(20_000);
    // Nothing is held back afterwards.
    expect(await server.burst(1)).toBe(STEP_MS);
  });

  test('whatever comes in pauses: one to nine at a time, seconds to minutes apart', async () => {
    let seed = 11;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    for (let run = 0; run < 12; run++) {
      const server = new Server(1 + random(3), 1_000);
      for (let each = 0; each < 12; each++) {
        const mails = 1 + random(9);
        // Each window of a second takes one at least; a rest may go past the beginning of the next.
        expect(await server.burst(mails)).toBeLessThan(mails * 2_000 + 2_000);
        await pass(2_500 + random(90_000));
      }
      expect(server.site.record).toEqual({});
    }
  });
});

describe('a burst over twenty sessions is taken nearly as fast as the server allows, and the rate is learned', () => {
  for (const [most, windowMs, mails] of [
    [1, 1_000, 100],
    [2, 1_000, 200],
    [5, 1_000, 300],
    [15, 1_000, 500],
    [30, 10_000, 300],
    [60, 60_000, 240],
    [200, 60_000, 900],
  ] as const)
    test(`${most} in ${windowMs / 1_000} s`, async () => {
      const server = new Server(most, windowMs);
      const tookMs = await server.burst(mails);
      const atBest = (mails / most - 1) * windowMs;
      expect(tookMs).toBeLessThan(2 * atBest + 10_000);
      const truth = (most * 60_000) / windowMs;
      const found = server.site.known.mailsPerMinute?.value ?? 0;
      expect(found).toBeGreaterThanOrEqual(Math.max(LEAST_PER_MINUTE, truth / 3));
      expect(found).toBeLessThanOrEqual(2 * truth);
      expect(server.refused).toBeLessThan(mails / 2);
    });
});

test('no rate below the least one is kept to, however long the server rests', async () => {
  const server = new Server(12, 120_000);
  await server.burst(12);
  await server.burst(3);
  expect(server.site.known.mailsPerMinute?.value).toBe(LEAST_PER_MINUTE);
});

describe('the time until more is tried', () => {
  const { firstMs } = HOLDS.mailsPerMinute;
  const learned = (value: number, isTrial: boolean) => {
    const server = new Server(1, 1_000);
    const trial = isTrial ? ({ isTrial: true } as const) : {};
    server.site.adopt({ mailsPerMinute: { value, at, holdMs: firstMs, ...trial } });
    return server;
  };

  test('doubles when more was tried in vain, and the rate is what it was before', async () => {
    const server = learned(60, false);
    await pass(firstMs);
    await server.burst(40);
    expect(server.site.known.mailsPerMinute).toMatchObject({ holdMs: 2 * firstMs });
    const { value = 0, isTrial } = server.site.known.mailsPerMinute ?? {};
    expect([value >= 60, isTrial]).toEqual([true, undefined]);
  });

  test('stays as it is when a rate that is kept to is refused, again and again', async () => {
    const server = learned(600, false);
    await server.burst(40);
    expect(server.site.known.mailsPerMinute).toMatchObject({ holdMs: firstMs });
    expect(server.site.known.mailsPerMinute?.value).toBeLessThan(600);
  });

  test('a trial that a few mails end leads back to the rate before it, also for who adopted it', async () => {
    const server = learned(120, true);
    await server.burst(3);
    expect(server.refused).toBeGreaterThan(0);
    expect(server.site.known.mailsPerMinute).toMatchObject({ value: 60, holdMs: 2 * firstMs });
  });
});

describe('a server that refuses for long', () => {
  test('is given up on after two windows and a half, and is asked again once mail comes after a pause', async () => {
    const server = new Server(5, 1_000);
    await server.burst(5);
    server.most = 0;
    const ends: boolean[] = [];
    const wait = async () => {
      while (await server.site.pace.turn(NEVER)) {
        server.refused += 1;
        server.site.pace.refused();
      }
      ends.push(true);
    };
    for (let each = 0; each < 8; each++) void wait();
    await pass(149_000);
    expect([ends, server.refused < 40, server.site.pace.isHopeful]).toEqual([[], true, true]);
    await pass(60_000);
    expect([ends.length, server.site.pace.isHopeful]).toEqual([8, false]);
    server.most = 5;
    await pass(120_000);
    expect(await server.burst(5)).toBe(STEP_MS);
    expect(server.site.record).toEqual({});
  });
});
