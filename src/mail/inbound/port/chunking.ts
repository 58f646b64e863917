import { PassThrough } from 'node:stream';
import type { SMTPServerDataStream } from 'smtp-server';
import {
  type ArrivalTime,
  type CommandParser,
  type Connection,
  endOf,
  endWhenSlow,
  type Handler,
} from '../connection.ts';
import { Refusal } from '../smtp-server.ts';

/** The answer of the handler of a message. */
interface Answer {
  readonly error: (Error & { readonly responseCode?: number }) | null;
  readonly message: string;
}

/** A message that comes in chunks. */
interface Transfer {
  readonly stream: PassThrough & SMTPServerDataStream;
  readonly answer: Promise<Answer>;
  /** Octets of all its chunks so far, of the last one as announced. */
  announced: number;
}

const SYNTAX = /^BDAT +(\d{1,15})(?: +(\S+))? *$/i;
/**
 * The library takes the name of a command up to a blank, and would read the octets of the chunk as commands.
 */
const MISNAMED = /^\s*BDAT\s/i;

const NO_SIZE = new Refusal(501, '5.5.4 Syntax: BDAT octets [LAST]');
const NO_LAST = new Refusal(501, '5.5.4 Syntax: BDAT octets [LAST]; what follows the number is not LAST');
const NO_USER = new Refusal(530, '5.7.0 Authentication is needed first');
const NO_RECIPIENT = new Refusal(503, '5.5.1 Send RCPT first');
const FAILED = new Refusal(503, '5.5.1 A chunk before this one was refused; send RSET');
const BEGUN = new Refusal(503, '5.5.1 The message comes in chunks already; go on with BDAT, or send RSET');
const TOO_LARGE = new Refusal(552, '5.3.4 The message is too large');
const TOO_MANY = new Refusal(421, '4.5.1 Too many chunks were refused');

/** As many as the library takes of commands that it does not know. */
const MOST_REFUSED = 10;

/** The limits of messages in chunks. */
interface ChunkLimits {
  /** Octets of a whole message. */
  readonly largest: number;
  /** Counts from the first chunk. */
  readonly arrival: ArrivalTime;
  /** True where clients sign in first. */
  readonly needsUser: boolean;
}

/**
 * Has a connection take messages in chunks (CHUNKING, RFC 3030), which smtp-server does not. The octets of a
 * chunk are read and dropped when the command is refused, since a client sends them without waiting for the
 * reply.
 */
export function takeChunks(connection: Connection, { largest, arrival, needsUser }: ChunkLimits): void {
  let transfer: Transfer | null = null;
  connection.isTakingChunks = () => transfer !== null;
  let isFailed = false;
  /** The octets of a refused chunk, which are dropped. */
  let dropped: Transfer['stream'] | null = null;

  const giveUp = () => {
    const { stream } = transfer ?? {};
    transfer = null;
    if (stream && !stream.writableEnded) stream.destroy(new Error('The client gave the message up.'));
  };
  const reset = connection._resetSession.bind(connection);
  connection._resetSession = () => {
    giveUp();
    isFailed = false;
    reset();
  };
  endOf(connection.session).addEventListener('abort', () => {
    giveUp();
    dropped?.destroy();
  });
  const unlessBegun =
    (handler: Handler): Handler =>
    (command, done) => {
      if (transfer === null && !isFailed) return handler(command, done);
      connection.send(BEGUN.responseCode, BEGUN.message);
      done();
    };
  connection.handler_RCPT = unlessBegun(connection.handler_RCPT.bind(connection));
  connection.handler_DATA = unlessBegun(connection.handler_DATA.bind(connection));

  /** A stream whose octets have to arrive in time. */
  const arriving = (): Transfer['stream'] => {
    const stream = Object.assign(new PassThrough(), { byteLength: 0, sizeExceeded: false });
    endWhenSlow(connection, stream, arrival);
    return stream;
  };

  const begin = (): Transfer => {
    const stream = arriving();
    const answer = new Promise<Answer>((resolve) =>
      connection._server.onData(stream, connection.session, (error, message = 'OK') =>
        resolve({ error: error ?? null, message: String(message) }),
      ),
    );
    return { stream, answer, announced: 0 };
  };

  const refusalOf = (octets: number, word: string | undefined): Refusal | null => {
    if (isFailed) return FAILED;
    if (word !== undefined && word.toUpperCase() !== 'LAST') return NO_LAST;
    if (connection.session.envelope.rcptTo.length === 0) return NO_RECIPIENT;
    return (transfer?.announced ?? 0) + octets > largest ? TOO_LARGE : null;
  };

  /** Ends the message, and answers as its handler does. */
  const conclude = async ({ stream, answer }: Transfer): Promise<void> => {
    connection._dataStream = stream;
    stream.end();
    const { error, message } = await answer;
    connection._dataStream = false;
    transfer = null;
    if (error) connection.send(error.responseCode ?? 450, error.message);
    else connection.send(250, message, 'DATA_OK');
    connection._transactionCounter++;
    connection._unrecognizedCommands = 0;
    connection._resetSession();
  };

  const end = ({ responseCode, message }: Refusal, done?: () => void): void => {
    connection.send(responseCode, message);
    connection.close();
    done?.();
  };

  const onCommand = connection._onCommand.bind(connection);
  connection._onCommand = (command, done) => {
    const line = command.toString('latin1');
    if (!MISNAMED.test(line) || line.toUpperCase().startsWith('BDAT ')) return onCommand(command, done);
    end(NO_SIZE, done);
  };

  connection.handler_BDAT = (command, done) => {
    const [, digits, word] = SYNTAX.exec(command.toString('latin1')) ?? [];
    const { _parser: parser } = connection;
    if (!parser) return done();
    // Without the number, or a client that is known, what follows is not to be read as commands.
    const isStranger = needsUser && !connection.session.user;
    const unreadable = digits === undefined ? NO_SIZE : isStranger ? NO_USER : null;
    if (unreadable !== null) return end(unreadable, done);
    const octets = Number(digits);
    // Nothing so large is read only to be dropped.
    if (octets > largest) return end(TOO_LARGE, done);
    const refusal = refusalOf(octets, word);
    if (refusal !== null && connection._unrecognizedCommands + 1 >= MOST_REFUSED)
      return connection.send(TOO_MANY.responseCode, TOO_MANY.message);
    if (refusal !== null) {
      // A message without one of its chunks must not be stored (RFC 3030 2).
      isFailed ||= connection.session.envelope.mailFrom !== false;
      giveUp();
      connection._unrecognizedCommands++;
    } else transfer ??= begin();
    if (transfer) transfer.announced += octets;
    const answer = (next: () => void) => {
      dropped?.destroy();
      if (refusal !== null) connection.send(refusal.responseCode, refusal.message);
      else if (transfer !== null && word !== undefined) return void conclude(transfer).then(next);
      else connection.send(250, `2.0.0 ${octets} octets received`);
      next();
    };
    if (octets === 0) return answer(done);
    const stream = transfer === null ? arriving().resume() : transfer.stream;
    dropped = transfer === null ? stream : null;
    readOctets(parser, octets, stream, answer);
    done();
  };
}

/** Gives the next octets of a connection to the stream, at its pace; then reads commands again. */
function readOctets(
  parser: CommandParser,
  octets: number,
  stream: Transfer['stream'],
  answer: (next: () => void) => void,
): void {
  let left = octets;
  parser._feedDataStream = (chunk, done) => {
    const taken = chunk.subarray(0, left);
    const rest = chunk.subarray(taken.length);
    left -= taken.length;
    stream.byteLength += taken.length;
    const next = () => {
      if (left > 0) return done();
      parser._dataMode = false;
      delete parser._feedDataStream;
      answer(() => parser._write(rest, 'buffer' as BufferEncoding, done));
    };
    if (!stream.writable || stream.write(taken)) return next();
    const resume = () => {
      stream.off('drain', resume).off('close', resume);
      next();
    };
    stream.once('drain', resume).once('close', resume);
  };
  parser._dataMode = true;
}
