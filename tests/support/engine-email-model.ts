import type { SnapshotFrom } from 'xstate';
import { getShortestPaths, getSimplePaths } from 'xstate/graph';
import type { EmailContext, EmailEvent, EmailInput } from '../../machines/email/context.ts';
import { emailMachine } from '../../machines/email/machine.ts';
import type { RecipientOutcome } from '../../machines/email/recipient.ts';
import type { ActorEvent } from '../../src/engine/machine/kind.ts';

/** When the lives in the tests of the email machine begin. */
export const BORN = Date.parse('2026-11-20T12:00:00.000Z');
const SECOND = 1_000;

const schedule = { leaseMs: 10 * SECOND, patienceMs: 3_600 * SECOND, backoffMs: [60 * SECOND, 300 * SECOND] };
const test = { at: BORN, livemode: false, scheduledAt: null, admitted: true, ...schedule };
const one = [{ simulate: 'delivered' }];
const two = [{ simulate: null }, { simulate: null }];

/** One email of each way to begin. */
export const BEGINNINGS = {
  'a test email': { ...test, recipients: one },
  'a live email to two': { ...test, livemode: true, recipients: two },
  'a scheduled email': { ...test, livemode: true, scheduledAt: BORN + 60 * SECOND, recipients: two },
  'a live email that is rather lost than doubled': {
    ...test,
    livemode: true,
    holdsDoubt: true,
    recipients: one,
  },
  'a test email with a script': {
    ...test,
    recipients: [{ simulate: 'script' }, { simulate: 'script' }],
    script: {
      deferrals: 0,
      outcome: 'accepted',
      reports: [
        { afterMs: 0, what: ['delivered'] },
        { afterMs: 300 * SECOND, what: ['opened', 'opened', 'complained'] },
        { afterMs: 86_400 * SECOND, what: ['bounced-transient', 'bounced'] },
      ],
    },
  },
  'an email that found no slot': { ...test, admitted: false, recipients: one },
} as const satisfies Record<string, EmailInput>;

const TIMERS = {
  due: ['due', 'scheduled'],
  turn: ['turn', 'queued'],
  lease: ['lease', 'sending'],
  backoff: ['backoff', 'deferred'],
  'script of a sent one': ['script', 'sent'],
  'script of a delivered one': ['script', 'delivered'],
} as const;

/** A timer's event, as XState names it. */
export const timerOf = (timer: keyof typeof TIMERS, at: number): ActorEvent => {
  const [delay, state] = TIMERS[timer];
  return { type: `xstate.after.${delay}.email.${state}`, at };
};

const OUTCOMES = [
  { outcome: 'accepted', data: { provider: 'test', messageId: '<m@test>', response: '250 ok' } },
  { outcome: 'deferred', data: { smtpCode: 451 } },
  { outcome: 'refused', data: { subType: 'NoEmail', smtpCode: 550 } },
  { outcome: 'refused', reason: 'rejected', data: { subType: 'Content', smtpCode: 554 } },
  { outcome: 'suppressed', data: {} },
  { outcome: 'unknown', data: { message: 'The connection broke after the final dot' } },
] as const satisfies readonly Omit<RecipientOutcome, 'recipient'>[];

/** Every combination of outcomes for so many recipients. */
function combinations(recipients: number): readonly (readonly RecipientOutcome[])[] {
  if (recipients === 0) return [[]];
  return combinations(recipients - 1).flatMap((before) =>
    OUTCOMES.map((outcome) => [...before, { ...outcome, recipient: recipients - 1 }]),
  );
}

type Report = Extract<EmailEvent, { type: 'report.received' }>['report'];

const REPORTS: readonly Omit<Report, 'recipient'>[] = [
  { type: 'delivered', data: { remoteMta: 'mx.test' } },
  { type: 'bounced', permanent: true, data: { smtpCode: 550 } },
  { type: 'bounced', permanent: false, data: { smtpCode: 452 } },
  { type: 'bounced', permanent: false, expired: true, suppresses: false, data: { subType: 'expired' } },
  { type: 'complained', data: { feedbackType: 'abuse' } },
  { type: 'opened', data: {} },
  { type: 'unsubscribed', suppresses: true, data: { source: 'page' } },
];

/** An event with a sentence that says what it is. */
export interface EventResult {
  readonly name: string;
  readonly event: ActorEvent;
}

/** The instance that begins attempts here. */
const ME = 'me';

/**
 * Whatever an email in this condition could be told, sensible or not; one second later, or after patience has
 * ended.
 */
export function everyEvent({
  at,
  attempt,
  begunBy,
  recipients,
  patienceMs,
  acceptedAt,
}: EmailContext): readonly EventResult[] {
  const byMe = begunBy === null ? {} : { by: begunBy };
  const soon = at + SECOND;
  const late = Math.max(at, acceptedAt) + patienceMs + 3_600 * SECOND;
  const completed = (outcomes: readonly RecipientOutcome[], of = attempt, when = soon): EmailEvent => ({
    type: 'attempt.completed',
    at: when,
    attempt: of,
    ...byMe,
    outcomes,
  });
  const everyone = [...recipients.keys(), recipients.length];
  return [
    { name: 'cancel', event: { type: 'cancel.requested', at: soon } },
    { name: 'campaign ended', event: { type: 'campaign.ended', at: soon } },
    {
      name: 'reschedule',
      event: { type: 'reschedule.requested', at: soon, scheduledAt: soon + 5 * SECOND } as EmailEvent,
    },
    {
      name: 'reschedule to now',
      event: { type: 'reschedule.requested', at: soon, scheduledAt: soon } as EmailEvent,
    },
    ...combinations(recipients.length).map((outcomes) => ({
      name: `outcomes ${outcomes.map(({ outcome }) => outcome).join(', ')}`,
      event: completed(outcomes),
    })),
    { name: 'no outcomes', event: completed([]) },
    ...[attempt, attempt + 1].map((number) => ({
      name: number === attempt ? 'begun twice' : 'begun',
      event: { type: 'attempt.begun', at: soon, attempt: number, by: ME } as EmailEvent,
    })),
    ...[attempt, attempt + 1].map((number) => ({
      name: number === attempt ? 'one that has begun put off' : 'put off',
      event: {
        type: 'attempt.postponed',
        at: soon,
        attempt: number,
        because: { until: soon + 3_600 * SECOND, transport: 'smtp', perDay: 50 },
      } as EmailEvent,
    })),
    {
      name: 'outcome of another instance’s attempt',
      event: { ...completed([{ ...OUTCOMES[0], recipient: 0 }]), by: 'somebody else' } as EmailEvent,
    },
    { name: 'declined', event: { type: 'attempt.declined', at: soon, attempt, ...byMe } as EmailEvent },
    {
      name: 'an earlier one declined',
      event: { type: 'attempt.declined', at: soon, attempt: attempt - 1, ...byMe } as EmailEvent,
    },
    {
      name: 'late deferral',
      event: completed(
        everyone.map((recipient) => ({ ...OUTCOMES[1], recipient })),
        attempt,
        late,
      ),
    },
    {
      name: 'outcome of an earlier attempt',
      event: completed([{ ...OUTCOMES[0], recipient: 0 }], attempt - 1),
    },
    { name: 'outcome of a later attempt', event: completed([{ ...OUTCOMES[0], recipient: 0 }], attempt + 1) },
    { name: 'outcome of a stranger', event: completed([{ ...OUTCOMES[2], recipient: recipients.length }]) },
    ...everyone.flatMap((recipient) =>
      REPORTS.map((report) => ({
        name: `${report.type}${report.permanent === true ? ' for good' : ''}${report.expired ? ' at last' : ''}, recipient ${recipient}`,
        event: { type: 'report.received', at: soon, report: { ...report, recipient } } as EmailEvent,
      })),
    ),
    ...everyone.map((recipient) => ({
      name: `returned, recipient ${recipient}`,
      event: { type: 'mail.returned', at: soon, recipient, subject: 'Out of office' } as EmailEvent,
    })),
    ...(Object.keys(TIMERS) as (keyof typeof TIMERS)[]).flatMap((delay) => [
      { name: `timer ${delay}`, event: timerOf(delay, soon) },
      { name: `timer ${delay}, late`, event: timerOf(delay, late) },
    ]),
  ];
}

/** Moments only ever grow; without them, and with no third attempt, the graph is finite. */
const essence = ({ value, context }: SnapshotFrom<typeof emailMachine>): string =>
  JSON.stringify([
    value,
    context.attempt,
    context.begunBy,
    context.scripted?.done,
    context.recipients.map(({ status, reason, inDoubt }) => [status, reason, inDoubt]),
  ]);

/** Whatever could be told that does not begin a third attempt: what holds for the second holds for all. */
const bounded = (context: EmailContext): readonly EventResult[] =>
  everyEvent(context).filter(
    ({ name }) =>
      context.attempt < 2 ||
      !/^(timer (turn|lease|backoff)|begun)/.test(name) ||
      name === 'timer lease, late',
  );

/** The way to one condition of an email: the events in order, after its input. */
export interface ActorHistory {
  readonly input: EmailInput;
  readonly events: readonly ActorEvent[];
}

/** Ways that meet in one condition may reach it at different moments: no later event is sent before that. */
function eventsOf(
  steps: readonly { readonly event: { readonly type: string } }[],
  { at: inserted }: EmailInput,
): readonly ActorEvent[] {
  let now = inserted;
  return steps.flatMap(({ event }) => {
    if (event.type === 'xstate.init') return [];
    const { at } = event as ActorEvent;
    now = Math.max(now, at);
    return [{ ...event, at: now }];
  });
}

/** Files that run in one process ask for the same lives, which take a second to find. */
function foundOnce(find: (input: EmailInput) => readonly ActorHistory[]) {
  const found = new Map<EmailInput, readonly ActorHistory[]>();
  return (input: EmailInput): readonly ActorHistory[] => {
    const lives = found.get(input) ?? find(input);
    found.set(input, lives);
    return lives;
  };
}

/** The shortest life that leads to each condition an email can be in. */
export const shortestLives = foundOnce((input) =>
  getShortestPaths(emailMachine, {
    input,
    events: ({ context }) => bounded(context).map(({ event }) => event as EmailEvent),
    serializeState: essence as never,
  }).map(({ steps }) => ({ input, events: eventsOf(steps, input) })),
);

/** Every way through the states that visits none twice, by a handful of events. */
export const simpleLives = foundOnce((input) =>
  getSimplePaths(emailMachine, {
    input,
    events: ({ context, value }) =>
      bounded(context)
        .filter(({ name }) => HANDFUL.has(name) && !(name.startsWith('outcomes') && value !== 'sending'))
        .map(({ event }) => event as EmailEvent),
    serializeState: essence as never,
  }).map(({ steps }) => ({ input, events: eventsOf(steps, input) })),
);

/**
 * With three more, or late outcomes, there would be a thousand ways more. The shortest lives come to every
 * condition anyhow.
 */
const HANDFUL = new Set([
  'cancel',
  'campaign ended',
  'reschedule to now',
  'outcomes accepted',
  'outcomes deferred',
  'outcomes refused',
  'outcomes unknown',
  'outcomes accepted, unknown',
  'begun',
  'declined',
  'outcomes accepted, accepted',
  'outcomes refused, refused',
  'outcomes deferred, deferred',
  'delivered, recipient 0',
  'bounced for good, recipient 1',
  'timer due',
  'timer turn',
  'timer lease',
  'timer lease, late',
  'timer backoff',
  'timer script of a sent one',
  'timer script of a delivered one',
]);
