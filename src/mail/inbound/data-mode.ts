import type { CommandParser, Connection } from './connection.ts';

const LF = 0x0a;
const CR = 0x0d;
const DOT = 0x2e;
const LINE_OF_DOT = Buffer.from('\n.');
const EMPTY = Buffer.alloc(0);

/**
 * Has a connection read messages after DATA in place of smtp-server, which takes a turn of the event loop for
 * each line that begins with two dots: 25 MiB of such lines took the thread that answers requests 32 s. The
 * octets are the same: a message ends at CRLF, dot, CRLF alone (RFC 5321 4.1.1.4), since another end would
 * let a sender hide a second message in the first.
 */
export function readDataAtOnce(connection: Connection): void {
  const data = connection.handler_DATA.bind(connection);
  connection.handler_DATA = (command, done) =>
    data(command, () => {
      const { _parser: parser } = connection;
      // `done` may go on with octets that came with the command.
      if (parser && parser._dataStream !== null) parser._feedDataStream = dataFeed(parser);
      done();
    });
}

/** Takes the octets behind DATA as they come. */
function dataFeed(parser: CommandParser): NonNullable<CommandParser['_feedDataStream']> {
  /** Octets whose meaning depends on those that follow. */
  let held: Buffer = EMPTY;
  let isStart = true;

  return (chunk, done) => {
    const octets = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    held = EMPTY;
    const stream = parser._dataStream;
    if (!stream) return done();
    let from = 0;
    if (isStart) {
      if (isBegun(octets, '.\r\n')) {
        held = octets;
        return done();
      }
      isStart = false;
      if (octets[0] === DOT && octets[1] === CR && octets[2] === LF) return end(EMPTY, octets.subarray(3));
      if (octets[0] === DOT && octets[1] === DOT) from = 1;
    }
    // Kept octets move to the front, so that thousands of dots cost one write.
    let kept = 0;
    const keep = (to: number): void => {
      if (from !== kept) octets.copyWithin(kept, from, to);
      kept += to - from;
      from = to;
    };
    for (let at = octets.indexOf(LINE_OF_DOT, from); at !== -1; at = octets.indexOf(LINE_OF_DOT, from)) {
      const next = octets[at + 2];
      const isCrlf = at > 0 && octets[at - 1] === CR;
      if (next === undefined || (next === CR && isCrlf && octets[at + 3] === undefined)) {
        const begin = isCrlf && at > from ? at - 1 : at;
        keep(begin);
        held = Buffer.from(octets.subarray(begin));
        return pass(octets.subarray(0, kept));
      }
      if (next === CR && isCrlf && octets[at + 3] === LF) {
        keep(at + 1);
        return end(octets.subarray(0, kept), octets.subarray(at + 4));
      }
      keep(at + 1);
      if (next === DOT) from += 1;
      else keep(at + 2);
    }
    const last = octets.length - 1;
    const isOpen = octets[last] === LF || octets[last] === CR;
    const begin = Math.max(
      from,
      !isOpen ? octets.length : octets[last] === LF && octets[last - 1] === CR ? last - 1 : last,
    );
    keep(begin);
    held = Buffer.from(octets.subarray(begin));
    pass(octets.subarray(0, kept));

    function pass(content: Buffer): void {
      if (content.length === 0 || !stream) return done();
      parser._countDataBytes(content.length);
      if (!stream.writable || stream.write(content) || stream.destroyed) return done();
      const resume = () => {
        stream.off('drain', resume).off('close', resume);
        done();
      };
      stream.once('drain', resume).once('close', resume);
    }

    function end(content: Buffer, rest: Buffer): void {
      delete parser._feedDataStream;
      parser._countDataBytes(content.length);
      parser._endDataMode(content.length > 0 && content, rest, done);
    }
  };
}

/** True where octets are the beginning of a text, and not yet all of it. */
const isBegun = (octets: Buffer, text: string): boolean =>
  octets.length < text.length && octets.equals(Buffer.from(text.slice(0, octets.length)));
