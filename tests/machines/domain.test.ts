import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { StateValueFrom } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import type { DomainContext, DomainEvent, DomainInput, Verdict } from '../../machines/domain/context.ts';
import { domainMachine } from '../../machines/domain/machine.ts';
import {
  CHECK_LEASE_MS,
  OUTAGE_GRACE_MS,
  PATIENCE_MS,
  REFUTED_GRACE_MS,
} from '../../machines/domain/rules.ts';
import { LoneActor } from '../support/lone-actor.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const BORN = Date.parse('2026-11-20T12:00:00.000Z');

const input: DomainInput = {
  at: BORN,
  exempt: false,
  records: [],
  openTracking: false,
  clickTracking: false,
};
const added = (more: Partial<DomainInput> = {}) =>
  new LoneActor<DomainContext>(domainMachine, { ...input, ...more }, BORN);

const request = (at: number) => ({ type: 'check.requested', at }) as const;
const removal = (at: number) => ({ type: 'remove.requested', at }) as const;
const settings = (at: number, more: object) => ({ type: 'settings.changed', at, ...more }) as const;
const outcome = (at: number, attempt: number, verdict: Verdict, more: { readonly switchTo?: string } = {}) =>
  ({ type: 'check.completed', at, attempt, verdict, records: [], ...more }) as const;
const KEYS = { selector: 's', rsaValue: 'r', ed25519Value: 'e', sealedRsa: 'R', sealedEd25519: 'E' };
const rotation = (at: number) => ({ type: 'rotation.requested', at, keys: KEYS }) as const;
const recheck = (state: string, at: number) => ({ type: `xstate.after.recheck.domain.${state}`, at });

const VERDICTS = ['verified', 'missing', 'wrong', 'unanswered'] as const satisfies readonly Verdict[];
type State = StateValueFrom<typeof domainMachine>;

/** Waits between two events that make a difference somewhere. */
const WAITS = [1_000, REFUTED_GRACE_MS, OUTAGE_GRACE_MS, PATIENCE_MS];

/** All that a domain in any state could be told, by name. */
const everyEvent = ({ at, attempt }: DomainContext): Record<string, DomainEvent> => ({
  ...Object.fromEntries(
    WAITS.flatMap((wait) =>
      VERDICTS.map((verdict) => [`${verdict} after ${wait}`, outcome(at + wait, attempt, verdict)]),
    ),
  ),
  'outcome of an earlier check': outcome(at + 1_000, attempt - 1, 'verified'),
  'outcome of a later check': outcome(at + 1_000, attempt + 1, 'verified'),
  request: request(at + 1_000),
  'late request': request(at + CHECK_LEASE_MS),
  settings: settings(at + 1_000, { openTracking: true }),
  rotation: rotation(at + 1_000),
  'another way': settings(at + 1_000, { provider: 'smtp' }),
  removal: removal(at + 1_000),
  ...Object.fromEntries(
    ['pending', 'temporaryFailure', 'failed'].map((state) => [
      `timer of ${state}`,
      recheck(state, at + HOUR),
    ]),
  ),
  'daily timer': { type: 'xstate.after.daily.domain.verified', at: at + DAY } as unknown as DomainEvent,
});

/** The age of a condition only matters when a grace ends. */
const age = (ms: number): number => WAITS.filter((wait) => ms >= wait).length;

const pathsFrom = (from: DomainInput) =>
  getShortestPaths(domainMachine, {
    input: from,
    events: ({ context }) => Object.values(everyEvent(context)),
    serializeState: ({ value, context }) => {
      const { at, since, refutedSince, checkingSince, openTracking, rotatingSince } = context;
      const refuted = refutedSince === null ? null : age(at - refutedSince);
      return JSON.stringify([
        value,
        age(at - since),
        refuted,
        checkingSince === null,
        openTracking,
        rotatingSince === null,
      ]);
    },
  });
const paths = [...pathsFrom(input), ...pathsFrom({ ...input, exempt: true })];

/** A domain that has come along one of the paths, stored and loaded again at each step. */
function along({ steps, state }: (typeof paths)[number]) {
  const domain = added({ exempt: state.context.exempt });
  for (const { event } of steps) {
    if ((event.type as string) === 'xstate.init') continue;
    domain.restore();
    expect(domain.tell(event)).toBe(true);
  }
  return domain;
}

/** The events that each living state takes besides the outcome that it awaits. */
const timerOf = {
  pending: 'timer of pending',
  verified: 'daily timer',
  temporaryFailure: 'timer of temporaryFailure',
  failed: 'timer of failed',
} as const satisfies Record<Exclude<State, 'added' | 'removed'>, string>;

function isTaken(state: string, name: string, { checkingSince, rotatingSince, at }: DomainContext): boolean {
  if (state === 'removed') return false;
  if (name === 'another way') return true;
  if (name === 'rotation') return rotatingSince === null;
  if (name === 'settings' || name === 'removal' || name === timerOf[state as keyof typeof timerOf])
    return true;
  if (name === 'request') return checkingSince === null || at + 1_000 - checkingSince >= CHECK_LEASE_MS;
  if (name === 'late request') return true;
  return / after /.test(name) && checkingSince !== null;
}

describe('every path of the domain machine', () => {
  test('reaches every state that is stored', () => {
    const reached = new Set(paths.map(({ state }) => state.value as string));
    const stored = Object.keys(domainMachine.states).filter((name) => name !== 'added');
    expect([...reached].sort()).toEqual(stored.sort());
  });

  test('keeps the invariants of a domain', () => {
    expect(paths.length).toBeGreaterThan(50);
    for (const path of paths) {
      const { state, context, delays } = along(path);
      expect(context.since).toBeLessThanOrEqual(context.at);
      if (context.refutedSince !== null) {
        expect(state).toBe(state === 'removed' ? 'removed' : 'temporaryFailure');
        expect(context.refutedSince).toBeGreaterThanOrEqual(context.since);
      }
      // A domain that may send has its proof; one that lost it says so.
      if (state === 'verified' || state === 'temporaryFailure') expect(context.verifiedAt).not.toBeNull();
      if (state === 'pending' || state === 'failed') expect(context.verifiedAt).toBeNull();
      // No living domain is ever forgotten by the clock, or looked at too often.
      const [delay, ...others] = Object.entries(delays);
      expect(others).toEqual([]);
      if (state === 'removed') expect(delay).toBeUndefined();
      else {
        expect(delay?.[0]).toBe(state === 'verified' ? 'daily' : 'recheck');
        expect((delay?.[1] ?? 0) - context.at).toBeLessThanOrEqual(DAY);
      }
      expect(JSON.parse(JSON.stringify(context))).toEqual(context);
    }
  });

  test('accepts the drawn events and refuses the others unchanged', () => {
    for (const path of paths) {
      const { context, state } = along(path);
      for (const [name, event] of Object.entries(everyEvent(context))) {
        const domain = along(path);
        const before = { context: domain.context, effects: domain.effects };
        const taken = isTaken(state, name, context);
        expect({ state, name, taken: domain.tell(event) }).toEqual({ state, name, taken });
        if (!taken) expect({ context: domain.context, effects: domain.effects }).toEqual(before);
      }
    }
  });

  test('a check is ordered by a beginning, a request, a timer and another way, with its number, and by nothing else', () => {
    for (const path of paths) {
      const { context, state } = along(path);
      for (const [name, event] of Object.entries(everyEvent(context))) {
        const domain = along(path);
        if (!domain.tell(event)) continue;
        const orders = /request|timer|way/.test(name);
        expect(domain.effects.filter(({ type }) => type === 'check')).toEqual(
          orders ? [{ type: 'check', params: { attempt: context.attempt + 1 } }] : [],
        );
        expect(domain.context.attempt).toBe(context.attempt + (orders ? 1 : 0));
        if (orders) expect(domain.state).toBe(state);
      }
    }
  });

  test('a rotation prepares the keys and changes nothing else', () => {
    for (const path of paths) {
      const domain = along(path);
      if (domain.state === 'removed' || domain.context.rotatingSince !== null) continue;
      const { context, state } = domain;
      const at = context.at + 1;
      expect(domain.tell(rotation(at))).toBe(true);
      expect(domain).toMatchObject({ state, context: { ...context, at, rotatingSince: at } });
      expect(domain.effects).toEqual([{ type: 'prepareKeys', params: { keys: KEYS } }]);
    }
  });

  test('a removal ends any of them: keys destroyed, the place given back once', () => {
    for (const path of paths) {
      const domain = along(path);
      if (domain.state === 'removed') continue;
      expect(domain.tell(removal(domain.context.at + 1))).toBe(true);
      expect(domain).toMatchObject({ state: 'removed', delays: {} });
      expect(domain.effects.map(({ type }) => type)).toEqual(['forgetKeys', 'refund']);
    }
  });
});

/** Lets the next timer fire and its check come to that, one second later; answers when it fired. */
function look(domain: LoneActor<DomainContext>, verdict: Verdict): number {
  const [due = 0] = Object.values(domain.delays);
  expect(domain.wake(due)).toBe(1);
  expect(domain.tell(outcome(due + 1_000, domain.context.attempt, verdict))).toBe(true);
  return due;
}

/** One that was proven a second after it was added. */
function proven() {
  const domain = added();
  domain.tell(outcome(BORN + 1_000, 1, 'verified'));
  return domain;
}

describe('a domain waiting for its records', () => {
  test('begins with a check', () => {
    const domain = added();
    expect(domain).toMatchObject({ state: 'pending', effects: [{ type: 'check', params: { attempt: 1 } }] });
    expect(domain.delays).toEqual({ recheck: BORN + MINUTE });
  });

  test('is quick at first, then hourly, and daily after three days, when it counts as failed', () => {
    const domain = added();
    domain.tell(outcome(BORN + 1_000, 1, 'missing'));
    const after: number[] = [];
    while (domain.state === 'pending') after.push(Math.round((look(domain, 'missing') - BORN) / MINUTE));
    expect(after.slice(0, 8)).toEqual([1, 2, 4, 8, 17, 34, 67, 127]);
    expect(domain.state).toBe('failed');
    expect(domain.context.at - BORN).toBeGreaterThanOrEqual(PATIENCE_MS);
    expect(after.length).toBeLessThan(85);
    expect(domain.delays).toEqual({ recheck: domain.context.at + DAY });
    look(domain, 'verified');
    expect(domain).toMatchObject({ state: 'verified', context: { verifiedAt: domain.context.at } });
  });

  test('a wrong record fails at once, and heals as soon as it is right, or only missing', () => {
    const domain = added();
    domain.tell(outcome(BORN + 1_000, 1, 'wrong'));
    expect(domain.state).toBe('failed');
    look(domain, 'missing');
    expect(domain.state).toBe('pending');
    look(domain, 'wrong');
    look(domain, 'unanswered');
    expect(domain.state).toBe('failed');
    look(domain, 'verified');
    expect(domain.state).toBe('verified');
  });

  test('no answer proves nothing, however long', () => {
    const domain = added();
    domain.tell(outcome(BORN + 1_000, 1, 'unanswered'));
    for (let i = 0; i < 100; i += 1) look(domain, 'unanswered');
    expect(domain.context.at - BORN).toBeGreaterThan(PATIENCE_MS);
    expect(domain.state).toBe('pending');
  });

  test('a lost check is made again by the timer', () => {
    const domain = added();
    expect(domain.wake(BORN + MINUTE)).toBe(1);
    expect(domain.effects).toEqual([{ type: 'check', params: { attempt: 2 } }]);
    expect(domain.tell(outcome(BORN + MINUTE + 1, 1, 'verified'))).toBe(false);
    expect(domain.tell(outcome(BORN + MINUTE + 1, 2, 'verified'))).toBe(true);
  });

  test('asking again while a check runs starts no second one', () => {
    const domain = added();
    expect(domain.tell(request(BORN + CHECK_LEASE_MS - 1))).toBe(false);
    expect(domain.tell(request(BORN + CHECK_LEASE_MS))).toBe(true);
  });

  test('one that needs no proof is verified from the beginning', () => {
    expect(added({ exempt: true })).toMatchObject({
      state: 'verified',
      effects: [],
      context: { verifiedAt: BORN },
      delays: { daily: BORN + DAY },
    });
  });
});

describe('a verified domain', () => {
  test('is looked at once a day', () => {
    const domain = proven();
    for (let day = 1; day <= 3; day += 1) expect(look(domain, 'verified')).toBeGreaterThan(BORN + day * DAY);
    expect(domain).toMatchObject({ state: 'verified', context: { verifiedAt: BORN + 1_000 } });
  });

  test('sends on through 24 hours without an answer, and not longer', () => {
    const domain = proven();
    look(domain, 'unanswered');
    const { since } = domain.context;
    while (domain.state === 'temporaryFailure') look(domain, 'unanswered');
    expect(domain.state).toBe('failed');
    expect(domain.context.at - since).toBeGreaterThanOrEqual(OUTAGE_GRACE_MS);
    expect(domain.context.at - since).toBeLessThanOrEqual(OUTAGE_GRACE_MS + HOUR + 2_000);
    expect(domain.delays).toEqual({ recheck: domain.context.at + MINUTE });
  });

  test('is verified again with the first good answer, and the grace begins again', () => {
    const domain = proven();
    for (let i = 0; i < 10; i += 1) look(domain, 'unanswered');
    look(domain, 'verified');
    expect(domain).toMatchObject({
      state: 'verified',
      context: { refutedSince: null, verifiedAt: BORN + 1_000 },
    });
    look(domain, 'unanswered');
    expect(domain.context.since).toBe(domain.context.at);
  });

  for (const verdict of ['missing', 'wrong'] as const)
    test(`sends on for one hour with a record ${verdict}, and not longer`, () => {
      const domain = proven();
      look(domain, verdict);
      const { refutedSince } = domain.context;
      expect(refutedSince).toBe(domain.context.at);
      while (domain.state === 'temporaryFailure') look(domain, verdict);
      expect(domain).toMatchObject({ state: 'failed', context: { verifiedAt: null } });
      const lasted = domain.context.at - (refutedSince ?? 0);
      expect(lasted).toBeGreaterThanOrEqual(REFUTED_GRACE_MS);
      expect(lasted).toBeLessThan(REFUTED_GRACE_MS + HOUR);
    });

  test('whatever DNS says in whatever order, it fails exactly when a grace is over', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...VERDICTS), { maxLength: 60 }), (verdicts) => {
        const domain = proven();
        let troubled: number | null = null;
        let refuted: number | null = null;
        for (const verdict of verdicts) {
          look(domain, verdict);
          const { at } = domain.context;
          const contradicts = verdict === 'missing' || verdict === 'wrong';
          if (verdict === 'verified') [troubled, refuted] = [null, null];
          else {
            troubled ??= at;
            if (contradicts) refuted ??= at;
          }
          const over =
            troubled !== null &&
            (at - troubled >= OUTAGE_GRACE_MS ||
              (contradicts && refuted !== null && at - refuted >= REFUTED_GRACE_MS));
          expect(domain.state).toBe(over ? 'failed' : troubled === null ? 'verified' : 'temporaryFailure');
          if (over) return;
        }
      }),
    );
  });
});

test('a change of a domain that was decided before another one is refused, whatever it changes', () => {
  const changes = [{ openTracking: true }, { provider: 'ses' }, { fallbacks: [] }, { warmUps: [] }];
  for (const change of changes) {
    const domain = proven();
    expect(domain.tell(settings(BORN + 5_000, { ...change, seenAt: BORN }))).toBe(false);
    expect(domain.tell(settings(BORN + 5_000, { ...change, seenAt: null }))).toBe(true);
    expect(domain.tell(settings(BORN + 5_000, { ...change, seenAt: null }))).toBe(false);
    // Two within a millisecond are distinct.
    expect(domain.tell(settings(BORN + 5_000, change))).toBe(true);
    expect(domain.tell(settings(BORN + 5_000, { ...change, seenAt: BORN + 5_000 }))).toBe(false);
    expect(domain.tell(settings(BORN + 5_000, { ...change, seenAt: BORN + 5_001 }))).toBe(true);
  }
});

test('changing settings of a domain changes only those named, and leaves its timer alone', () => {
  const domain = proven();
  const { delays, context } = domain;
  domain.tell(settings(BORN + 5_000, { openTracking: true }));
  const changedAt = BORN + 5_000;
  expect(domain.context).toEqual({ ...context, at: changedAt, openTracking: true, changedAt });
  domain.tell(settings(BORN + 6_000, { clickTracking: true, openTracking: false }));
  expect(domain.context).toMatchObject({ openTracking: false, clickTracking: true });
  expect(domain).toMatchObject({ state: 'verified', effects: [], delays });
});
