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

/**
 * Ends a connection whose message has not arrived in time. The library's time-out counts from the last octet, so that one octet a minute
 * held a connection and its memory for days.
 */
export function endSlowData(connection: Connection, ms: number): void {
  const data = connection.handler_DATA.bind(connection);
  connection.handler_DATA = (command, done) => {
    data(command, done);
    const stream = connection._dataStream;
    if (!stream) return;
    const timer = setTimeout(() => {
      if (connection._dataStream !== stream || stream.writableEnded) return;
      // The reply ends the connection (RFC 5321 3.8).
      connection.send(421, '4.4.2 The message did not arrive in time');
    }, ms);
    timer.unref();
    stream.once('close', () => clearTimeout(timer));
  };
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
