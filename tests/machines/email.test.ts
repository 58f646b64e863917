import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { StateValueFrom } from 'xstate';
import { emailMachine } from '../../machines/email.ts';
import type { EmailContext, EmailEvent, EmailInput } from '../../machines/email-context.ts';
import type { RecipientOutcome, RecordedEvent } from '../../machines/email-progress.ts';
import type { ActorEvent } from '../../src/engine/kind.ts';
import {
  BEGINNINGS,
  BORN,
  everyEvent,
  type Life,
  shortestLives,
  simpleLives,
  timerOf,
} from '../support/engine-email-model.ts';
import { LoneActor } from '../support/lone-actor.ts';

/** The states that are only passed through. */
type Passing = 'accepted' | 'gaveUp';
type State = Exclude<StateValueFrom<typeof emailMachine>, Passing>;

/** What each state takes; whatever is not in its row is refused. */
const DRAWN: Readonly<Record<State, readonly string[]>> = {
  scheduled: ['cancel.requested', 'reschedule.requested', 'xstate.after.due.email.scheduled'],
  queued: ['xstate.after.turn.email.queued'],
  sending: ['attempt.completed', 'attempt.declined', 'report.received', 'xstate.after.lease.email.sending'],
  deferred: ['report.received', 'xstate.after.backoff.email.deferred'],
  sent: ['report.received'],
  delivered: ['report.received'],
  failed: [],
  cancelled: [],
};

/** An email with everything its effects have told so far. */
class Observed extends LoneActor<EmailContext> {
  readonly recorded: RecordedEvent[] = [];
  readonly suppressed: number[] = [];
  transmissions = 0;
  declined = 0;
  refunds = 0;

  constructor(readonly input: EmailInput) {
    super(emailMachine, input, input.at);
    this.#observe();
  }

  override tell(event: ActorEvent): boolean {
    const taken = super.tell(event);
    if (taken) this.#observe();
    if (taken && event.type === 'attempt.declined') this.declined++;
    return taken;
  }

  #observe(): void {
    for (const { type, params } of this.effects) {
      if (type === 'transmit') this.transmissions++;
      if (type === 'refund') this.refunds++;
      if (type === 'record') this.recorded.push(...(params as { events: readonly RecordedEvent[] }).events);
      if (type === 'suppress')
        this.suppressed.push(...(params as { recipients: readonly number[] }).recipients);
    }
  }
}

function along({ input, events }: Life): Observed {
  const email = new Observed(input);
  for (const event of events) email.tell(event);
  return email;
}

const lives = Object.values<EmailInput>(BEGINNINGS).flatMap((input) => [
  ...shortestLives(input),
  ...simpleLives(input),
]);

const TIMER: Readonly<Partial<Record<string, string>>> = {
  scheduled: 'due',
  queued: 'turn',
  sending: 'lease',
  deferred: 'backoff',
};

/** What holds of every email at every moment. */
function holds(email: Observed): void {
  const { state, context, recorded, suppressed, input } = email;
  const { recipients, at } = context;
  const statuses = recipients.map(({ status }) => status);
  const isFinal = state === 'failed' || state === 'cancelled';

  expect(Object.keys(DRAWN)).toContain(state);
  const pending = TIMER[state];
  expect(Object.keys(email.delays)).toEqual(pending === undefined ? [] : [pending]);
  if (state === 'scheduled') expect(email.delays.due).toBe(Math.max(at, context.scheduledAt as number));
  if (state === 'sending') expect(email.delays.lease).toBeLessThanOrEqual(at + context.leaseMs);
  if (isFinal) expect(email.delays).toEqual({});

  // The state says no more and no less than the recipients' progress does.
  expect(state === 'delivered').toBe(statuses.every((status) => status === 'delivered'));
  expect(state === 'failed').toBe(statuses.every((status) => status === 'failed'));
  expect(state === 'failed').toBe(context.failureReason !== null);
  if (['sending', 'deferred', 'queued'].includes(state)) expect(statuses).toContain('pending');
  if (state === 'sent') expect(statuses).not.toContain('pending');
  if (state === 'scheduled' || state === 'cancelled') {
    expect(statuses.every((status) => status === 'pending')).toBeTrue();
    expect(recorded).toEqual([]);
    expect(context.attempt).toBe(0);
  } else if (state !== 'queued') expect(context.attempt).toBeGreaterThan(0);
  expect(email.transmissions - email.declined).toBe(context.attempt);
  expect(email.refunds).toBe(state === 'cancelled' ? 1 : 0);

  // The event log tells the same story as the recipients, of whom it names no stranger.
  recipients.forEach(({ status, lastEvent, reason, inDoubt }, recipient) => {
    const types = recorded.filter((event) => event.recipient === recipient).map(({ type }) => type);
    expect(types.at(-1) ?? null).toBe(lastEvent);
    expect(types.filter((type) => type === 'sent').length).toBeLessThanOrEqual(1);
    expect(status === 'failed').toBe(reason !== null);
    if (inDoubt) expect(status).toBe('pending');
    for (const type of ['complained', 'unsubscribed'] as const)
      expect(types.filter((one) => one === type).length).toBeLessThanOrEqual(1);
    if (status === 'pending' || reason === 'suppressed') expect(types).toEqual([]);
    if (status === 'sent') expect(types[0]).toBe('sent');
    if (status === 'delivered') expect(types.filter((type) => type === 'delivered')).toEqual(['delivered']);
    if (status === 'failed' && reason !== 'suppressed')
      expect(types.filter((type) => type === 'bounced')).toContain('bounced');
    // Addresses are suppressed for live mail that bounced for good or was complained about; never for test mail.
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
  test('comes to every state that is drawn, and rests in no other', () => {
    const reached = new Set(lives.map((life) => along(life).state));
    expect([...reached].sort()).toEqual(Object.keys(DRAWN).sort());
  });

  test('takes in each state what is drawn, and refuses everything else', () => {
    const taken = new Set<string>();
    const told = new Set<string>();
    for (const life of lives) {
      const { state, context } = along(life);
      for (const { event } of everyEvent(context)) {
        const email = along(life);
        const before = JSON.stringify([email.state, email.context, email.delays]);
        told.add(`${state} ${event.type}`);
        if (email.tell(event)) {
          expect(DRAWN[state as State]).toContain(event.type);
          taken.add(`${state} ${event.type}`);
        } else expect(JSON.stringify([email.state, email.context, email.delays])).toBe(before);
      }
    }
    const drawn = Object.entries(DRAWN).flatMap(([state, types]) => types.map((type) => `${state} ${type}`));
    expect([...taken].sort()).toEqual(drawn.sort());
    // 8 states and 9 types of event: each pair was really tried.
    expect(told.size).toBe(72);
  });

  test('is in order in every condition it can come to', () => {
    for (const life of lives) holds(along(life));
    for (const life of lives)
      for (const { event } of everyEvent(along(life).context))
        holds(along({ ...life, events: [...life.events, event] }));
  });

  test('is in order whatever a transport reports, sense or not', () => {
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

const sending = (input: EmailInput = BEGINNINGS['a live email to two']): Observed => new Observed(input);
const outcome = (
  recipient: number,
  what: RecipientOutcome['outcome'],
  reason?: RecipientOutcome['reason'],
): RecipientOutcome => ({
  recipient,
  outcome: what,
  ...(reason === undefined ? {} : { reason }),
  data: {},
});
const completed = (at: number, attempt: number, ...outcomes: RecipientOutcome[]): ActorEvent =>
  ({ type: 'attempt.completed', at, attempt, outcomes }) as ActorEvent;

describe('attempts', () => {
  test('an outcome counts for its own attempt only', () => {
    const email = sending();
    email.tell(timerOf('lease', BORN + 10_000));
    expect(email.context.attempt).toBe(2);
    for (const other of [0, 1, 3]) {
      expect(
        email.tell(completed(BORN + 11_000, other, outcome(0, 'accepted'), outcome(1, 'accepted'))),
      ).toBeFalse();
    }
    expect(email.recorded).toEqual([]);
    expect(
      email.tell(completed(BORN + 11_000, 2, outcome(0, 'accepted'), outcome(1, 'accepted'))),
    ).toBeTrue();
    expect(email.state).toBe('sent');
  });

  test('waits grow as the schedule says, and the last one repeats', () => {
    const email = sending();
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 4; attempt++) {
      const at = email.context.at + 1_000;
      email.tell(completed(at, attempt, outcome(0, 'deferred'), outcome(1, 'deferred')));
      expect(email.state).toBe('deferred');
      waits.push((email.delays.backoff as number) - at);
      email.wake(email.delays.backoff as number);
    }
    expect(waits).toEqual([60_000, 300_000, 300_000, 300_000]);
  });

  test('whoever was reached stays reached when retries run out for the others', () => {
    const email = sending();
    email.tell(completed(BORN + 1_000, 1, outcome(0, 'accepted'), outcome(1, 'deferred')));
    email.wake(email.delays.backoff as number);
    email.tell(completed(BORN + 4_000_000, 2, outcome(1, 'deferred')));
    expect(email.state).toBe('sent');
    expect(email.context.recipients.map(({ status, reason }) => [status, reason])).toEqual([
      ['sent', null],
      ['failed', 'expired'],
    ]);
    expect(email.recorded.map(({ type, recipient, data }) => [type, recipient, data.type])).toEqual([
      ['sent', 0, undefined],
      ['bounced', 1, 'Transient'],
    ]);
    expect(email.suppressed).toEqual([]);
  });

  test('a lease that ends after patience has run out fails the email as expired', () => {
    const email = sending();
    email.tell(timerOf('lease', BORN + 4_000_000));
    expect(email.state).toBe('failed');
    expect(email.context.failureReason).toBe('expired');
    expect(email.recorded.map(({ type, data }) => [type, data.type])).toEqual([
      ['bounced', 'Transient'],
      ['bounced', 'Transient'],
    ]);
    expect(email.suppressed).toEqual([]);
  });
});

describe('an outcome that nobody knows', () => {
  const report = (at: number, type: string, more: object = {}): ActorEvent =>
    ({ type: 'report.received', at, report: { type, recipient: 0, data: {}, ...more } }) as ActorEvent;
  const held: EmailInput = BEGINNINGS['a live email that is rather lost than doubled'];

  test('is waited for as long as a server may take, then tried again', () => {
    const email = sending({ ...held, holdsDoubt: false });
    email.tell(completed(BORN + 1_000, 1, outcome(0, 'unknown')));
    expect(email.state).toBe('deferred');
    expect(email.recorded).toEqual([]);
    expect(email.delays.backoff).toBe(BORN + 1_000 + 600_000);
    email.wake(email.delays.backoff as number);
    expect([email.state, email.context.attempt]).toEqual(['sending', 2]);
  });

  test('is never tried again where it is held, and fails as expired in the end', () => {
    const email = sending(held);
    email.tell(completed(BORN + 1_000, 1, outcome(0, 'unknown')));
    expect(email.delays.backoff).toBe(BORN + held.patienceMs);
    email.wake(email.delays.backoff as number);
    expect([email.state, email.context.failureReason, email.transmissions]).toEqual(['failed', 'expired', 1]);
    expect(email.suppressed).toEqual([]);
  });

  test('keeps the others on their schedule, and itself out of it', () => {
    const email = sending({ ...BEGINNINGS['a live email to two'], holdsDoubt: true });
    email.tell(completed(BORN + 1_000, 1, outcome(0, 'unknown'), outcome(1, 'deferred')));
    email.wake(email.delays.backoff as number);
    email.tell(completed(BORN + 700_000, 2, outcome(1, 'accepted')));
    expect(email.state).toBe('deferred');
    expect(email.delays.backoff).toBe(BORN + 3_600_000);
  });

  test('a lost attempt is one, too', () => {
    const email = sending(held);
    email.wake(email.delays.lease as number);
    expect([email.state, email.transmissions]).toEqual(['deferred', 1]);
    const repeated = sending({ ...held, holdsDoubt: false });
    repeated.wake(repeated.delays.lease as number);
    expect([repeated.state, repeated.transmissions]).toEqual(['sending', 2]);
  });

  test('is settled by a report, whatever it says', () => {
    for (const [type, more, state, events] of [
      ['delivered', {}, 'delivered', ['sent', 'delivered']],
      ['opened', {}, 'sent', ['sent', 'opened']],
      ['bounced', { permanent: true }, 'failed', ['bounced']],
      ['bounced', { permanent: false }, 'sent', ['sent', 'bounced']],
    ] as const) {
      const email = sending(held);
      email.tell(completed(BORN + 1_000, 1, outcome(0, 'unknown')));
      expect(email.tell(report(BORN + 2_000, type, more))).toBeTrue();
      expect(email.state).toBe(state);
      expect(email.recorded.map((event) => event.type as string)).toEqual([...events]);
      expect(email.delays).toEqual({});
    }
  });

  test('who merely waits cannot be reported on', () => {
    const email = sending(held);
    expect(email.tell(report(BORN + 1_000, 'opened'))).toBeFalse();
    email.tell(completed(BORN + 1_000, 1, outcome(0, 'deferred')));
    expect(email.tell(report(BORN + 2_000, 'delivered'))).toBeFalse();
  });
});

describe('an attempt for which no slot came free', () => {
  test('is not counted, and the email asks again', () => {
    const email = sending();
    expect(email.tell({ type: 'attempt.declined', at: BORN + 1_000, attempt: 1 } as ActorEvent)).toBeTrue();
    expect([email.state, email.context.attempt]).toEqual(['queued', 0]);
    email.wake(email.delays.turn as number);
    expect([email.state, email.context.attempt]).toEqual(['sending', 1]);
    expect(email.tell({ type: 'attempt.declined', at: BORN + 3_000, attempt: 2 } as ActorEvent)).toBeFalse();
  });
});

describe('a report that is repeated', () => {
  test('changes nothing', () => {
    const email = sending();
    email.tell(completed(BORN + 1, 1, outcome(0, 'accepted'), outcome(1, 'accepted')));
    const tell = (type: string, more: object = {}): boolean =>
      email.tell({
        type: 'report.received',
        at: BORN + 2,
        report: { type, recipient: 0, data: {}, ...more },
      } as ActorEvent);
    for (const [type, more] of [
      ['bounced', { permanent: false }],
      ['delivered', {}],
      ['complained', {}],
      ['unsubscribed', { suppresses: true }],
      ['bounced', { permanent: true, suppresses: false }],
    ] as const)
      expect([tell(type, more), tell(type, more)]).toEqual([true, false]);
    expect(email.recorded.map(({ type }) => type)).toEqual([
      'sent',
      'sent',
      'bounced',
      'delivered',
      'complained',
      'unsubscribed',
      'bounced',
    ]);
    expect(email.suppressed).toEqual([0, 0]);
  });
});

describe('bad addresses', () => {
  test('are suppressed by live mail, never by test mail', () => {
    for (const livemode of [true, false]) {
      const email = sending({ ...BEGINNINGS['a live email to two'], livemode });
      email.tell(completed(BORN + 1, 1, outcome(0, 'refused'), outcome(1, 'accepted')));
      email.tell({
        type: 'report.received',
        at: BORN + 2,
        report: { type: 'complained', recipient: 1, data: {} },
      } as ActorEvent);
      expect(email.suppressed).toEqual(livemode ? [0, 1] : []);
    }
  });

  test('a refused message says nothing of the address', () => {
    const email = sending();
    email.tell(
      completed(BORN + 1, 1, outcome(0, 'refused', 'rejected'), outcome(1, 'refused', 'domain_removed')),
    );
    expect(email.state).toBe('failed');
    expect(email.context.failureReason).toBe('domain_removed');
    expect(email.suppressed).toEqual([]);
  });

  test('a full mailbox bounces for good and empties again', () => {
    const email = sending();
    email.tell(
      completed(BORN + 1, 1, { ...outcome(0, 'refused'), suppresses: false }, outcome(1, 'refused')),
    );
    expect(email.context.failureReason).toBe('bounced');
    expect(email.suppressed).toEqual([1]);
  });
});
