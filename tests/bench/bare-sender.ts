import { createTransport } from 'nodemailer';

/** The body of a bare sender's request. */
interface PendingEvent {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Pooled nodemailer that signs with one RSA key and keeps nothing: what live mail is measured against. */
export function bareSender(to: {
  readonly port: number;
  readonly sessions: number;
  readonly privateKey: string;
}) {
  const transport = createTransport({
    host: '127.0.0.1',
    port: to.port,
    pool: true,
    maxConnections: to.sessions,
    maxMessages: Number.POSITIVE_INFINITY,
    ignoreTLS: true,
    dkim: { domainName: 'sender.example', keySelector: 'r', privateKey: to.privateKey },
  });
  return {
    send: (n: number, { subject, text, html }: PendingEvent) =>
      transport.sendMail({
        from: { name: 'Shop', address: 'shop@sender.example' },
        to: { name: '', address: `r${n}@receiver.example` },
        messageId: `<${n}@sender.example>`,
        envelope: { from: `b+${n}@sender.example`, to: [`r${n}@receiver.example`] },
        subject,
        text,
        html,
      }),
    close: () => transport.close(),
  };
}
