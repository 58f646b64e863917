import type { Connection, Handler } from '../connection.ts';

/** A path whose local part is in quotes (RFC 5321 4.1.2), behind a source route or none. Letters beyond ASCII are left to the library. */
const PATH =
  /^([^:]{1,20}:\s*<(?:@[^\s,:@"<>]+(?:,@[^\s,:@"<>]+)*:)?)"((?:[ !#-;=?-[\]-~]|\\[ -;=?-~]){0,64})"(@[^@\s"<>]+>(?:\s.*)?)$/s;
const BARE = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;

/**
 * Has MAIL and RCPT take local parts in quotes, such as `"john smith"@example.com`, which smtp-server refuses. Quotes that are not needed
 * are taken off, as RFC 5321 4.1.2 has senders do: both forms are one mailbox. `<` and `>` stay refused, since programs take a path for
 * ended there.
 */
export function takeQuotedLocalParts(connection: Connection): void {
  let quoted: string | null = null;
  const parse = connection._parseAddressCommand.bind(connection);
  connection._parseAddressCommand = (name, command) => {
    const parsed = parse(name, command);
    if (!parsed || quoted === null) return parsed;
    return { ...parsed, address: quoted + parsed.address.slice(parsed.address.lastIndexOf('@')) };
  };
  const taking =
    (handler: Handler): Handler =>
    (command, done) => {
      const [, before = '', content, behind = ''] = PATH.exec(command.toString('latin1')) ?? [];
      if (content === undefined) return handler(command, done);
      quoted = localPartOf(content);
      // The library reads the command before it returns.
      handler(Buffer.from(`${before}quoted${behind}`, 'latin1'), done);
      quoted = null;
    };
  connection.handler_MAIL = taking(connection.handler_MAIL.bind(connection));
  connection.handler_RCPT = taking(connection.handler_RCPT.bind(connection));
}

function localPartOf(content: string): string {
  const text = content.replace(/\\(.)/g, '$1');
  return BARE.test(text) ? text : `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** True of an address whose local part needs quotes. */
export const needsQuotes = (address: string): boolean => address.startsWith('"');
