import { createTransport, type SendMailOptions } from 'nodemailer';
import { CALENDAR, FILE, FILE_NAME, MESSAGE } from './programs.ts';

const THREAD = {
  references: ['<order-5@sender.example>', '<order-6@sender.example>'],
  inReplyTo: '<order-6@sender.example>',
};

const INVITATION: SendMailOptions = {
  from: 'Grüße Shop <shop@sender.example>',
  to: 'Ada <ada@example.com>',
  bcc: 'hidden@example.com',
  subject: 'Die Bestellung ist unterwegs – mit Grüßen',
  text: 'Grüße\n.\n',
  html: '<p>Grüße</p>',
  icalEvent: { method: 'REQUEST', content: CALENDAR, filename: 'invite.ics' },
  attachments: [{ filename: FILE_NAME, content: FILE }],
  ...THREAD,
};

const MAILS: readonly SendMailOptions[] = [
  INVITATION,
  {
    ...INVITATION,
    icalEvent: { method: 'CANCEL', content: CALENDAR.replace('METHOD:REQUEST', 'METHOD:CANCEL') },
  },
  {
    ...INVITATION,
    amp: '<!doctype html><html ⚡4email><head><meta charset="utf-8"></head><body>Grüße</body></html>',
    list: { unsubscribe: { url: 'https://sender.example/u', comment: 'Leave' } },
    attachments: [
      { filename: 'Rechnung für Ada – 日本.txt', content: 'Grüße' },
      { filename: 'logo.png', content: FILE, cid: 'logo@sender.example' },
    ],
  },
  { ...INVITATION, textEncoding: 'base64', encoding: 'base64' },
  {
    envelope: { from: 'shop@sender.example', to: ['ada@example.com', 'hidden@example.com'] },
    raw: Buffer.from(MESSAGE, 'latin1'),
  },
];

/** Sends mail of every kind that nodemailer makes. */
export async function sendByNodemailer(port: number, pass: string): Promise<void> {
  const client = createTransport({ host: '127.0.0.1', port, ignoreTLS: true, auth: { user: 'svc', pass } });
  for (const mail of MAILS) await client.sendMail(mail);
  client.close();
}

/** A mail to a smarthost. Its author is the sender unless it is another. */
interface SmarthostMail {
  readonly from: string;
  readonly to: string;
  readonly author?: string;
}

/** Hands an invitation to a smarthost, and asks it for reports (RFC 3461). */
export async function sendThroughSmarthost(
  port: number,
  { from, to, author = from }: SmarthostMail,
): Promise<void> {
  const client = createTransport({ host: '127.0.0.1', port, ignoreTLS: true });
  const isOrdinary = author === from;
  await client.sendMail({
    ...INVITATION,
    from: `Shop <${author}>`,
    to,
    bcc: undefined,
    envelope: { from, to: [to] },
    ...(isOrdinary && {
      dsn: {
        id: 'order+7',
        return: 'headers',
        notify: ['success', 'failure'],
        recipient: 'first@example.com',
      },
    }),
  });
  client.close();
}
