import { describe, expect, test } from 'bun:test';
import { SiteLimits } from '../../../src/mail/transport/limits/site-limits.ts';
import { SilentEnds } from '../../../src/mail/transport/smtp/silent-ends.ts';

/**
 * A session that was opened at the beginning, or that long ago, ended after so many mails; one took a mail;
 * or time went by.
 */
type Step =
  | { readonly ended: number; readonly openedAgo?: number }
  | { readonly taken: true; readonly openedAgo?: number }
  | { readonly passMs: number };

const MOST = 1_000;
const BEGAN = 10_000;

/** The mails a session that are learned from the steps; `MOST` where nothing is. */
function learned(steps: readonly Step[]): number {
  let at = BEGAN + 1;
  const site = new SiteLimits({ now: () => at, monotonic: () => at });
  const ends = new SilentEnds(
    () => at,
    (mails) => site.sessionSpent(mails),
  );
  for (const step of steps) {
    if ('passMs' in step) at += step.passMs;
    else {
      const openedAt = step.openedAgo === undefined ? BEGAN : at - step.openedAgo;
      if ('ended' in step) ends.ended(step.ended, openedAt);
      else ends.outlivedBy({ openedAt });
    }
  }
  return site.mailsPerSession(MOST);
}

const ended = (mails: number, openedAgo?: number): Step => ({
  ended: mails,
  ...(openedAgo !== undefined && { openedAgo }),
});
const pass = (passMs: number): Step => ({ passMs });
const TAKEN: Step = { taken: true };
const TAKEN_OVER_A_NEW_ONE: Step = { taken: true, openedAgo: 0 };
const times = (count: number, step: Step): readonly Step[] => Array.from({ length: count }, () => step);

describe('sessions that a server closes without a word', () => {
  const CASES: readonly (readonly [string, readonly Step[], number])[] = [
    ['two at once: it is started again', times(2, ended(1)), MOST],
    ['twenty at once', times(20, ended(3)), MOST],
    ['two at once, then mail over new ones', [...times(2, ended(1)), pass(9), TAKEN_OVER_A_NEW_ONE], MOST],
    ['two, while another stays', [ended(7), TAKEN, ended(7), TAKEN], 7],
    ['two at once, while another stays', [ended(7), ended(7), TAKEN], 7],
    ['two of other numbers, while another stays', [ended(7), TAKEN, ended(5), TAKEN], MOST],
    ['twenty, and those that came after them', [...times(20, ended(3)), pass(40), ended(3, 30)], 3],
    [
      'twenty, and those that came after them, of another number',
      [...times(20, ended(3)), pass(40), ended(2, 30)],
      MOST,
    ],
    ['at two moments', [ended(4), pass(1_001), ended(4)], 4],
    ['within one moment', [ended(4), pass(1_000), ended(4)], MOST],
  ];
  for (const [name, steps, mails] of CASES) test(name, () => expect(learned(steps)).toBe(mails));

  test('of a server that is started again every minute nothing is learned, whatever its sessions have carried', () => {
    let state = 7;
    const random = (below: number) => {
      state = (state * 48_271) % 2_147_483_647;
      return state % below;
    };
    for (let run = 0; run < 300; run++) {
      const restart = () => {
        // Sessions of a pool have carried more and less.
        const carried = [1, 2 + random(9), ...Array.from({ length: random(10) }, () => 1 + random(6))];
        const all = carried.toSorted(() => random(3) - 1).map((mails) => ended(mails, 1 + random(30_000)));
        return [...all, pass(60_000), TAKEN_OVER_A_NEW_ONE];
      };
      expect(learned(Array.from({ length: 5 }, restart).flat())).toBe(MOST);
    }
  });
});
