import { composeAny } from '../../mail/compose/compose.ts';

/** The parts of a message that nothing was made of yet. */
interface TrialParts {
  readonly subject: string | null;
  readonly html: string | null;
  readonly text: string | null;
  readonly from: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** A message as it would leave, without signatures: for filters that have to see all of it. */
export const trialMessage = (parts: TrialParts): Promise<Buffer> =>
  composeAny({
    emailId: 'check',
    attempt: 1,
    cc: [],
    bcc: [],
    replyTo: [],
    attachments: [],
    headers: [],
    from: { name: null, address: parts.from },
    to: [{ name: null, address: 'reader@example.com' }],
    recipients: ['reader@example.com'],
    dkim: [],
    unsubscribe: null,
    returnPath: parts.from,
    subject: parts.subject ?? '',
    html: parts.html,
    text: parts.text,
    messageId: `<check@${parts.from.slice(parts.from.lastIndexOf('@') + 1)}>`,
    date: parts.now,
  });
