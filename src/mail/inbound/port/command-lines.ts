import type { CommandParser, Connection } from '../connection.ts';

const LF = 0x0a;
const EMPTY = Buffer.alloc(0);

/**
 * Has a connection give its parser one line at a time while it reads commands. The library calls the parser within itself for what follows a
 * message, with a copy of the rest of the packet each time: 100 kB of chunks with one octet took 1 GB (measured).
 */
export function readLineByLine(connection: Connection): void {
  const create = connection._createParser.bind(connection);
  // STARTTLS makes a second one.
  connection._createParser = () => lineByLine(create());
  if (connection._parser) lineByLine(connection._parser);
}

function lineByLine(parser: CommandParser): CommandParser {
  const write = parser._write.bind(parser);
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
      write(part, encoding, (error) => {
        // In a turn of the event loop for each line the stack is empty, and others have theirs.
        if (!error && !parser.isClosed && rest.length > 0) return void setImmediate(step);
        isBusy = false;
        rest = EMPTY;
        next(error);
      });
    };
    step();
  };
  return parser;
}
