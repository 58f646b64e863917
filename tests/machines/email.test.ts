import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { StateValueFrom } from 'xstate';
import type { EmailEvent, EmailInput } from '../../machines/email/context.ts';
import type { emailMachine } from '../../machines/email/machine.ts';
import type { RecipientOutcome } from '../../machines/email/recipient.ts';
import type { ActorEvent } from '../../src/engine/machine/kind.ts';
import { outcomeFaults } from '../../src/sending/emails/audit/audit-recipients.ts';
import {
  type ActorHistory,
  BEGINNINGS,
  everyEvent,
  shortestLives,
  simpleLives,
} from '../support/engine-email-model.ts';
import { Observed } from '../support/observed-email.ts';

/** The states that are only passed through. */
type Passing = 'accepted' | 'gaveUp';
type State = Exclude<StateValueFrom<typeof emailMachine>, Passing>;

/** The events that each state takes; all others are refused. */
const DRAWN: Readonly<Record<State, readonly string[]>> = {
  scheduled: ['cancel.requested', 'reschedule.requested', 'xstate.after.due.email.scheduled'],
  queued: [
    'attempt.begun',
    'attempt.completed',
    'attempt.postponed',
    'campaign.ended',
    'mail.returned',
    'report.received',
    'xstate.after.turn.email.queued',
  ],
  sending: [
    'attempt.completed',
    'attempt.declined',
    'mail.returned',
    'report.received',
    'xstate.after.lease.email.sending',
  ],
  deferred: ['attempt.completed', 'mail.returned', 'report.received', 'xstate.after.backoff.email.deferred'],
  sent: ['mail.returned', 'report.received', 'xstate.after.script.email.sent'],
  delivered: ['mail.returned', 'report.received', 'xstate.after.script.email.delivered'],
  failed: [],
  cancelled: [],
};

function along({ input, events }: ActorHistory): Observed {
  const email = new Observed(input);
  for (const event of events) email.tell(event);
  return email;
}

const beginnings = Object.values<EmailInput>(BEGINNINGS);
/** One life to each condition. */
const conditions = beginnings.flatMap(shortestLives);
const lives: readonly ActorHistory[] = [...conditions, ...beginnings.flatMap(simpleLives)];

const TIMER: Readonly<Partial<Record<string, string>>> = {
  scheduled: 'due',
  queued: 'turn',
  sending: 'lease',
  deferred: 'backoff',
};

/** The invariants of every email at every moment. */
function holds(email: Observed): void {
  const { state, context, recorded, suppressed, input } = email;
  const { recipients, at } = context;
  const statuses = recipients.map(({ status }) => status);
  const isFinal = state === 'failed' || state === 'cancelled';

  expect(Object.keys(DRAWN)).toContain(state);
  const hasReports = context.script?.reports[context.scripted?.done ?? 0] !== undefined;
  const pending = hasReports && (state === 'sent' || state === 'delivered') ? 'script' : TIMER[state];
  expect(Object.keys(email.delays)).toEqual(pending === undefined ? [] : [pending]);
  if (state === 'scheduled') expect(email.delays.due).toBe(Math.max(at, context.scheduledAt as number));
  if (state === 'sending') expect(email.delays.lease).toBeLessThanOrEqual(at + context.leaseMs);
  if (isFinal) expect(email.delays).toEqual({});

  // The state says no more and no less than the recipients' progress does.
  expect(state === 'delivered').toBe(statuses.every((status) => status === 'delivered'));
  expect(state === 'failed').toBe(statuses.every((status) => status === 'failed'));
  expect(state === 'failed').toBe(context.failureReason !== null);
  expect(outcomeFaults(state, context)).toEqual([]);
  if (['sending', 'deferred', 'queued'].includes(state)) expect(statuses).toContain('pending');
  if (state === 'sent') expect(statuses).not.toContain('pending');
  if (state === 'scheduled' || state === 'cancelled') {
    expect(statuses.every((status) => status === 'pending')).toBeTrue();
    expect(recorded).toEqual([]);
    expect(context.attempt).toBe(0);
  } else if (state !== 'queued') expect(context.attempt).toBeGreaterThan(0);
  // Live mail whose attempt no instance has begun leaves no recipient in doubt.
  if (email.transmissions === 0) for (const { inDoubt } of recipients) expect(inDoubt).toBeFalse();
  if (input.livemode && state === 'sending') expect(context.begunBy).not.toBeNull();
  expect(email.transmissions - email.declined).toBe(context.attempt);
  expect(email.refunds).toBe(state === 'cancelled' ? 1 : 0);

  // The event log tells the same story as the recipients, of whom it names no stranger.
  recipients.forEach(({ status, lastEvent, reason, inDoubt }, recipient) => {
    const types = recorded.filter((event) => event.recipient === recipient).map(({ type }) => type);
    expect(types.at(-1) ?? null).toBe(lastEvent);
    expect(types.filter((type) => type === 'sent').length).toBeLessThanOrEqual(1);
    expect(status === 'failed').toBe(reason !== null);
    if (inDoubt && status !== 'pending') expect(status).toBe('failed');
    for (const type of ['complained', 'unsubscribed'] as const)
      expect(types.filter((one) => one === type).length).toBeLessThanOrEqual(1);
    if (status === 'pending' || reason === 'suppressed') expect(types).toEqual([]);
    if (status === 'sent') expect(types[0]).toBe('sent');
    if (status === 'delivered') expect(types.filter((type) => type === 'delivered')).toEqual(['delivered']);
    if (status === 'failed' && reason !== 'suppressed')
      expect(types.filter((type) => type === 'bounced')).toContain('bounced');
    // Addresses are suppressed for live mail that bounced for good or was complained about; never for test
    // mail.
    const deserved = recorded.some(
      (event) =>
        event.recipient === recipient &&
        (event.type === 'complained' ||
          event.type === 'unsubscribed' ||
          (event.type === 'bounced' && event.data.type === 'Permanent' && reason === 'bounced')),
    );
    expect(suppressed.includes(recipient)).toBe(input.livemode && deserved);
  });
  for (const { recipient } of recorded) expect(recipients[recipient]).toBeDefined();
  for (const recipient of suppressed) expect(recipients[recipient]).toBeDefined();
  expect(recorded.at(-1)?.type ?? null).toBe(context.lastEvent);
  expect(context.sentAt !== null).toBe(recorded.some(({ type }) => type === 'sent'));
  if (state === 'delivered') expect(context.deliveredAt).not.toBeNull();

  expect(JSON.parse(JSON.stringify(context))).toEqual(context as never);
}

describe('the life of an email', () => {
  test('reaches every state that is drawn, and rests in no other', () => {
    const reached = new Set<string>(lives.map((life) => along(life).state));
    expect([...reached].sort()).toEqual(Object.keys(DRAWN).sort());
  });

  test('takes in each state what is drawn, and refuses everything else', () => {
    const taken = new Set<string>();
    const told = new Set<string>();
    for (const life of conditions) {
      let email = along(life);
      const { state, context } = email;
      const before = JSON.stringify([state, context, email.delays]);
      for (const { event } of everyEvent(context)) {
        told.add(`${state} ${event.type}`);
        if (email.tell(event)) {
          expect(DRAWN[state as State]).toContain(event.type);
          taken.add(`${state} ${event.type}`);
          email = along(life);
        } else expect(JSON.stringify([email.state, email.context, email.delays])).toBe(before);
      }
    }
    const drawn = Object.entries(DRAWN).flatMap(([state, types]) => types.map((type) => `${state} ${type}`));
    expect([...taken].sort()).toEqual(drawn.sort());
    // 8 states and 15 types of event: each pair was really tried.
    expect(told.size).toBe(120);
  });

  test('keeps its invariants on every path', () => {
    for (const life of lives) holds(along(life));
    for (const life of conditions) {
      let email = along(life);
      for (const { event } of everyEvent(email.context)) {
        // A refused event changes nothing, as the test before this one has seen.
        if (!email.tell(event)) continue;
        holds(email);
        email = along(life);
      }
    }
  });

  test('keeps its invariants whatever a transport reports', () => {
    const outcome = fc.record({
      recipient: fc.integer({ min: 0, max: 3 }),
      outcome: fc.constantFrom('accepted', 'deferred', 'refused', 'suppressed', 'unknown'),
      reason: fc.constantFrom('bounced', 'rejected'),
      data: fc.constant({}),
    }) as fc.Arbitrary<RecipientOutcome>;
    const told = fc.oneof(
      fc.array(outcome, { maxLength: 6 }).map((outcomes) => ({ outcomes })),
      fc.nat().map((pick) => ({ pick })),
    );
    const beginning = fc.constantFrom(...Object.values<EmailInput>(BEGINNINGS));
    fc.assert(
      fc.property(beginning, fc.array(told, { maxLength: 10 }), (input, many) => {
        const email = new Observed(input);
        for (const one of many) {
          const { context } = email;
          const possible = everyEvent(context).map(({ event }) => event);
          const event =
            'pick' in one
              ? (possible[one.pick % possible.length] as ActorEvent)
              : ({
                  type: 'attempt.completed',
                  at: context.at + 1,
                  attempt: context.attempt,
                  outcomes: one.outcomes,
                } as EmailEvent);
          email.tell(event);
          holds(email);
        }
      }),
      { numRuns: 500 },
    );
  });
});
