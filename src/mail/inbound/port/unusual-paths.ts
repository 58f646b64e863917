import { domainToASCII } from 'node:url';
import { unquotedLocal } from '../../../platform/text/local-part.ts';
import type { Connection, Handler } from '../connection.ts';

/** A path, behind a source route or none. Letters beyond ASCII, and dots alone, are left to the library. */
const PATH =
  /^([^:]{1,20}:\s*<(?:@[^\s,:@"<>]+(?:,@[^\s,:@"<>]+)*:)?)("(?:[ !#-;=?-[\]-~]|\\[ -;=?-~]){0,64}"|(?!\.+@)[\w!#$%&'*+/=?^`{|}~.-]{1,64})@([\w.-]+|\[[^\s[\]<>]+\])(>(?:\s.*)?)$/s;
const BARE = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
/** Quotation marks that are not those of one quoted local part; the library takes them for letters. */
const HALF_QUOTED = /^(?!"(?:[^"\\]|\\.)*"@[^"]*$).*"/s;
/** A path without its angle brackets. */
const UNBRACKETED = /^([^:<]{1,20}:)\s*([^\s<>]+@[^\s<>]+)(\s.*)?$/s;
const IS_ASCII = /^\p{ASCII}*$/u;
/** In the place of what smtp-server refuses. */
const LOCAL_PART = 'unusual';

/**
 * Has MAIL and RCPT take paths of real mail that smtp-server refuses: local parts in quotes, such as `"john
 * smith"@example.com` (RFC 5321 4.1.2); those with dots at the end or next to each other, which Japanese
 * networks gave out; hosts with an underscore, whose cron writes; and paths without angle brackets, which
 * disk controllers, printers and old programs write. Postfix and Exim take them. Quotes that are not needed
 * are taken off, as RFC 5321 4.1.2 has senders do: both forms are one mailbox. `<` and `>` stay refused in
 * quotes, since programs take a path for ended there. Hosts are kept in ASCII.
 */
export function takeUnusualPaths(connection: Connection): void {
  let unusual: { readonly local: string; readonly host: string | null } | null = null;
  const parse = connection._parseAddressCommand.bind(connection);
  connection._parseAddressCommand = (name, command) => {
    const parsed = parse(name, command);
    if (!parsed) return false;
    if (unusual === null && HALF_QUOTED.test(parsed.address)) return false;
    const at = parsed.address.lastIndexOf('@');
    // The null sender, and the bare name of the postmaster.
    if (at === -1) return parsed;
    const local = unusual?.local ?? parsed.address.slice(0, at);
    const host = unusual?.host ?? asciiOf(parsed.address.slice(at + 1));
    return { ...parsed, address: `${local}@${host}` };
  };
  const taking =
    (handler: Handler): Handler =>
    (line, done) => {
      const command = bracketed(line);
      const [, before = '', written = '', host = '', behind = ''] =
        PATH.exec(command.toString('latin1')) ?? [];
      const hasUnderscore = host.includes('_');
      if (written === '' || (BARE.test(written) && !hasUnderscore)) return handler(command, done);
      unusual = { local: localPartOf(written), host: hasUnderscore ? host : null };
      const usual = `${before}${LOCAL_PART}@${host.replaceAll('_', 'u')}${behind}`;
      // The library reads the command before it returns.
      handler(Buffer.from(usual, 'latin1'), done);
      unusual = null;
    };
  connection.handler_MAIL = taking(connection.handler_MAIL.bind(connection));
  connection.handler_RCPT = taking(connection.handler_RCPT.bind(connection));
}

/**
 * The library writes an internationalised host in Unicode, where a spam filter needs it in ASCII: it looks
 * SPF up (RFC 7208 4.3).
 */
const asciiOf = (host: string): string => (IS_ASCII.test(host) ? host : domainToASCII(host) || host);

function bracketed(line: Buffer): Buffer {
  const [, verb, path, parameters = ''] = UNBRACKETED.exec(line.toString('latin1')) ?? [];
  return verb === undefined ? line : Buffer.from(`${verb}<${path}>${parameters}`, 'latin1');
}

function localPartOf(written: string): string {
  const text = unquotedLocal(written);
  if (text === written) return written;
  return BARE.test(text) ? text : `"${text.replace(/["\\]/g, '\\$&')}"`;
}
