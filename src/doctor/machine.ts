import { readFile, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { createSealer } from '../crypto/sealer.ts';
import { isItsKey } from '../db/canary.ts';
import type { Database } from '../db/database.ts';
import { anySealedKeys, signingKeys } from '../modules/domains/queries.ts';
import { ask, type NameServer } from '../transport/dns/exchange.ts';
import { type Diagnosis, fine, messageOf, skipped, wrong } from './diagnosis.ts';

const GIB = 1_073_741_824;
const DNS_PATIENCE_MS = 3_000;

/** Checks that every name server answers. One that does not costs each lookup a timeout. */
export async function diagnoseNameServers(
  servers: readonly NameServer[],
  areConfigured: boolean,
): Promise<readonly Diagnosis[]> {
  const advice = areConfigured
    ? 'Check DNS_SERVERS, and that a firewall lets this machine ask over UDP.'
    : 'Check /etc/resolv.conf, or set DNS_SERVERS.';
  if (servers.length === 0) return [wrong('Name server', 'None is configured.', 'Set DNS_SERVERS.')];
  return Promise.all(
    servers.map(async (server) => {
      const check = `Name server ${server.address}`;
      const begin = performance.now();
      try {
        await ask(server, { name: 'example.com', type: 'A' }, DNS_PATIENCE_MS);
        return fine(check, `Answers in ${Math.round(performance.now() - begin)} ms.`);
      } catch (error) {
        return wrong(check, `Port ${server.port}: ${messageOf(error)}`, advice);
      }
    }),
  );
}

/** The key comes from SECRET_KEY, or from a file in the data directory. */
interface KeySource {
  readonly secretKey: string | null;
  readonly dataDir: string;
}

/** What is left to do for domains after `posthorn secret-key replace`. */
export const ROTATE_KEYS =
  'The key was replaced: rotate the DKIM keys of each domain, with POST /v1/domains/{id}/rotate-dkim.';

const RIGHT_KEY = 'Set SECRET_KEY to the key that this database was used with.';

const keyFile = (dataDir: string): string => join(dataDir, 'secret-key');

/** Reads the key. Unlike a start, this never makes one. */
export const readSecretKey = async ({ secretKey, dataDir }: KeySource): Promise<string | null> =>
  secretKey ?? (await readFile(keyFile(dataDir), 'utf8').catch(() => null));

/** Checks that there is a key and that it opens what was sealed. */
export async function diagnoseSecretKey(source: KeySource, database: Database | null): Promise<Diagnosis> {
  const check = 'Secret key';
  const path = keyFile(source.dataDir);
  const key = await readSecretKey(source);
  const whence = source.secretKey === null ? path : 'SECRET_KEY';
  const keys = database && (await anySealedKeys(database));
  const isItsOwn = database && key !== null ? await isItsKey(database, createSealer(key)) : null;
  if (key === null)
    return keys
      ? wrong(
          check,
          `There is none at ${path}, though secrets have been sealed.`,
          'Restore the file, or set SECRET_KEY to what it held.',
        )
      : skipped(check, 'There is none yet; the first start makes one.');
  if (isItsOwn === false)
    return wrong(check, `From ${whence}; it does not open what was sealed at the first start.`, RIGHT_KEY);
  if (!keys && isItsOwn) return fine(check, `From ${whence}; it is the one of the database.`);
  if (!keys) return fine(check, `From ${whence}; nothing has been sealed that it could be tried on.`);
  try {
    signingKeys(createSealer(key), keys);
    return fine(check, `From ${whence}; it opens what was sealed.`);
  } catch {
    return wrong(
      check,
      `From ${whence}; it does not open what was sealed, so nothing can be signed.`,
      isItsOwn ? ROTATE_KEYS : RIGHT_KEY,
    );
  }
}

/** Checks that the data directory has room. */
export async function diagnoseDisk(dataDir: string): Promise<Diagnosis> {
  const check = 'Disk';
  try {
    const { bavail, bsize, blocks } = await statfs(dataDir);
    const free = bavail * bsize;
    const share = blocks === 0 ? 1 : bavail / blocks;
    const detail = `${(free / GIB).toFixed(1)} GiB (${Math.round(share * 100)} %) free in ${dataDir}.`;
    return free < GIB
      ? wrong(check, detail, 'Make room: a full disk stops everything that must be durable.')
      : fine(check, detail);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      return skipped(check, `${dataDir} does not exist yet; the first start makes it.`);
    return wrong(check, messageOf(error), 'See whether DATA_DIR is what you mean, and may be read.');
  }
}
