import { EVENT_TRAITS } from '../../../../machines/email/event-traits.ts';
import type { RestingState } from '../../../../machines/email/progress.ts';
import type { EmailEventType } from '../../../../machines/email/recipient.ts';

/** The final state of an email to one recipient, and the events that are recorded for the recipient. */
interface RecipientOutcome {
  readonly end: Exclude<RestingState, 'deferred'>;
  readonly events: readonly EmailEventType[];
}

/** Outcomes of the simulator, which the local part of the address chooses. */
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
} as const satisfies Record<string, RecipientOutcome>;

/** Outcomes of the mail sink for live mail, which the address chooses as well. */
export const LIVE_OUTCOMES = {
  taken: { end: 'sent', events: ['sent'] },
  refused: { end: 'failed', events: ['bounced'] },
} as const satisfies Record<string, RecipientOutcome>;

/** An outcome that an address chooses. */
export type ExpectedOutcome = keyof typeof OUTCOMES | keyof typeof LIVE_OUTCOMES;

const ALL_OUTCOMES: Readonly<Record<ExpectedOutcome, RecipientOutcome>> = { ...OUTCOMES, ...LIVE_OUTCOMES };

/** An attempt whose result is unknown and that must not be repeated expires as a bounce. */
const HELD: RecipientOutcome = { end: 'failed', events: ['bounced'] };

/** The number of events of one type that were recorded for a recipient. */
export type EventCount = readonly [recipient: string, type: EmailEventType, times: number];

/** Facts about an email's attempts, apart from its events. */
export interface Attempts {
  /** Leases that ended without an outcome. */
  readonly lost: number;
  /** Attempts after which it was unknown whether the server had accepted the message. */
  readonly unknown: number;
  /** An attempt with an unknown result is not repeated (UNKNOWN_OUTCOME=hold). */
  readonly holds: boolean;
}

/** The final state that an email should have, and how its events differ from the expected ones. */
export interface ExpectedEvents {
  readonly end: RecipientOutcome['end'];
  readonly missing: readonly string[];
  readonly unexpected: readonly string[];
}

/** Compares the events of an email with the outcomes that its recipients' addresses choose. */
export function expectedEvents(
  recipients: readonly { readonly address: string; readonly outcome: ExpectedOutcome }[],
  recorded: readonly EventCount[],
  { lost, unknown, holds }: Attempts,
): ExpectedEvents {
  const ends = new Set<RecipientOutcome['end']>();
  const missing: string[] = [];
  const unexpected: string[] = [];
  for (const { address, outcome } of recipients) {
    const found = recorded.filter(([recipient]) => recipient === address);
    const isHeld = outcome in LIVE_OUTCOMES && holds && lost + unknown > 0 && isBounceAlone(found);
    const { end, events } = isHeld ? HELD : ALL_OUTCOMES[outcome];
    ends.add(end);
    for (const type of events)
      if (!found.some(([, one]) => one === type)) missing.push(`${type} of ${outcome}`);
    for (const [, type, times] of found) {
      const most = !events.includes(type) ? 0 : EVENT_TRAITS[type].isVisit ? 1 + lost : 1;
      if (times > most) unexpected.push(`${times} × ${type} of ${outcome}`);
    }
  }
  const addresses = new Set(recipients.map(({ address }) => address));
  for (const [recipient, type] of recorded)
    if (!addresses.has(recipient)) unexpected.push(`${type} of an address that is no recipient`);
  const [first = 'sent'] = ends;
  return { end: ends.size === 1 ? first : 'sent', missing, unexpected };
}

const isBounceAlone = (found: readonly EventCount[]): boolean =>
  found.length === 1 && found.every(([, type]) => type === 'bounced');
