import type { Findings } from '../../engine/audit/findings.ts';
import { openSession } from '../../engine/audit/session.ts';
import type { BodyStore } from '../../platform/bodies/body-store.ts';
import type { DatabaseLocation } from '../../platform/db/open.ts';
import { readClock } from '../../platform/time/database-clock.ts';
import { auditLedger } from '../audit/audit.ts';
import { load } from './load.ts';
import { countRows, type Header, type Part } from './parts.ts';
import type { Progress } from './progress.ts';
import { openTarget } from './target.ts';

export interface RestoreOptions {
  readonly progress: Progress;
  /** A sentence for the operator. */
  readonly warn: (sentence: string) => void;
  /** Called before anything is written: it may still refuse. Answers how to take back what it has done. */
  readonly onHeader: (header: Header) => Promise<() => void>;
  /** The store of contents outside the database; null for the rows that refer to them. */
  readonly bodies: BodyStore | null;
  /** True where the database before is not to be used again. */
  readonly isMoved?: boolean;
}

/** The result of a restore, with the findings of the audit. */
export interface RestoreResult {
  readonly rows: number;
  readonly tables: number;
  readonly findings: Findings;
  /** The time that the audit took. */
  readonly auditMs: number;
}

/**
 * Loads a backup into the empty database that the settings name, audits it, and puts it into use. A failed
 * restore leaves nothing.
 * @throws BackupRefused, MigrationMismatch, DataDirectoryInUse, DataDirectoryUnusable, UnavailableError
 */
export async function restore(
  place: { readonly databaseUrl: string | null; readonly dataDir: string },
  parts: AsyncIterable<Part>,
  { progress, warn, onHeader, bodies, isMoved = false }: RestoreOptions,
): Promise<RestoreResult> {
  const target = openTarget(place);
  let takeBack = (): void => {};
  try {
    const { rows } = await target.fill((session) =>
      load(session, progress.count(parts), {
        isOurs: target.isOurs,
        onHeader: async (header) => {
          takeBack = await onHeader(header);
        },
        onRows: (added) => {
          target.seeRoom();
          progress.addRows(added);
        },
        warn,
        bodies,
        isMoved,
      }),
    );
    // Data committed on a server stays, whatever the audit finds, and could not be used without the key.
    if (!target.isOurs) takeBack = () => {};
    progress.end();
    const begin = performance.now();
    const findings = await audited(target.where, bodies);
    const auditMs = performance.now() - begin;
    await target.use();
    const counts = Object.values(rows);
    return { rows: counts.reduce((sum, count) => sum + count, 0), tables: counts.length, findings, auditMs };
  } catch (error) {
    progress.end();
    takeBack();
    throw error;
  } finally {
    target.close();
  }
}

async function audited(where: DatabaseLocation, bodies: BodyStore | null): Promise<Findings> {
  const session = await openSession(where);
  try {
    return await auditLedger(session, (await readClock(session)).at, { bodies });
  } finally {
    await session.close();
  }
}

/** Counts the rows of a backup on their way into a file. */
export async function* countingRows(parts: AsyncIterable<Part>, progress: Progress): AsyncGenerator<Part> {
  for await (const part of progress.count(parts)) {
    if (part.kind === 'rows') progress.addRows(countRows(part.rows));
    yield part;
  }
}
