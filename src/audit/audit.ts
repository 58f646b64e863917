import { migrations } from '../db/migrations.ts';
import type { Kind } from '../engine/kind.ts';
import { apiKeyKind } from '../modules/api-keys/kind.ts';
import { domainKind } from '../modules/domains/kind.ts';
import { emailKind } from '../modules/emails/kind.ts';
import { webhookDeliveryKind } from '../modules/webhooks/delivery-kind.ts';
import { webhookEndpointKind } from '../modules/webhooks/endpoint-kind.ts';
import { type Audit, auditActors } from './actors.ts';
import { auditDeliveries } from './deliveries.ts';
import { auditEmails } from './emails.ts';
import { Findings } from './findings.ts';
import { auditMail, auditPositions, auditReplies, auditTransactions } from './leftovers.ts';
import { QuotaLedger } from './quotas.ts';
import type { Session } from './session.ts';

/** These kinds need only the checks that hold for every actor. */
const PLAIN_KINDS: readonly Kind[] = [apiKeyKind, domainKind, webhookEndpointKind];

/** All kinds of the service; every one is audited. */
export const AUDITED_KINDS: readonly Kind[] = [emailKind, webhookDeliveryKind, ...PLAIN_KINDS];

/** The database is empty, or of another version. */
export class NotAuditable extends Error {
  override readonly name = 'NotAuditable';
}

const MIGRATIONS = `select to_regclass('posthorn_migrations') is not null as there`;
const SERVED = `select count(*)::integer as instances from pg_stat_activity
where datname = current_database() and application_name like 'posthorn #%'`;

/**
 * Checks the ledger of a database at one moment. It only reads, a batch at a time.
 * @throws NotAuditable when it is empty or of another version
 */
export async function auditLedger(session: Session, now: number, since = 0): Promise<Findings> {
  await checkVersion(session);
  const findings = new Findings();
  const [row] = await session.query<{ instances: number }>(SERVED);
  const served = (row?.instances ?? 0) > 0;
  if (!served) findings.note('No instance is connected: what is due now waits for the next start.');
  const audit: Audit = { session, findings, now, since, served };
  const quotas = new QuotaLedger(now, since);
  await auditEmails(audit, quotas);
  await auditDeliveries(audit);
  for (const kind of PLAIN_KINDS) await auditActors(audit, kind, '');
  await quotas.compare(session, findings);
  await auditReplies(audit);
  await auditMail(audit);
  await auditPositions(audit);
  await auditTransactions(audit);
  return findings;
}

async function checkVersion(session: Session): Promise<void> {
  const [table] = await session.query<{ there: boolean }>(MIGRATIONS);
  if (!table?.there) throw new NotAuditable('There is no Posthorn in this database.');
  const rows = await session.query<{ name: string }>('select name from posthorn_migrations order by name');
  const applied = rows.map(({ name }) => name).join();
  if (applied !== migrations.map(({ name }) => name).join())
    throw new NotAuditable(
      'The database is of another version. Audit it with that one, or migrate it first.',
    );
}
