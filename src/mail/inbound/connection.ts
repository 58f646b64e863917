import type { Socket } from 'node:net';
import type { PassThrough, Writable } from 'node:stream';
import type { SMTPServerOptions, SMTPServerSession } from 'smtp-server';

/** A handler of smtp-server, called with the command line; `done` lets the next command come. */
export type Handler = (command: Buffer, done: () => void) => void;

/**
 * The parser of a connection, which gives octets that follow a command to `_feedDataStream` while it is in
 * data mode.
 */
export interface CommandParser extends Writable {
  _dataMode: boolean;
  /** Drops what comes. */
  readonly isClosed: boolean;
  _feedDataStream?: (octets: Buffer, done: (error?: Error | null) => void) => void;
  /** The message that is being read after DATA. */
  readonly _dataStream: PassThrough | null;
  _countDataBytes(octets: number): void;
  _endDataMode(last: Buffer | false, rest: Buffer, done: (error?: Error | null) => void): void;
}

/** A socket that tells of its silence. */
interface SilenceTimer {
  setTimeout(ms: number, done: () => void): unknown;
}

/** The parts of a connection of smtp-server that it has no public way to extend. */
export interface Connection {
  readonly secure: boolean;
  readonly session: SMTPServerSession;
  readonly _parser: CommandParser | false | undefined;
  _createParser(): CommandParser;
  readonly _server: Pick<Required<SMTPServerOptions>, 'onData'>;
  /** True during the handshake of STARTTLS. */
  readonly _upgrading: boolean;
  /** True while a message comes in chunks (BDAT). */
  isTakingChunks?(): boolean;
  /** The message that its handler still works on: while there is one, silence does not end the connection. */
  _dataStream: (PassThrough & { readonly byteLength: number }) | false;
  _transactionCounter: number;
  _unrecognizedCommands: number;
  handler_MAIL: Handler;
  handler_RCPT: Handler;
  handler_DATA: Handler;
  handler_BDAT?: Handler;
  /** The address and the parameters of MAIL or RCPT; false where they cannot be read. */
  _parseAddressCommand(name: string, command: Buffer): { readonly address: string } | false;
  handler_STARTTLS: Handler;
  _socket: Socket;
  _resetSession(): void;
  _onClose(): void;
  /** Called with each line. */
  _onCommand(command: Buffer, done?: () => void): void;
  _onTimeout(): void;
  _armTimeout(socket?: SilenceTimer): void;
  send(code: number, text?: string | readonly string[], context?: string | false): void;
  close(): void;
}

/**
 * Milliseconds of silence after which a connection ends: before its client has signed in, and from then on.
 */
export interface Silence {
  readonly strangerMs: number;
  readonly clientMs: number;
}

/**
 * Has a connection wait longer for a client that has signed in, and is known, than for a stranger. What it
 * returns is called at the sign-in.
 */
export function awaitCommands(connection: Connection, { strangerMs, clientMs }: Silence): () => void {
  let isKnown = false;
  const most = () => (isKnown ? clientMs : strangerMs);
  // The library arms the socket again after STARTTLS, and while a handler works.
  connection._armTimeout = (socket = connection._socket) =>
    void socket.setTimeout(most(), () => connection._onTimeout());
  return () => {
    isKnown = true;
    connection._socket.setTimeout(most());
  };
}

/** The time in which a message has to arrive. */
export interface ArrivalTime {
  /** Milliseconds in which it arrives whole, or else so many octets more. */
  readonly everyMs: number;
  readonly octets: number;
  /** Milliseconds for the whole message, however steadily it arrives. */
  readonly mostMs: number;
}

/** Ends a connection whose message has not arrived in time after DATA. */
export function endSlowData(connection: Connection, time: ArrivalTime): void {
  const data = connection.handler_DATA.bind(connection);
  connection.handler_DATA = (command, done) => {
    data(command, done);
    if (connection._dataStream) endWhenSlow(connection, connection._dataStream, time);
  };
}

/**
 * Ends a connection when the message in `stream` does not arrive in time. The library's time-out counts from
 * the last octet, so that one octet a minute held a connection and its memory for days.
 */
export function endWhenSlow(
  connection: Pick<Connection, 'send'>,
  stream: PassThrough & { readonly byteLength: number },
  { everyMs, octets, mostMs }: ArrivalTime,
): void {
  let before = 0;
  let ms = 0;
  const timer = setInterval(() => {
    ms += everyMs;
    if (stream.writableEnded) return clearInterval(timer);
    const isSteady = stream.byteLength - before >= octets && ms < mostMs;
    before = stream.byteLength;
    if (isSteady) return;
    clearInterval(timer);
    // The reply ends the connection (RFC 5321 3.8).
    connection.send(421, '4.4.2 The message did not arrive in time');
  }, everyMs);
  timer.unref();
  stream.once('close', () => clearInterval(timer));
}

/** The parts of a connection that its end needs. */
type Ending = Pick<
  Connection,
  '_armTimeout' | '_dataStream' | '_onTimeout' | '_upgrading' | 'isTakingChunks' | 'send'
> & {
  readonly _socket: Pick<Socket, 'destroySoon'> & SilenceTimer;
};

/**
 * Ends a connection of a listener that closes: at once, or after the reply to the message that it takes (RFC
 * 5321 3.8). The library ends those that are silent ten seconds later, the time after which Docker kills: a
 * client that keeps its connection for later messages held each stop up that long. A program that waits for
 * nothing, such as one in PHP or Python between two messages, does not close its side, for which the library
 * waits five seconds. A client that stops sending in the middle of its message has as long as `silenceMs`.
 */
export function endForStop(connection: Ending, silenceMs: number): void {
  const send = connection.send.bind(connection);
  const end = (): void => send(421, 'The server is stopping, please come again later');
  if (connection._dataStream || connection.isTakingChunks?.()) {
    connection.send = (...reply) => {
      connection.send = send;
      send(...reply);
      if (reply[0] === 421) connection._socket.destroySoon();
      else end();
    };
    connection._armTimeout = (socket = connection._socket) =>
      void socket.setTimeout(silenceMs, () => connection._onTimeout());
    connection._armTimeout();
    return;
  }
  end();
  // A handshake reads the socket, and the library ends it.
  if (!connection._upgrading) connection._socket.destroySoon();
}

interface Ends {
  readonly closed: AbortSignal;
  readonly left: AbortSignal;
}

const ends = new WeakMap<SMTPServerSession, Ends>();

/** Has the session of a connection know its end. */
export function noteEnd(connection: Connection): void {
  const [closed, left] = [new AbortController(), new AbortController()];
  const close = connection._onClose.bind(connection);
  connection._onClose = () => {
    closed.abort();
    left.abort();
    close();
  };
  followParsers(connection, (parser) =>
    parser.on('pipe', (socket) => socket.once('end', () => left.abort())),
  );
  ends.set(connection.session, { closed: closed.signal, left: left.signal });
}

/** Aborts when the connection of a session has ended. */
export const endOf = (session: SMTPServerSession): AbortSignal => (ends.get(session) as Ends).closed;

/**
 * Aborts when the client has closed its side. It may still read what it asked for, but it is not waited with:
 * most such clients have hung up.
 */
export const leaveOf = (session: SMTPServerSession): AbortSignal => (ends.get(session) as Ends).left;

/** Calls `follow` with the parser of a connection, and with the one that STARTTLS makes. */
export function followParsers(connection: Connection, follow: (parser: CommandParser) => unknown): void {
  if (connection._parser) follow(connection._parser);
  const create = connection._createParser.bind(connection);
  connection._createParser = () => {
    const parser = create();
    follow(parser);
    return parser;
  };
}
