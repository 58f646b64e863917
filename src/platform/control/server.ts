import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import type { PGlite, QueryOptions } from '@electric-sql/pglite';
import { closeServer } from '../async/close-server.ts';
import type { ServedKeys } from '../config/served-keys.ts';
import { VERSION } from '../config/version.ts';
import type { Engine } from '../db/embedded/guarded-engine.ts';
import {
  controlFolder,
  controlSocket,
  fromBytes,
  type Outcome,
  type StatementRequest,
  sent,
  toBytes,
} from './protocol.ts';
import { removeLeftCopies, Snapshots } from './snapshots.ts';

/** The control socket of this process. */
export interface ControlServer {
  /** Refuses new requests, and waits for the statements that are under way. */
  close(): Promise<void>;
}

/**
 * Lets commands of the same machine and user work on the embedded database while this process serves from it:
 * each of their statements runs here, between those of the service. A command that goes away leaves nothing
 * behind, since each statement is a separate transaction. The socket lies in a folder that only the owner may
 * enter.
 */
export function serveControl(
  engine: Engine,
  dataDir: string,
  keys: Pick<ServedKeys, 'refresh' | 'inUse'>,
): ControlServer {
  const folder = controlFolder(dataDir);
  // Removes the files of a process that was killed: this one holds the lock of the data directory.
  rmSync(folder, { recursive: true, force: true });
  removeLeftCopies(dataDir);
  mkdirSync(folder, { mode: 0o700 });
  chmodSync(folder, 0o700);
  const path = controlSocket(dataDir);
  const snapshots = new Snapshots(engine, dataDir);
  const server = Bun.serve({
    unix: path,
    development: false,
    routes: {
      '/version': { GET: () => new Response(VERSION) },
      '/statement': {
        POST: async (request) => answered(run(engine, fromBytes(await request.arrayBuffer()))),
      },
      '/keys': { POST: () => answered(keys.refresh().then(() => keys.inUse)) },
      '/snapshot': {
        POST(request, server) {
          // A copy of a large database takes minutes, in which nothing is sent.
          server.timeout(request, 0);
          return answered(snapshots.take(request.signal));
        },
      },
    },
    fetch: () => new Response(null, { status: 404 }),
  });
  chmodSync(path, 0o600);
  return {
    async close() {
      snapshots.stop();
      await closeServer(server);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function answered(work: Promise<unknown>): Promise<Response> {
  const outcome: Outcome = await work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error: sent(error) }),
  );
  return new Response(toBytes(outcome));
}

/**
 * The one connection of the database is shared: a transaction of a client would include the service's writes
 * meanwhile.
 */
const OPENS_TRANSACTION = /^\s*(?:begin|start)\b/i;

async function run(engine: Engine, request: StatementRequest): Promise<unknown> {
  const { call, text, parameters, rowMode, unparsed } = request;
  if (OPENS_TRANSACTION.test(text))
    throw new Error('A transaction cannot be opened through the control socket.');
  if (call === 'exec') {
    await engine.exec(text);
    return null;
  }
  const options: QueryOptions = {
    ...(rowMode && { rowMode }),
    ...(unparsed.length > 0 && { parsers: Object.fromEntries(unparsed.map((type) => [type, asWritten])) }),
  };
  const { rows, affectedRows } = await (engine as PGlite).query(text, [...parameters], options);
  return { rows, affectedRows, fields: [] };
}

const asWritten = (value: string): string => value;
