import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { QueryOptions } from '@electric-sql/pglite';
import type { KeysInUse } from '../config/served-keys.ts';
import { VERSION } from '../config/version.ts';
import type { Database } from '../db/database.ts';
import { DataDirectoryInUse } from '../db/embedded/directory-lock.ts';
import { EmbeddedDatabase } from '../db/embedded/embedded.ts';
import type { Engine } from '../db/embedded/guarded-engine.ts';
import { type DatabaseLocation, openDatabase } from '../db/open.ts';
import { UnavailableError } from '../errors/unavailable.ts';
import {
  controlSocket,
  fromBytes,
  type Outcome,
  received,
  type StatementRequest,
  snapshotFolder,
  toBytes,
} from './protocol.ts';

/** The service that has the embedded database is another version than the command. */
export class OtherVersion extends Error {
  override readonly name = 'OtherVersion';

  constructor(serving: string) {
    super(
      `The running service is Posthorn ${serving}, and this command is ${VERSION}. Use the executable of the service, or restart the service with this one.`,
    );
  }
}

/**
 * Opens a database for a command: itself, or, when a service has the embedded one, through the control socket
 * of that service.
 * @throws DataDirectoryInUse when it has none, OtherVersion
 */
export async function openForCommand(where: DatabaseLocation): Promise<Database> {
  try {
    return await openDatabase(where);
  } catch (error) {
    if (!(error instanceof DataDirectoryInUse)) throw error;
    const socket = await findSocket(error);
    return new EmbeddedDatabase(remoteEngine(socket), null);
  }
}

/** A database that was opened to be read as a whole; `remove` takes away the copy, where it is one. */
interface OpenedWhole<T> {
  readonly database: T;
  /** True for a copy, which a service made that has the database itself. */
  readonly isCopy: boolean;
  remove(): void;
}

/**
 * Opens a database to read all of it: itself, or, when a service has the embedded one, a copy that the
 * service makes of it, as it was at one moment. @throws DataDirectoryInUse, OtherVersion, UnavailableError
 */
export async function openOrCopy<T>(
  where: DatabaseLocation,
  open: (where: DatabaseLocation) => Promise<T>,
): Promise<OpenedWhole<T>> {
  try {
    return { database: await open(where), isCopy: false, remove() {} };
  } catch (error) {
    if (!(error instanceof DataDirectoryInUse)) throw error;
    const copy = await copyOf(error);
    const remove = () => rmSync(copy, { recursive: true, force: true });
    try {
      const database = await open({ url: null, dataDir: copy, isTemporary: true, isCopy: true });
      return { database, isCopy: true, remove };
    } catch (failure) {
      remove();
      throw failure;
    }
  }
}

/**
 * Makes the service that uses a data directory look at its secret keys again, and returns them; null when
 * none does.
 * @throws OtherVersion, UnavailableError
 */
export async function keysInUse(dataDir: string): Promise<KeysInUse | null> {
  let socket: string;
  try {
    socket = await findSocket(new DataDirectoryInUse(dataDir));
  } catch (error) {
    if (error instanceof DataDirectoryInUse) return null;
    throw error;
  }
  return await ask<KeysInUse>(socket, '/keys', null);
}

const COPY_NAME = /^[0-9a-f]{16}$/;

/**
 * Makes the service copy the database. It answers a name and no path: the service may see its data directory
 * elsewhere, as in a container, or below another working directory, and the later removal stays within the
 * folder of copies for any answer.
 */
async function copyOf(inUse: DataDirectoryInUse): Promise<string> {
  const name = await ask<unknown>(await findSocket(inUse), '/snapshot', null);
  if (typeof name !== 'string' || !COPY_NAME.test(name))
    throw new Error('The service did not answer with the name of a copy.');
  return join(snapshotFolder(inUse.dataDir), name);
}

/**
 * The socket of the service that uses a data directory. @throws the same error when it has none, OtherVersion
 */
async function findSocket(inUse: DataDirectoryInUse): Promise<string> {
  const unix = controlSocket(inUse.dataDir);
  // A kept connection would answer for a socket that is gone.
  const version = await fetch('http://posthorn/version', { unix, keepalive: false })
    .then((response) => response.text())
    .catch(() => null);
  if (version === null) throw inUse;
  if (version !== VERSION) throw new OtherVersion(version);
  return unix;
}

/** Hands each statement to the process that has the database. */
function remoteEngine(socket: string): Engine {
  const run = <Value>(request: StatementRequest): Promise<Value> => ask(socket, '/statement', request);
  return {
    query: (text: string, parameters: unknown[] = [], options: QueryOptions = {}) =>
      run({
        call: 'query',
        text,
        parameters,
        rowMode: options.rowMode ?? null,
        unparsed: Object.keys(options.parsers ?? {}).map(Number),
      }),
    exec: (text: string) => run({ call: 'exec', text, parameters: [], rowMode: null, unparsed: [] }),
    async close() {},
  } as Engine;
}

async function ask<Value>(unix: string, path: string, message: unknown): Promise<Value> {
  let bytes: ArrayBuffer;
  try {
    const response = await fetch(`http://posthorn${path}`, {
      unix,
      method: 'POST',
      body: toBytes(message),
      // A copy of a large database takes minutes; and a kept connection may be one that the service has just
      // closed.
      timeout: false,
      keepalive: false,
    } as RequestInit);
    bytes = await response.arrayBuffer();
  } catch (error) {
    throw new UnavailableError('The service stopped before it answered. Try again.', 'unknown', 1, {
      cause: error,
    });
  }
  const outcome = fromBytes<Outcome<Value>>(bytes);
  if ('error' in outcome) throw received(outcome.error);
  return outcome.value;
}
