/**
 * The replies of a listener, where smtp-server's own do not suffice: each carries an enhanced status (RFC
 * 2034), and AUTH is announced where a password may be sent.
 */
import type { Connection } from './connection.ts';

/** The statuses of replies that smtp-server makes itself (RFC 3463, RFC 5248). */
const STATUS: Readonly<Record<number, string>> = {
  214: '2.0.0',
  221: '2.0.0',
  235: '2.7.0',
  250: '2.0.0',
  252: '2.5.0',
  421: '4.3.2',
  450: '4.2.0',
  451: '4.3.0',
  452: '4.3.1',
  454: '4.7.0',
  500: '5.5.2',
  501: '5.5.4',
  502: '5.5.1',
  503: '5.5.1',
  504: '5.5.4',
  530: '5.7.0',
  535: '5.7.8',
  538: '5.7.11',
  550: '5.7.1',
  552: '5.3.4',
  553: '5.1.3',
  554: '5.5.0',
  555: '5.5.4',
};

/** The text of smtp-server at such a step says more than the code. */
const STATUS_AT: Readonly<Record<string, string>> = {
  MAIL_FROM_OK: '2.1.0',
  RCPT_TO_OK: '2.1.5',
  DATA_OK: '2.6.0',
  SENDER_SYNTAX_ERROR: '5.1.7',
  MAILBOX_SYNTAX_ERROR: '5.1.3',
  TOO_MANY_RECIPIENTS: '4.5.3',
};

const NEEDS_TLS = 'Encryption is needed first: say STARTTLS, and sign in over TLS';

/** The extensions that a listener announces beside those of the library. */
interface Offer {
  /** Passwords are taken over TLS alone. */
  readonly needsTls: boolean;
  /** False while there is no certificate. */
  readonly hasTls: () => boolean;
  readonly keywords: readonly string[];
}

export function completeReplies(
  connection: Pick<Connection, 'secure' | 'send'>,
  { needsTls, hasTls, keywords }: Offer,
): void {
  const send = connection.send.bind(connection);
  connection.send = (code, text, context) => {
    if (Array.isArray(text)) {
      const isHidden = (line: string): boolean =>
        (line === 'STARTTLS' && !hasTls()) || (line.startsWith('AUTH ') && needsTls && !connection.secure);
      return send(code, [...extensions(text, isHidden), ...keywords], context);
    }
    // The greeting and the reply to HELO have none (RFC 2034 4), and 3xx has no status.
    const isBare = code < 200 || (code >= 300 && code < 400) || (context === false && code < 400);
    const words = code === 538 ? NEEDS_TLS : String(text ?? '');
    if (isBare || hasStatus(words)) return send(code, words === '' ? undefined : words, context);
    send(
      code,
      `${STATUS_AT[context || ''] ?? STATUS[code] ?? `${Math.floor(code / 100)}.0.0`} ${words}`,
      context,
    );
  };
}

const hasStatus = (text: string): boolean => /^[245]\.\d{1,3}\.\d{1,3}(?!\S)/.test(text);

/** The reply to EHLO: RFC 4954 4 has AUTH announced where it can be used. */
const extensions = (lines: readonly string[], isHidden: (line: string) => boolean): string[] => [
  ...lines.slice(0, 1),
  'ENHANCEDSTATUSCODES',
  ...lines.slice(1).filter((line) => !isHidden(line)),
];
