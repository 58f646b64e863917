import type { EmailEventType } from '../../../../../../../machines/email/recipient.ts';

/** The meaning of a state; every page uses the same five. */
export type Tone = 'good' | 'bad' | 'waiting' | 'moving' | 'quiet';

/** The look of an event of an email, and its words. */
interface EventLook {
  readonly text: string;
  /** The event in a sentence, for those who choose events. */
  readonly about: string;
  readonly tone: Tone;
  /** True where the log shows it in place of the status: the recipient has done something. */
  readonly isShownAsStatus: boolean;
}

/** The look of each type of event. A new type does not compile until it has one. */
export const EVENT_LOOKS: Readonly<Record<EmailEventType, EventLook>> = {
  sent: { text: 'Sent', about: 'A mail server accepted the email.', tone: 'good', isShownAsStatus: false },
  delivered: {
    text: 'Delivered',
    about: 'The email reached its mailbox.',
    tone: 'good',
    isShownAsStatus: false,
  },
  opened: { text: 'Opened', about: 'The email was opened.', tone: 'good', isShownAsStatus: true },
  clicked: { text: 'Clicked', about: 'A link was clicked.', tone: 'good', isShownAsStatus: true },
  bounced: {
    text: 'Bounced',
    about: 'The email could not be delivered.',
    tone: 'bad',
    isShownAsStatus: false,
  },
  complained: {
    text: 'Complained',
    about: 'The recipient reported spam.',
    tone: 'bad',
    isShownAsStatus: true,
  },
  unsubscribed: {
    text: 'Unsubscribed',
    about: 'The recipient unsubscribed.',
    tone: 'quiet',
    isShownAsStatus: false,
  },
};

const TYPES = Object.keys(EVENT_LOOKS) as EmailEventType[];

/** The word for each type of event but those that are left out. */
export const eventTexts = <Omitted extends EmailEventType = never>(
  ...omitted: readonly Omitted[]
): Readonly<Record<Exclude<EmailEventType, Omitted>, string>> =>
  Object.fromEntries(
    TYPES.filter((type) => !(omitted as readonly string[]).includes(type)).map((type) => [
      type,
      EVENT_LOOKS[type].text,
    ]),
  ) as Record<Exclude<EmailEventType, Omitted>, string>;
