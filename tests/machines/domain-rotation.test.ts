import { describe, expect, test } from 'bun:test';
import type { DomainContext } from '../../machines/domain/context.ts';
import { domainMachine } from '../../machines/domain/machine.ts';
import { LoneActor } from '../support/lone-actor.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const BORN = Date.parse('2026-11-20T12:00:00.000Z');

const KEYS = { selector: 's', rsaValue: 'r', ed25519Value: 'e', sealedRsa: 'R', sealedEd25519: 'E' };
const rotation = (at: number) => ({ type: 'rotation.requested', at, keys: KEYS }) as const;
const request = (at: number) => ({ type: 'check.requested', at }) as const;
const settings = (at: number, more: object) => ({ type: 'settings.changed', at, ...more }) as const;
const outcome = (at: number, attempt: number, verdict: string, more: object = {}) =>
  ({ type: 'check.completed', at, attempt, verdict, records: [], ...more }) as const;

const added = () =>
  new LoneActor<DomainContext>(
    domainMachine,
    { at: BORN, exempt: false, records: [], openTracking: false, clickTracking: false },
    BORN,
  );

/** One that was proven a second after it was added. */
function proven() {
  const domain = added();
  domain.tell(outcome(BORN + 1_000, 1, 'verified'));
  return domain;
}

test('a changed transport of a domain replaces the records being checked', () => {
  const domain = added();
  domain.tell(settings(BORN + 5, { provider: 'ses', openTracking: true }));
  expect(domain).toMatchObject({
    state: 'pending',
    context: { openTracking: true, checkingSince: BORN + 5 },
  });
  expect(domain.effects).toEqual([
    { type: 'chooseTransport', params: { provider: 'ses' } },
    { type: 'check', params: { attempt: 2 } },
  ]);
  expect(domain.tell(outcome(BORN + 6, 1, 'verified'))).toBe(false);
  expect(domain.tell(outcome(BORN + 7, 2, 'verified'))).toBe(true);
  domain.tell(settings(BORN + 8, { provider: null }));
  expect(domain.effects[0]).toEqual({ type: 'chooseTransport', params: { provider: null } });
});

describe('a DKIM rotation of the domain machine', () => {
  test('brings a proven domain’s next look forward, and then ever less', () => {
    const domain = proven();
    const asked = BORN + HOUR;
    domain.tell(rotation(asked));
    expect(domain.delays).toEqual({ daily: asked + MINUTE });
    const waits: number[] = [];
    for (let n = 0; n < 90; n += 1) {
      const [due = 0] = Object.values(domain.delays);
      domain.wake(due);
      const { attempt } = domain.context;
      domain.tell(outcome(due, attempt, 'verified'));
      waits.push(((domain.delays.daily ?? 0) - due) / MINUTE);
    }
    expect(waits.slice(0, 8)).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
    expect(waits.at(-1)).toBe(24 * 60);
  });

  test('switches with the outcome that says so, and with no other', () => {
    const domain = proven();
    domain.tell(rotation(BORN + 2_000));
    expect(domain.tell(rotation(BORN + 3_000))).toBe(false);
    domain.tell(request(BORN + HOUR));
    expect(domain.tell(outcome(BORN + HOUR + 1, 1, 'verified', { switchTo: 's' }))).toBe(false);
    domain.tell(outcome(BORN + HOUR + 2, 2, 'verified', { switchTo: 's' }));
    expect(domain.effects).toEqual([{ type: 'switchKeys', params: { selector: 's' } }]);
    expect(domain.delays).toEqual({ daily: BORN + HOUR + 2 + DAY });
    expect(domain.context.rotatingSince).toBeNull();
    domain.tell(request(BORN + 2 * HOUR));
    domain.tell(outcome(BORN + 2 * HOUR + 1, 3, 'verified'));
    expect(domain.effects).toEqual([{ type: 'switchKeys', params: { selector: null } }]);
  });
});
