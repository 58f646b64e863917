import type { EmailContext, Postponement } from '../../../../machines/email/context.ts';
import type { EmailState, emailMachine } from '../../../../machines/email/machine.ts';
import { sharedReason } from '../../../../machines/email/progress.ts';
import type { FailureReason, WithheldReason } from '../../../../machines/email/recipient.ts';
import { someMayBeTried } from '../../../../machines/email/rules.ts';
import type { StepNameOf } from '../../../../machines/names.ts';
import { decidedFor } from '../../../engine/machine/kind.ts';
import type { ActorHistory, HistoryEntry } from '../../../engine/store/actors.ts';
import { ACT_WORDS } from '../../suppressions/queries.ts';

/**
 * The reason for an email's state, in sentences for people. Times are epoch milliseconds; it holds no
 * personal data.
 */
export interface EmailExplanation {
  readonly summary: string;
  /** The rule that holds in this state. */
  readonly rule: string;
  readonly evidence: readonly { readonly at: number; readonly text: string }[];
  readonly next: { readonly text: string; readonly at: number | null };
}

type HistoryOfEmail = Pick<ActorHistory, 'state' | 'context' | 'timers' | 'steps'>;

/**
 * Explains an email from its row and its journal alone. @throws UnavailableError when a newer version wrote
 * them
 */
export function explainEmail({ state, context, timers, steps }: HistoryOfEmail): EmailExplanation {
  const email = context as EmailContext;
  const wakeAt = Object.values(timers).toSorted((a, b) => a - b)[0] ?? null;
  const { summary, rule, next } = decidedFor(STATES, state)(email, wakeAt);
  const last = steps.findLastIndex(({ event }) => event === 'attempt.postponed');
  const evidence = steps.map((step, index) =>
    index === last && email.postponed ? { at: step.at, text: putOff(email.postponed) } : evidenceOf(step),
  );
  return { summary, rule, evidence, next };
}

type Explain = (email: EmailContext, wakeAt: number | null) => Omit<EmailExplanation, 'evidence'>;

const END = 'Nothing more happens by itself.';
const SCRIPTED = 'The next outcome of its script comes in.';

const STATES: Readonly<Record<EmailState, Explain>> = {
  scheduled: (_, at) => ({
    summary: 'It waits for the time that was asked for.',
    rule: 'Until then it can be moved or cancelled; afterwards neither.',
    next: { text: 'The first attempt begins.', at },
  }),
  queued: (email, at) =>
    email.postponed && email.postponed.until > email.at ? waitsFor(email.postponed) : waitsForSlot(email, at),
  sending: ({ attempt, leaseMs, holdsDoubt }, at) => ({
    summary: `Attempt ${attempt} is under way.`,
    rule: `Without an outcome within ${duration(leaseMs)} the attempt counts as lost, and ${holdsDoubt ? 'none follows it, since it may have arrived' : 'another begins with the same Message-ID'}.`,
    next: { text: 'The outcome comes in, or the attempt counts as lost.', at },
  }),
  deferred: (email, at) => (someMayBeTried(email) ? retried(email, at) : held(email, at)),
  sent: ({ recipients }, at) => ({
    summary: `The receiving server has taken it: ${progressOf(recipients)}.`,
    rule: 'An acceptance is not yet a delivery; reports of delivery or bounces may follow for days.',
    next: at === null ? { text: 'A report comes in, or none ever does.', at } : { text: SCRIPTED, at },
  }),
  delivered: ({ recipients, attempt }, at) => ({
    summary: `Delivered to ${everybody(recipients.length)} with ${attempts(attempt)}.`,
    rule: 'Opens, clicks and complaints are recorded without changing the state.',
    next: { text: at === null ? END : SCRIPTED, at },
  }),
  failed: ({ failureReason, attempt, recipients }) => ({
    summary: failureOf(recipients, failureReason ?? 'bounced'),
    rule: `It ended after ${attempts(attempt)}; a failed email is never tried again.`,
    next: { text: END, at: null },
  }),
  cancelled: () => ({
    summary: 'It was cancelled before it was sent.',
    rule: 'Only a scheduled email can be cancelled, or with its campaign one that has not begun to leave; its unit of quota went back to the period it was taken from.',
    next: { text: END, at: null },
  }),
};

const waitsForSlot: Explain = (email, at) => ({
  summary: `It waits until attempt ${email.attempt + 1} can begin.`,
  rule: `It is durable, and offers itself every few seconds to whichever instance has a free slot. ${inDoubtNow(email) > 0 ? `It may have arrived at ${people(inDoubtNow(email))} before; it goes out again with the same Message-ID.` : 'Nothing of the attempt has left.'}`,
  next: { text: 'An instance takes it on.', at },
});

const waitsFor = ({ until, transport, perDay }: Postponement): ReturnType<Explain> => ({
  summary: `It waits for the warm-up of its domain on ${transport}: ${perDay} recipients on that day, which were used up.`,
  rule: 'Whatever exceeds a day waits for one that has room, campaigns behind other mail. No attempt is counted, and the time for retries has not begun.',
  next: { text: 'The attempt begins, if that day has room for it.', at: until },
});

const putOff = ({ until, transport, perDay }: Postponement): string =>
  `Put off until ${instant(until)}: the warm-up of its domain on ${transport} allowed ${perDay} recipients on that day, and they were used up. Nothing was sent, and no attempt counts.`;

const inDoubtNow = ({ recipients }: EmailContext): number =>
  recipients.filter(({ inDoubt }) => inDoubt).length;

type Recipients = EmailContext['recipients'];

/** Recipients that were given up in doubt may have the message, so "no recipient got it" would be a guess. */
function failureOf(recipients: Recipients, reason: FailureReason): string {
  const doubtful = recipients.filter(({ inDoubt }) => inDoubt);
  if (doubtful.length === 0) return `No recipient got it: ${reasonsOf(recipients, reason)}.`;
  const others = recipients.filter(({ inDoubt }) => !inDoubt);
  const rest =
    others.length === 0
      ? ''
      : ` No other recipient got it: ${reasonsOf(others, sharedReason(others) ?? reason)}.`;
  const end = sharedReason(doubtful) ?? reason;
  const why = end === 'expired' ? 'none came until patience ran out' : endOf(doubtful, end);
  return `It may have arrived at ${people(doubtful.length)}: an attempt ended without a reply, and ${why}.${rest}`;
}

/** Why an email in doubt was not sent again. */
const endOf = (recipients: Recipients, reason: FailureReason): string =>
  `it was not sent again: ${reasonsOf(recipients, reason)}`;

/** Names each act because of which recipients were left out. */
function reasonsOf(recipients: Recipients, reason: FailureReason): string {
  if (reason !== 'suppressed') return REASONS[reason];
  const acts = [...new Set(recipients.flatMap(({ withheld }) => withheld ?? []))];
  return acts.length === 0 ? REASONS.suppressed : acts.map((act) => WITHHELD[act]).join('; ');
}

const waiting = ({ recipients }: EmailContext): number =>
  recipients.filter(({ status }) => status === 'pending').length;

const retried: Explain = (email, at) => {
  const { attempt, firstAttemptAt, patienceMs, recipients } = email;
  const isInDoubt = recipients.some(({ inDoubt }) => inDoubt);
  const met = isInDoubt
    ? 'ended without a reply, so the outcome is unknown for'
    : 'met a temporary failure for';
  const until = firstAttemptAt === null ? '' : ` (until ${instant(firstAttemptAt + patienceMs)})`;
  return {
    summary: `Attempt ${attempt} ${met} ${people(waiting(email))}.`,
    rule: `${isInDoubt ? 'It may have arrived; a report settles that, or it is sent again with the same Message-ID. ' : ''}Attempts are repeated for ${duration(patienceMs)} from the first one${until}, then the email fails as expired.`,
    next: { text: `Attempt ${attempt + 1} begins.`, at },
  };
};

const held: Explain = (email, at) => ({
  summary: `It is unknown whether it arrived at ${people(waiting(email))}: no reply came to attempt ${email.attempt}.`,
  rule: 'UNKNOWN_OUTCOME is hold: it is not sent again, since it may have arrived. A report settles it.',
  next: { text: 'A report comes in, or it fails as expired.', at },
});

const REASONS: Readonly<Record<FailureReason, string>> = {
  bounced: 'the receiving server refused the address for good',
  // As an earlier version noted it, without the act.
  suppressed: 'the address was suppressed',
  expired: 'temporary failures lasted until patience ran out',
  rejected: 'the receiving server refused the message or its sender, and said nothing against the address',
  domain_removed: 'the sending domain was removed',
};

const WITHHELD: Readonly<Record<WithheldReason, string>> = {
  ...ACT_WORDS,
  invalid: 'the address of the contact had changed',
  excluded: 'the contact was in an audience that the campaign leaves out',
  cancelled: 'its campaign had been cancelled',
};

/**
 * Why nothing was sent to a recipient, as the note of an attempt names it; null for what it does not name.
 */
export const wordsOfReason = (reason: unknown): string | null =>
  typeof reason === 'string' && Object.hasOwn(WITHHELD, reason) ? WITHHELD[reason as WithheldReason] : null;

/** A sentence for each event of the journal. */
const EVENTS: Readonly<Record<StepNameOf<typeof emailMachine>, (step: HistoryEntry) => string>> = {
  spawned: ({ to }) => `Accepted, and at once ${to}.`,
  'cancel.requested': () => 'A client cancelled it.',
  'campaign.ended': () => 'Its campaign was cancelled before an attempt had begun; nothing was sent.',
  'reschedule.requested': () => 'A client moved it to another time.',
  'attempt.completed': ({ attempt, to }) => `Attempt ${attempt} ended; the email is ${to}.`,
  'attempt.begun': ({ attempt }) => `Attempt ${attempt} began: a session could be had.`,
  'attempt.postponed': () => 'A limit left no room for the attempt, and it was put off; nothing was sent.',
  'attempt.declined': () => 'The attempt could not be carried out; nothing was sent.',
  'report.received': ({ from, to }) =>
    from === to ? 'A report came in and left the state as it was.' : `A report came in; the email is ${to}.`,
  'mail.returned': () => 'A mail came back to its return path that is no report that can be read.',
  'after.script': ({ from, to }) =>
    from === to
      ? 'An outcome of its script came in and left the state as it was.'
      : `An outcome of its script came in; the email is ${to}.`,
  'after.due': () => 'The time that was asked for came.',
  'after.turn': ({ attempt, to }) =>
    to === 'sending' ? `Its turn came; attempt ${attempt} began.` : 'It offered itself to be sent.',
  'after.backoff': ({ attempt, to }) =>
    to === 'sending'
      ? `The wait was over; attempt ${attempt} began.`
      : to === 'queued'
        ? 'The wait was over; it may be sent again.'
        : 'The wait was over, and no recipient is left to try again.',
  'after.lease': ({ attempt, to }) =>
    to === 'sending'
      ? `An attempt was lost without an outcome; attempt ${attempt} began.`
      : to === 'queued'
        ? 'An attempt was lost without a known outcome; it may be sent again.'
        : to === 'deferred'
          ? 'An attempt was lost without an outcome; it may have arrived, so none follows.'
          : 'The last attempt was lost, and patience had run out.',
};

const evidenceOf = (step: HistoryEntry): EmailExplanation['evidence'][number] => ({
  at: step.at,
  text: decidedFor(EVENTS, step.event)(step),
});

const people = (count: number): string => (count === 1 ? 'one recipient' : `${count} recipients`);
const everybody = (count: number): string => (count === 1 ? 'its recipient' : `all ${count} recipients`);
const attempts = (count: number): string => (count === 1 ? 'one attempt' : `${count} attempts`);
const instant = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

function duration(ms: number): string {
  const [size, unit] =
    ms >= 7_200_000 ? [3_600_000, 'hours'] : ms >= 120_000 ? [60_000, 'minutes'] : [1_000, 'seconds'];
  return `${Math.round(ms / (size as number))} ${unit}`;
}

function progressOf(recipients: EmailContext['recipients']): string {
  const count = (status: string) => recipients.filter((one) => one.status === status).length;
  const parts = [
    [count('delivered'), 'delivered'],
    [count('sent'), 'awaiting a report'],
    [recipients.filter(({ status, inDoubt }) => status === 'failed' && !inDoubt).length, 'failed'],
    [
      recipients.filter(({ status, inDoubt }) => status === 'failed' && inDoubt).length,
      'given up without knowing whether it arrived',
    ],
  ] as const;
  return parts.flatMap(([number, what]) => (number === 0 ? [] : [`${number} ${what}`])).join(', ');
}
