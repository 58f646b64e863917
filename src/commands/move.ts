import { dump } from '../backup/dump.ts';
import type { Part } from '../backup/parts.ts';
import { Progress } from '../backup/progress.ts';
import { BackupRefused } from '../backup/refused.ts';
import { restore } from '../backup/restore.ts';
import { openSourceAlone } from '../backup/source.ts';
import { openBodyStoreAlone } from '../bodies/open.ts';
import type { Config } from '../config/config.ts';
import type { BulkSession } from '../db/bulk-session.ts';
import { DataDirectoryInUse } from '../db/directory-lock.ts';
import { auditReport } from './audit.ts';
import type { Terminal } from './terminal.ts';

/** The word for the database in the data directory. */
export const EMBEDDED = 'embedded';

const STOP_FIRST = 'Stop it first: what it accepts from now on would stay behind.';

const SERVED = `select count(*)::integer as instances from pg_stat_activity
where datname = current_database() and application_name like 'posthorn #%'`;

/**
 * `posthorn move --to <place>` puts everything in the configured database into another one, which must be empty: a server, or the
 * embedded one of the data directory. The one before stays as it is.
 */
export async function runMove(config: Config, to: string, terminal: Terminal): Promise<number> {
  const { dataDir } = config;
  const url = to === EMBEDDED ? null : to;
  if (url === config.databaseUrl) throw new BackupRefused('That is the database that is in use already.');
  if (url !== null && config.databaseUrl !== null)
    throw new BackupRefused('From one server to another: `posthorn backup`, then `posthorn restore`.');
  const source = await openSourceAlone(config).catch((error) => {
    throw error instanceof DataDirectoryInUse
      ? new BackupRefused(`A Posthorn serves from ${dataDir}. ${STOP_FIRST}`)
      : error;
  });
  const progress = new Progress('Moved', terminal);
  try {
    await refuseWhileServed(source.session);
    const { rows, tables, findings, auditMs } = await restore(
      { databaseUrl: url, dataDir },
      whileUnserved(dump(source.session, source.secretKey), source.session),
      {
        progress,
        warn: (sentence) => terminal.error(`${sentence}\n`),
        onHeader: async () => () => {},
        // They stay where they are.
        bodies: await openBodyStoreAlone(config),
        isMoved: true,
      },
    );
    terminal.out(`${rows.toLocaleString('en')} rows of ${tables} tables are moved.\n\n`);
    terminal.out(auditReport(findings, auditMs));
    terminal.out(`\n${nextSteps(config, url)}\n`);
    return findings.total === 0 ? 0 : 1;
  } finally {
    await source.close();
  }
}

/** Looks again behind the last row, before the other database commits: a supervisor may have started the service meanwhile. */
async function* whileUnserved(parts: AsyncIterable<Part>, session: BulkSession): AsyncGenerator<Part> {
  for await (const part of parts) {
    if (part.kind === 'trailer') await refuseWhileServed(session);
    yield part;
  }
}

/** An embedded database is locked for as long as it is moved. @throws BackupRefused */
async function refuseWhileServed(session: BulkSession): Promise<void> {
  if (session.kind === 'embedded') return;
  // A transaction goes on seeing the connections that it saw first.
  await session.query('select pg_stat_clear_snapshot()');
  const [row] = await session.query<{ instances: number }>(SERVED);
  if ((row?.instances ?? 0) > 0)
    throw new BackupRefused(`A Posthorn serves from this database. ${STOP_FIRST}`);
}

function nextSteps({ dataDir, secretKey }: Config, url: string | null): string {
  const before = url === null ? 'the one on the server' : `the one in ${dataDir}`;
  const steps =
    url === null
      ? ['Unset DATABASE_URL and start the service.']
      : [
          'Set DATABASE_URL to the new database and start the service.',
          ...(secretKey === null
            ? [`Set SECRET_KEY to what ${dataDir}/secret-key holds, or keep that file.`]
            : []),
        ];
  return [
    ...steps,
    `The database before, ${before}, is as it was: started again it would send once more what waits in it.`,
  ].join('\n');
}
