import type { PassThrough, Writable } from 'node:stream';
import type { SMTPServerOptions, SMTPServerSession } from 'smtp-server';

/** A handler of smtp-server, called with the command line; `done` lets the next command come. */
export type Handler = (command: Buffer, done: () => void) => void;

/** The parser of a connection, which gives octets that follow a command to `_feedDataStream` while it is in data mode. */
export interface CommandParser extends Writable {
  _dataMode: boolean;
  _feedDataStream?: (octets: Buffer, done: (error?: Error | null) => void) => void;
}

/** The parts of a connection of smtp-server that it has no public way to extend. */
export interface Connection {
  readonly secure: boolean;
  readonly session: SMTPServerSession;
  readonly _parser: CommandParser | false | undefined;
  readonly _server: Pick<Required<SMTPServerOptions>, 'onData'>;
  /** The message that its handler still works on: while there is one, silence does not end the connection. */
  _dataStream: PassThrough | false;
  _transactionCounter: number;
  _unrecognizedCommands: number;
  handler_MAIL: Handler;
  handler_RCPT: Handler;
  handler_DATA: Handler;
  handler_BDAT?: Handler;
  _resetSession(): void;
  _onClose(): void;
  send(code: number, text?: string | readonly string[], context?: string | false): void;
  close(): void;
}

/** Aborts when the connection has ended. */
export function endOf(connection: Connection): AbortSignal {
  const end = new AbortController();
  const closed = connection._onClose.bind(connection);
  connection._onClose = () => {
    end.abort();
    closed();
  };
  return end.signal;
}
