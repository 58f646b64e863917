import { deserialize, serialize } from 'bun:jsc';
import { join } from 'node:path';
import { UnavailableError } from '../errors/unavailable.ts';

// The values on the control socket are sent as they are, dates and bytes included. Both ends are the same
// version, and a process that may open the socket may read the files of the database as well.

/** The folder of the control socket, which only the owner of the data directory may enter. */
export const controlFolder = (dataDir: string): string => join(dataDir, 'control');

/** The control socket of the process that serves from a data directory. */
export const controlSocket = (dataDir: string): string => join(controlFolder(dataDir), 'socket');

/** The folder of copies of the database, each of which is removed by the command that asked for it. */
export const snapshotFolder = (dataDir: string): string => join(dataDir, 'snapshots');

/** A statement for the embedded database of another process. */
export interface StatementRequest {
  readonly call: 'query' | 'exec';
  readonly text: string;
  readonly parameters: readonly unknown[];
  readonly rowMode: 'array' | 'object' | null;
  /** The types whose values are answered as PostgreSQL writes them. */
  readonly unparsed: readonly number[];
}

/** The result of a request. */
export type Outcome<Value = unknown> = { readonly value: Value } | { readonly error: SentError };

interface SentError {
  readonly message: string;
  readonly members: Readonly<Record<string, unknown>>;
  readonly unavailable: boolean;
}

export const toBytes = (value: unknown): Uint8Array<ArrayBuffer> =>
  new Uint8Array(serialize(value) as unknown as ArrayBuffer);

export const fromBytes = <Value>(bytes: ArrayBuffer): Value => deserialize(bytes) as Value;

/** The members of an error that callers look at: the SQLSTATE, the constraint, the severity. */
export function sent(error: unknown): SentError {
  const { message } = error instanceof Error ? error : new Error(String(error));
  const members = Object.entries(error ?? {}).filter(([, value]) => typeof value === 'string');
  return { message, members: Object.fromEntries(members), unavailable: error instanceof UnavailableError };
}

/** The error that was sent. */
export const received = ({ message, members, unavailable }: SentError): Error =>
  unavailable ? new UnavailableError(message) : Object.assign(new Error(message), members);
