import type { EmailEventType } from '../../../../../../../machines/email/recipient.ts';

/** The meaning of a state; every page uses the same five. */
export type Tone = 'good' | 'bad' | 'waiting' | 'moving' | 'quiet';

/** The look of an event of an email. */
interface EventLook {
  readonly tone: Tone;
  /** True where the log shows it in place of the status: the recipient has done something. */
  readonly isShownAsStatus: boolean;
}

/** The look of each type of event. A new type does not compile until it has one. */
export const EVENT_LOOKS: Readonly<Record<EmailEventType, EventLook>> = {
  sent: { tone: 'good', isShownAsStatus: false },
  delivered: { tone: 'good', isShownAsStatus: false },
  opened: { tone: 'good', isShownAsStatus: true },
  clicked: { tone: 'good', isShownAsStatus: true },
  bounced: { tone: 'bad', isShownAsStatus: false },
  complained: { tone: 'bad', isShownAsStatus: true },
  unsubscribed: { tone: 'quiet', isShownAsStatus: false },
};
