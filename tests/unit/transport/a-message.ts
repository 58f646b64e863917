import type { OutboundMessage } from '../../../src/mail/transport/transport.ts';

/** A plain email to one recipient, changed where a test says so. */
export const aMessage = (changes: Partial<OutboundMessage> = {}): OutboundMessage => ({
  emailId: 'em_01jd3x7q8zabcdefghjkmnpq',
  attempt: 1,
  from: { name: 'Ada Lovelace', address: 'ada@sender.example' },
  to: [{ name: null, address: 'bob@receiver.example' }],
  cc: [],
  bcc: [],
  replyTo: [],
  recipients: ['bob@receiver.example'],
  subject: 'Your receipt',
  text: 'Thank you for your order.\n',
  html: null,
  headers: [],
  attachments: [],
  messageId: '<em_01jd3x7q8zabcdefghjkmnpq@sender.example>',
  date: Date.UTC(2026, 10, 20, 12, 0, 0),
  returnPath: 'b+token@bounces.sender.example',
  dkim: [],
  unsubscribe: null,
  ...changes,
});

/** The header part of a message, as text. */
export const headerOf = (raw: Buffer): string => raw.toString('latin1', 0, raw.indexOf('\r\n\r\n'));

/** The value of one field, unfolded; undefined when the message has none. */
export const field = (raw: Buffer, name: string): string | undefined =>
  headerOf(raw)
    .split(/\r\n(?![ \t])/)
    .find((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`))
    ?.slice(name.length + 1)
    .replace(/\r\n/g, '')
    .trim();
