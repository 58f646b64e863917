import type { RestingState } from '../../machines/email-progress.ts';
import type { EmailEventType } from '../../machines/email-recipient.ts';

/** What becomes of a recipient: how it ends, and the events that are recorded of it on the way. */
interface Course {
  readonly end: Exclude<RestingState, 'deferred'>;
  readonly events: readonly EmailEventType[];
}

/** What the simulator makes of a recipient, by the local part of the address. */
export const OUTCOMES = {
  delivered: { end: 'delivered', events: ['sent', 'delivered'] },
  bounced: { end: 'failed', events: ['bounced'] },
  'bounced-transient': { end: 'sent', events: ['sent', 'bounced'] },
  complained: { end: 'delivered', events: ['sent', 'delivered', 'complained'] },
  opened: { end: 'delivered', events: ['sent', 'delivered', 'opened'] },
  clicked: { end: 'delivered', events: ['sent', 'delivered', 'opened', 'clicked'] },
  unsubscribed: { end: 'delivered', events: ['sent', 'delivered', 'unsubscribed'] },
  deferred: { end: 'delivered', events: ['sent', 'delivered'] },
  suppressed: { end: 'failed', events: [] },
} as const satisfies Record<string, Course>;

/** What the torture's own mail server makes of a recipient of live mail; the address chooses it too. */
export const LIVE_OUTCOMES = {
  taken: { end: 'sent', events: ['sent'] },
  refused: { end: 'failed', events: ['bounced'] },
} as const satisfies Record<string, Course>;

/** A fate that an address chooses. */
export type ExpectedOutcome = keyof typeof OUTCOMES | keyof typeof LIVE_OUTCOMES;

const COURSES: Readonly<Record<ExpectedOutcome, Course>> = { ...OUTCOMES, ...LIVE_OUTCOMES };

/** Nobody could say whether it was taken, and it is not to be tried again: a bounce once patience has run out. */
const HELD: Course = { end: 'failed', events: ['bounced'] };

/** A person opens a message any number of times: the outcome of an attempt that was given up may tell of it once more. */
const REPEATABLE: Readonly<Record<EmailEventType, boolean>> = {
  sent: false,
  delivered: false,
  opened: true,
  clicked: true,
  bounced: false,
  complained: false,
  unsubscribed: false,
};

/** How often an event of a type was recorded of a recipient. */
export type Recorded = readonly [recipient: string, type: EmailEventType, times: number];

/** What is known of an email's attempts beside their events. */
export interface Attempts {
  /** Leases that ended without an outcome. */
  readonly lost: number;
  /** Attempts after which nobody knew whether the message was taken. */
  readonly unknown: number;
  /** A doubt about it is held, rather than tried again. */
  readonly holds: boolean;
}

/** What an email should have come to, and in what its events differ from that. */
export interface ExpectedEvents {
  readonly end: Course['end'];
  readonly lacking: readonly string[];
  readonly strange: readonly string[];
}

/** Holds the events of an email against what its recipients call for. */
export function expectedEvents(
  recipients: readonly { readonly address: string; readonly fate: ExpectedOutcome }[],
  recorded: readonly Recorded[],
  { lost, unknown, holds }: Attempts,
): ExpectedEvents {
  const ends = new Set<Course['end']>();
  const lacking: string[] = [];
  const strange: string[] = [];
  for (const { address, fate } of recipients) {
    const found = recorded.filter(([recipient]) => recipient === address);
    const isHeld = fate in LIVE_OUTCOMES && holds && lost + unknown > 0 && isBounceAlone(found);
    const { end, events } = isHeld ? HELD : COURSES[fate];
    ends.add(end);
    for (const type of events) if (!found.some(([, one]) => one === type)) lacking.push(`${type} of ${fate}`);
    for (const [, type, times] of found) {
      const most = !events.includes(type) ? 0 : REPEATABLE[type] ? 1 + lost : 1;
      if (times > most) strange.push(`${times} × ${type} of ${fate}`);
    }
  }
  const addresses = new Set(recipients.map(({ address }) => address));
  for (const [recipient, type] of recorded)
    if (!addresses.has(recipient)) strange.push(`${type} of somebody who is no recipient`);
  const [first = 'sent'] = ends;
  return { end: ends.size === 1 ? first : 'sent', lacking, strange };
}

const isBounceAlone = (found: readonly Recorded[]): boolean =>
  found.length === 1 && found.every(([, type]) => type === 'bounced');
