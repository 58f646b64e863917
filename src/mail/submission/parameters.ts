import { isUtf8 } from 'node:buffer';
import type { Connection, Handler } from '../inbound/connection.ts';
import { Refusal } from '../inbound/smtp-server.ts';

/** The values that a parameter takes as they come over the wire; null for a keyword without a value. */
type Syntax = RegExp | null;

/** RFC 3461 4: xtext, in which only upper-case digits encode; here of printable characters. */
const XTEXT = '(?:[!-*,-<>-~]|\\+(?:[2-6][0-9A-F]|7[0-9A-E]))';

const OF_MAIL: Readonly<Record<string, Syntax>> = {
  BODY: /^(?:7BIT|8BITMIME)$/i,
  SIZE: /^\d{1,20}$/,
  SMTPUTF8: null,
  RET: /^(?:FULL|HDRS)$/i,
  // RFC 3461 4.4: at most 100 characters.
  ENVID: new RegExp(`^(?=.{1,100}$)${XTEXT}+$`),
  AUTH: new RegExp(`^(?:<>|${XTEXT}+)$`),
};

const OF_RCPT: Readonly<Record<string, Syntax>> = {
  NOTIFY: /^(?:NEVER|(?:SUCCESS|FAILURE|DELAY)(?:,(?:SUCCESS|FAILURE|DELAY)){0,8})$/i,
  // RFC 3461 4.2: at most 500 characters. RFC 6533 3 adds the address in Unicode.
  ORCPT: new RegExp(
    `^(?=.{1,500}$)(?:[uU][tT][fF]-8;(?:${XTEXT}|\\P{ASCII})+|[A-Za-z0-9-]+;${XTEXT}+)$`,
    'u',
  ),
};

/** The parameters of the extensions that are offered, by the command that takes them. */
export const PARAMETERS = { mail: Object.keys(OF_MAIL), rcpt: Object.keys(OF_RCPT) } as const;

/**
 * Has a connection refuse the parameters that are not as their RFC writes them. smtp-server decodes a value
 * before it looks at it, so that `+2b`, a single plus sign and a bare equals sign would be taken for
 * something else.
 */
export function checkParameters(connection: Connection): void {
  const checked =
    (
      handler: Handler,
      syntaxes: Readonly<Record<string, Syntax>>,
      allowsUnicode: (line: string) => boolean,
    ): Handler =>
    (command, done) => {
      const refusal = refusalOf(command, syntaxes, allowsUnicode);
      if (refusal === null) return handler(command, done);
      connection.send(refusal.responseCode, refusal.message);
      done();
    };
  connection.handler_MAIL = checked(connection.handler_MAIL.bind(connection), OF_MAIL, (line) =>
    /\sSMTPUTF8(?:\s|$)/i.test(line),
  );
  connection.handler_RCPT = checked(
    connection.handler_RCPT.bind(connection),
    OF_RCPT,
    () => connection.session.envelope.smtpUtf8 === true,
  );
}

function refusalOf(
  command: Buffer,
  syntaxes: Readonly<Record<string, Syntax>>,
  allowsUnicode: (line: string) => boolean,
): Refusal | null {
  if (!isUtf8(command)) return NOT_UTF8;
  const line = command.toString('utf8');
  for (const parameter of line
    .replace(/^[^:]*:/, '')
    .trim()
    .split(/\s+/)
    .slice(1)) {
    const [name = '', ...rest] = parameter.split('=');
    const syntax = syntaxes[name.toUpperCase()];
    // The listener refuses a parameter that it does not offer, by its name.
    if (syntax === undefined) continue;
    const isRight = syntax === null ? rest.length === 0 : syntax.test(rest.join('='));
    if (!isRight)
      return new Refusal(501, `5.5.4 The value of ${name.toUpperCase()} is not as its RFC has it`);
  }
  return /\P{ASCII}/u.test(line) && !allowsUnicode(line) ? NEEDS_SMTPUTF8 : null;
}

const NOT_UTF8 = new Refusal(501, '5.5.2 The command is not UTF-8');
// RFC 6531 3.5 has 550 or 553 for it.
const NEEDS_SMTPUTF8 = new Refusal(
  553,
  '5.6.7 An address beyond ASCII needs the parameter SMTPUTF8 at the MAIL command',
);
