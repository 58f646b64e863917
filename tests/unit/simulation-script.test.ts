import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { LONGEST_SCRIPT, MOST_OUTCOMES, readScript } from '../../src/sending/emails/simulator/read-script.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

const accepted = (...reports: readonly (readonly [afterMs: number, ...what: string[]])[]) => ({
  deferrals: 0,
  outcome: 'accepted',
  reports: reports.map(([afterMs, ...what]) => ({ afterMs, what })),
});

test('a script says what attempts come to, and what is reported afterwards', () => {
  const read: Readonly<Record<string, object>> = {
    'deferred*2, delivered, opened+5m, bounced+3d': {
      ...accepted([0, 'delivered'], [5 * MINUTE, 'opened'], [3 * DAY, 'bounced']),
      deferrals: 2,
    },
    delivered: accepted([0, 'delivered']),
    sent: accepted(),
    'sent,delivered+90s': accepted([90_000, 'delivered']),
    bounced: { deferrals: 0, outcome: 'refused', reports: [] },
    'deferred, deferred*2, suppressed': { deferrals: 3, outcome: 'suppressed', reports: [] },
    expired: { deferrals: 0, outcome: 'deferred', reports: [] },
    // The message was taken, and came back three days later.
    'bounced+3d': accepted([3 * DAY, 'bounced']),
    'bounced-transient+1h, delivered+1h': accepted(
      [60 * MINUTE, 'bounced-transient'],
      [60 * MINUTE, 'delivered'],
    ),
    'delivered, opened*2+5m, clicked*2': accepted(
      [0, 'delivered'],
      [5 * MINUTE, 'opened'],
      [5 * MINUTE, 'opened', 'clicked', 'clicked'],
    ),
    // A recipient who opens it has got it.
    'opened+5m': accepted([0, 'delivered'], [5 * MINUTE, 'opened']),
    'sent, complained': accepted([0, 'delivered', 'complained']),
  };
  for (const [script, expected] of Object.entries(read))
    expect([script, readScript(script)]).toEqual([script, expected as never]);
});

test('what is no script is refused with a sentence that says what one is', () => {
  const refused: Readonly<Record<string, RegExp>> = {
    '': /Must be outcomes/,
    ',': /Must be outcomes/,
    'delivered,': /Must be outcomes/,
    'delivered opened': /Must be outcomes/,
    DELIVERED: /Must be outcomes/,
    'opened+5': /Must be outcomes/,
    'opened-5m': /Must be outcomes/,
    'opened+5m*2': /Must be outcomes/,
    'opened+5w': /Must be outcomes/,
    'opened*1.5': /Must be outcomes/,
    constructor: /none of them/,
    'delivered*0': /at least once/,
    deferred: /after the last `deferred`/,
    'deferred+5m, delivered': /no delay/,
    'expired+3d': /no delay/,
    'sent+1m': /no delay/,
    'sent*2': /taken once/,
    'bounced, opened': /nothing follows/,
    'bounced*2': /nothing follows/,
    'delivered, bounced*2+1d': /nothing follows/,
    'bounced+1d, opened': /nothing follows/,
    'expired, delivered': /nothing follows/,
    'delivered, deferred': /before anything/,
    'delivered, sent': /before anything/,
    'delivered, expired': /before anything/,
    'delivered, delivered': /once/,
    'complained*2': /once/,
    'bounced-transient*2': /twice in a row/,
    'delivered, opened+31d': /30 days/,
    'delivered, opened*40+1d': /30 days/,
  };
  for (const [script, sentence] of Object.entries(refused)) {
    const read = readScript(script);
    expect([script, 'problem' in read ? read.problem : read]).toEqual([
      script,
      expect.stringMatching(sentence),
    ]);
  }
});

test('the most of a script is allowed, and one more is not', () => {
  const isRead = (script: string): boolean => !('problem' in readScript(script));
  expect(isRead(`delivered, opened*${MOST_OUTCOMES - 1}`)).toBe(true);
  expect(isRead(`delivered, opened*${MOST_OUTCOMES}`)).toBe(false);
  expect(isRead('delivered, opened*9999')).toBe(false);
  expect(isRead('delivered, opened*30+1d')).toBe(true);
  expect(isRead('delivered, opened*30+1d, clicked+1s')).toBe(false);
  const padded = 'delivered'.padEnd(LONGEST_SCRIPT);
  expect([isRead(padded), isRead(`${padded} `)]).toEqual([true, false]);
});

test('whatever text comes, it is a script within its bounds or a sentence', () => {
  const word = fc.constantFrom(
    'deferred',
    'sent',
    'delivered',
    'opened',
    'bounced',
    'expired',
    'clicked',
    '*',
    '+',
  );
  const part = fc.tuple(word, fc.constantFrom('', '*2', '*50', '+5m', '+9999999d', '*3+1h'));
  const text = fc.oneof(
    fc.string(),
    fc.array(part, { maxLength: 8 }).map((parts) => parts.map((each) => each.join('')).join(',')),
  );
  fc.assert(
    fc.property(text, (script) => {
      const read = readScript(script);
      if ('problem' in read) return read.problem.length > 20;
      const outcomes = read.reports.flatMap(({ what }) => what).length + read.deferrals;
      const span = read.reports.reduce((sum, { afterMs }) => sum + afterMs, 0);
      return outcomes <= MOST_OUTCOMES + 1 && span <= 30 * DAY;
    }),
    { numRuns: 2_000 },
  );
});
