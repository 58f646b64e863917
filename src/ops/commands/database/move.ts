import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { openBodyStoreAlone } from '../../../platform/bodies/open.ts';
import type { Config } from '../../../platform/config/config.ts';
import type { BulkSession } from '../../../platform/db/bulk-session.ts';
import { DataDirectoryInUse } from '../../../platform/db/embedded/directory-lock.ts';
import { serverUrls } from '../../../platform/db/server/server-urls.ts';
import { problemOfServers } from '../../../platform/db/server/url-parts.ts';
import { dump } from '../../backup/dump.ts';
import type { Part } from '../../backup/parts.ts';
import { Progress } from '../../backup/progress.ts';
import { BackupRefused } from '../../backup/refused.ts';
import { restore } from '../../backup/restore.ts';
import { placeSecretKey } from '../../backup/secret-key-file.ts';
import { openSourceAlone } from '../../backup/source.ts';
import type { Terminal } from '../terminal.ts';
import { EMBEDDED } from '../words.ts';
import { auditReport } from './audit.ts';

/** The destination of the data: a server, or the embedded database of a folder. */
interface Destination {
  readonly databaseUrl: string | null;
  /**
   * A folder that was named is absolute: the service may be started from another one, where the same words
   * mean an empty database.
   */
  readonly dataDir: string;
}

const destinationOf = (to: string, { dataDir }: Config): Destination => {
  if (to === EMBEDDED) return { databaseUrl: null, dataDir };
  const isFolder = to.startsWith(`${EMBEDDED}:`);
  return isFolder
    ? { databaseUrl: null, dataDir: resolve(to.slice(EMBEDDED.length + 1)) }
    : { databaseUrl: to, dataDir };
};

/** The folder itself, whichever of its names it was given. */
function folderOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

/**
 * A sentence about the URL of a server, as DATABASE_URL is held to it; it names no password. Null for one
 * that can be opened.
 */
function problemOfServer(url: string): string | null {
  const urls = serverUrls(url);
  if (urls === null)
    return 'it must be a URL such as postgres://user:password@host:5432/name, with % codes for all but letters and digits in the password (%23 for #)';
  return problemOfServers(urls);
}

const STOP_FIRST = 'Stop it first: mail that it accepts from now on would be left behind.';

const SERVED = `select count(*)::integer as instances from pg_stat_activity
where datname = current_database() and application_name like 'posthorn #%'`;

/**
 * `posthorn move --to <place>` puts everything in the configured database into another one, which must be
 * empty: a server, or an embedded one. The one before stays as it is.
 */
export async function runMove(config: Config, to: string, terminal: Terminal): Promise<number> {
  const { dataDir } = config;
  const destination = destinationOf(to, config);
  const problem = destination.databaseUrl === null ? null : problemOfServer(destination.databaseUrl);
  if (problem !== null) throw new BackupRefused(`The URL of --to does not fit: ${problem}.`);
  const isElsewhere = folderOf(destination.dataDir) !== folderOf(dataDir);
  if (destination.databaseUrl === config.databaseUrl && !isElsewhere)
    throw new BackupRefused('That database is already in use.');
  if (destination.databaseUrl !== null && config.databaseUrl !== null)
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
      destination,
      whileUnserved(dump(source.session, source.secretKey), source.session),
      {
        progress,
        warn: (sentence) => terminal.error(`${sentence}\n`),
        onHeader: async ({ secretKey }) =>
          isElsewhere ? placeSecretKey({ ...config, dataDir: destination.dataDir }, secretKey) : () => {},
        // They stay where they are.
        bodies: await openBodyStoreAlone(config),
        isMoved: true,
      },
    );
    terminal.out(`${rows.toLocaleString('en')} rows of ${tables} tables are moved.\n\n`);
    terminal.out(auditReport(findings, auditMs));
    terminal.out(`\n${nextSteps(config, destination, isElsewhere)}\n`);
    return findings.total === 0 ? 0 : 1;
  } finally {
    await source.close();
  }
}

/**
 * Looks again behind the last row, before the other database commits: a supervisor may have started the
 * service meanwhile.
 */
async function* whileUnserved(parts: AsyncIterable<Part>, session: BulkSession): AsyncGenerator<Part> {
  for await (const part of parts) {
    if (part.kind === 'trailer') await refuseWhileServed(session);
    yield part;
  }
}

/** An embedded database is locked for as long as it is moved. @throws BackupRefused */
async function refuseWhileServed(session: BulkSession): Promise<void> {
  if (session.kind === 'embedded') return;
  // A transaction keeps showing the connections that it saw first.
  await session.query('select pg_stat_clear_snapshot()');
  const [row] = await session.query<{ instances: number }>(SERVED);
  if ((row?.instances ?? 0) > 0)
    throw new BackupRefused(`A Posthorn serves from this database. ${STOP_FIRST}`);
}

function nextSteps(
  { dataDir, databaseUrl, secretKey }: Config,
  { databaseUrl: url, dataDir: folder }: Destination,
  isElsewhere: boolean,
): string {
  const settings = [
    ...(url === null && databaseUrl !== null ? ['unset DATABASE_URL'] : []),
    ...(url === null ? [] : ['set DATABASE_URL to the new database']),
    ...(isElsewhere ? [`set DATA_DIR to ${folder}`] : []),
  ].join(', ');
  const isKeyBehind = url !== null && secretKey === null;
  return [
    `${settings.slice(0, 1).toUpperCase()}${settings.slice(1)} and start the service.`,
    ...(isKeyBehind ? [`Set SECRET_KEY to the content of ${dataDir}/secret-key, or keep that file.`] : []),
    `The old database, ${databaseUrl === null ? `the one in ${dataDir}` : 'the one on the server'}, is unchanged: a service started on it would send its waiting mail once more.`,
  ].join('\n');
}
