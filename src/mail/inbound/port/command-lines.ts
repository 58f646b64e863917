import type { Socket } from 'node:net';
import type { CommandParser, Connection } from '../connection.ts';

const LF = 0x0a;
const EMPTY = Buffer.alloc(0);

/**
 * The replies to these leave together with the next one, where octets of its command have come already; all
 * others leave at once (RFC 2920 3.2).
 */
const GROUPED = /^(?:MAIL|RCPT|RSET)\b/i;

/**
 * Has a connection give its parser one line at a time while it reads commands. The library calls the parser
 * within itself for what follows a message, with a copy of the rest of the packet each time: 100 kB of chunks
 * with one octet took 1 GB (measured).
 */
export function readLineByLine(connection: Connection): void {
  const create = connection._createParser.bind(connection);
  // STARTTLS makes a second one.
  connection._createParser = () => lineByLine(create(), connection);
  if (connection._parser) lineByLine(connection._parser, connection);
}

function lineByLine(parser: CommandParser, connection: Pick<Connection, '_socket'>): CommandParser {
  const write = parser._write.bind(parser);
  const replies = new HeldReplies(connection);
  let rest: Buffer = EMPTY;
  let isBusy = false;
  parser._write = (octets: Buffer, encoding, next) => {
    if (isBusy) {
      // In data mode the parser had all of the rest, and gives back what is no message.
      if (octets.length > 0) rest = octets;
      return next();
    }
    isBusy = true;
    rest = octets;
    const step = (): void => {
      const end = parser._dataMode ? rest.length : rest.indexOf(LF) + 1 || rest.length;
      const part = rest.subarray(0, end);
      rest = rest.subarray(end);
      const isGrouped = rest.length > 0 && GROUPED.test(part.toString('latin1', 0, 5));
      if (isGrouped) replies.hold();
      let isAwaited = true;
      write(part, encoding, (error) => {
        isAwaited = false;
        const goesOn = !error && !parser.isClosed && rest.length > 0;
        if (!goesOn || !isGrouped) replies.release();
        // In a turn of the event loop for each line the stack is empty, and others have theirs.
        if (goesOn) return void setImmediate(step);
        isBusy = false;
        rest = EMPTY;
        next(error);
      });
      // The replies before it do not wait for a command that takes its time.
      if (isAwaited) replies.release();
    };
    step();
  };
  return parser;
}

/**
 * Keeps replies in the socket, so that those to pipelined commands are one write: of TLS each write is a
 * record and a packet.
 */
class HeldReplies {
  #socket: Socket | null = null;

  constructor(private readonly connection: Pick<Connection, '_socket'>) {}

  hold(): void {
    if (this.#socket !== null) return;
    this.#socket = this.connection._socket;
    this.#socket.cork();
  }

  release(): void {
    this.#socket?.uncork();
    this.#socket = null;
  }
}
