import pino, { type DestinationStream, type Logger } from 'pino';
import { lineWriter } from './line-writer.ts';
import { readable } from './readable.ts';

export type { Logger };

/** The level and the form of the log. */
export interface LoggerOptions {
  readonly level: string;
  /** One readable line for a person; otherwise one JSON object a line for a machine. */
  readonly pretty: boolean;
  /** Standard output unless given. */
  readonly destination?: DestinationStream;
}

/**
 * The log. Never hand it bodies, addresses or keys: it has no filter that would save you. Lines are written
 * synchronously (a crash keeps the last one) and without worker threads, which an executable has not.
 */
export function createLogger({ level, pretty, destination }: LoggerOptions): Logger {
  const target = destination ?? lineWriter(1);
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    pretty ? { write: (line) => target.write(readable(line)) } : target,
  );
}
