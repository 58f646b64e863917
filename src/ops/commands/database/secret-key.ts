import type { Config } from '../../../platform/config/config.ts';
import { resolveSecretKeys } from '../../../platform/config/secret-key.ts';
import { createSealer } from '../../../platform/crypto/sealer.ts';
import { bindAnew, isItsKey } from '../../../platform/db/canary.ts';
import type { Database } from '../../../platform/db/database.ts';
import { DataDirectoryInUse } from '../../../platform/db/embedded/directory-lock.ts';
import { migrate } from '../../../platform/db/migrate.ts';
import { openDatabase } from '../../../platform/db/open.ts';
import type { Terminal } from '../terminal.ts';

/**
 * The data that the key of a database seals or hashes: a query that counts it, and the loss when the key is
 * lost.
 */
const LOST: readonly { readonly count: string; readonly what: string; readonly remedy: string }[] = [
  {
    count: `suppressions where address is null and starts_with(address_key, 'forgotten:')`,
    what: 'forgotten people who had unsubscribed',
    remedy: 'they are no longer recognised: an import, or a client that adds them, may mail them again',
  },
  {
    count: 'forgotten_leavings',
    what: 'audiences that forgotten people had left',
    remedy: 'these people are no longer recognised: who adds them to the audience again may mail them again',
  },
  {
    count: 'erasures',
    what: 'forgotten people whose emails still name them',
    remedy: 'their addresses stay in those emails until retention removes the emails',
  },
  {
    count: 'accounts where totp is not null',
    what: 'authenticators',
    remedy:
      'their codes are refused: sign in with a recovery code or a passkey, or `posthorn members reset-password --without-second-factor`',
  },
  {
    count: `domain_keys where stage <> 'retired'`,
    what: 'DKIM keys',
    remedy:
      'rotate the DKIM keys of each domain with POST /v1/domains/{id}/rotate-dkim; until then its mail is put off',
  },
  {
    count: 'webhook_secrets',
    what: 'secrets of webhooks',
    remedy:
      'POST /v1/webhooks/{id}/rotate-secret for each; until then its deliveries fail, and ten in a row disable it',
  },
  {
    count: 'flow_webhook_secrets',
    what: 'secrets of webhook steps in flows',
    remedy: 'rotate each with POST /v1/flows/webhook-secret; until then these steps fail',
  },
  {
    count: 'acme_certificates where certificate is not null',
    what: 'certificates for HTTPS',
    remedy: 'the service orders new ones',
  },
  {
    count: 'service_emails',
    what: 'waiting emails of the service',
    remedy: 'they are not sent: invite again, ask for another new password',
  },
  {
    count: 'ses_removals',
    what: 'removed suppressions that Amazon SES may still have',
    remedy: 'remove them there by hand',
  },
];

const STOP_FIRST =
  'A Posthorn serves from this database. Stop it first: secrets that it seals from now on could not be opened with this key.\n';

const NOT_LOST =
  'The key of this database is not lost: it is SECRET_KEY_PREVIOUS, or the one beside `secret-key` in DATA_DIR. Nothing was changed. ' +
  '`posthorn secret-key rotate` changes the database to the new key, with all sealed secrets.\n';

/** Instances on a server; the embedded database has one at most, which locks its folder. */
const OTHERS = `select count(*)::integer as instances from pg_stat_activity where datname = current_database()
and application_name like 'posthorn #%' and application_name <> current_setting('application_name')`;

/**
 * `posthorn secret-key replace` helps an operator who has lost the key: the database continues with
 * SECRET_KEY, or with a new one in the data directory. No secret of the lost key is removed, so that a key
 * that is found again can be put back.
 */
export async function replaceSecretKey(config: Config, terminal: Terminal): Promise<number> {
  const { databaseUrl: url, dataDir } = config;
  const database = await openDatabase({ url, dataDir: url === null ? dataDir : null }).catch((error) => {
    if (error instanceof DataDirectoryInUse) return null;
    throw error;
  });
  try {
    const [others] = (await database?.query<{ instances: number }>(OTHERS)) ?? [];
    if (!database || (others?.instances ?? 0) > 0) {
      terminal.error(STOP_FIRST);
      return 1;
    }
    await migrate(database);
    const [key, ...further] = await resolveSecretKeys(config);
    if (await isItsKey(database, createSealer(key))) {
      terminal.out('This is already the key of the database; nothing was changed.\n');
      return 0;
    }
    for (const each of further)
      if (await isItsKey(database, createSealer(each))) {
        terminal.error(NOT_LOST);
        return 1;
      }
    await bindAnew(database, key);
    terminal.out(
      [
        'The database now uses this key. Everything sealed, hashed or signed with the previous key is lost:',
        ...(await lostIn(database)),
        '  links in earlier emails (to unsubscribe, to preferences, to confirm, tracked ones): they are refused',
        '  bounces and complaints about earlier emails that come by mail: they are not recognised',
        'Sessions, API keys, passwords, passkeys and recovery codes remain valid.',
        'If you find the previous key again, set it and run this command once more. Its secrets are valid again then, and those since are lost.',
        '',
      ].join('\n'),
    );
    return 0;
  } finally {
    await database?.close();
  }
}

async function lostIn(database: Database): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const { count, what, remedy } of LOST) {
    const [row] = await database.query<{ n: number }>(`select count(*)::integer as n from ${count}`);
    if (row && row.n > 0) lines.push(`  ${row.n.toLocaleString('en')} ${what}: ${remedy}`);
  }
  return lines;
}
