import type { EmailContext } from '../../../../machines/email/context.ts';
import type { EmailState } from '../../../../machines/email/machine.ts';
import { restingState } from '../../../../machines/email/progress.ts';
import type { FailureReason, RecipientProgress } from '../../../../machines/email/recipient.ts';

/** The number of recorded events by type, for each recipient. */
export type EventCounts = ReadonlyMap<string, Readonly<Record<string, number>>>;

/** The fewest and the most events of a type that a recipient's progress allows. */
type Range = readonly [least: number, most: number];

const RANGES: Readonly<Record<RecipientProgress['status'], { sent: Range; delivered: Range }>> = {
  pending: { sent: [0, 0], delivered: [0, 0] },
  sent: { sent: [1, 1], delivered: [0, 0] },
  delivered: { sent: [1, 1], delivered: [1, 1] },
  // A recipient can fail after the email was sent, even after it was delivered.
  failed: { sent: [0, 1], delivered: [0, 1] },
};

/**
 * Compares the recipients' progress with the event log: a sentence for each fault. Recipients are named by
 * position.
 */
export function eventFaults(
  { recipients }: EmailContext,
  addresses: readonly string[],
  counts: EventCounts,
): string[] {
  const faults: string[] = [];
  if (addresses.length !== recipients.length) faults.push('has other recipients than its snapshot');
  for (const address of counts.keys())
    if (!addresses.includes(address)) faults.push('has an event of an address that is no recipient');
  recipients.forEach((progress, index) => {
    const events = counts.get(addresses[index] ?? '') ?? {};
    for (const type of ['sent', 'delivered'] as const) {
      const [least, most] = RANGES[progress.status][type];
      const found = events[type] ?? 0;
      if (found < least || found > most)
        faults.push(`recipient ${index} is ${progress.status} with ${found} ${type} events`);
    }
    const bounced = events.bounced ?? 0;
    if (progress.status === 'failed' && !allowsBounces(progress, bounced))
      faults.push(`recipient ${index} failed as ${progress.reason} with ${bounced} bounced events`);
    if (progress.lastEvent !== null && !events[progress.lastEvent])
      faults.push(`recipient ${index} lacks its last event, ${progress.lastEvent}`);
  });
  return faults;
}

/** True of the reasons for which nothing is sent, so that nothing can bounce. */
const SENDS_NOTHING: Readonly<Record<FailureReason, boolean>> = {
  suppressed: true,
  domain_removed: true,
  bounced: false,
  expired: false,
  rejected: false,
};

const allowsBounces = ({ reason }: RecipientProgress, bounced: number): boolean =>
  reason !== null && SENDS_NOTHING[reason] ? bounced === 0 : bounced > 0;

/**
 * The condition of the recipients for each state. `untouched`: the first attempt has not begun, or none will
 * follow. `waiting`: at least one recipient waits for an attempt. `resting`: the state follows from the
 * recipients' outcomes.
 */
const RECIPIENTS: Readonly<Record<EmailState, 'untouched' | 'waiting' | 'resting'>> = {
  scheduled: 'untouched',
  queued: 'waiting',
  sending: 'waiting',
  deferred: 'waiting',
  sent: 'resting',
  delivered: 'resting',
  failed: 'resting',
  cancelled: 'untouched',
};

/** Compares an email's state with the outcomes of its recipients: a sentence for each fault. */
export function outcomeFaults(state: EmailState, context: EmailContext): string[] {
  const resting = restingState(context.recipients);
  const are = RECIPIENTS[state];
  // A queued email may wait for its first attempt.
  if (are === 'untouched' || (state === 'queued' && context.attempt === 0))
    return context.recipients.every(({ status }) => status === 'pending')
      ? []
      : [`is ${state}, but some recipient is past that`];
  if (are === 'waiting')
    return resting === 'deferred' ? [] : [`is ${state}, but no recipient waits for an attempt`];
  const faults = resting === state ? [] : [`is ${state}, but its recipients amount to ${resting}`];
  if ((state === 'failed') !== (context.failureReason !== null))
    faults.push(`is ${state} with the reason ${context.failureReason}`);
  return faults;
}
