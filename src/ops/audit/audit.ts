import { type Audit, auditActors } from '../../engine/audit/actors.ts';
import { Findings } from '../../engine/audit/findings.ts';
import { QuotaLedger } from '../../engine/audit/quotas.ts';
import { readRemoved, type Session } from '../../engine/audit/session.ts';
import { auditBodies } from '../../engine/bodies/audit-bodies.ts';
import { BODY_HOLDERS, MODULE_AUDITS, MODULE_KINDS } from '../../modules.ts';
import type { BodyStore } from '../../platform/bodies/body-store.ts';
import { migrations } from '../../platform/db/migrations.ts';
import { auditMail, auditPositions, auditReplies, auditTransactions } from './leftovers.ts';

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
export async function auditLedger(
  session: Session,
  now: number,
  { since = 0, bodies = null }: { readonly since?: number; readonly bodies?: BodyStore | null } = {},
): Promise<Findings> {
  await checkVersion(session);
  const findings = new Findings();
  const [row] = await session.query<{ instances: number }>(SERVED);
  const served = (row?.instances ?? 0) > 0;
  if (session.isCopy)
    findings.note(
      'An instance serves this database, and the audit read a copy: it does not check for delays.',
    );
  else if (!served) findings.note('No instance is connected: due work waits for the next start.');
  const removed = await readRemoved(session);
  const audit: Audit = { session, findings, now, since, removed, served, bodies };
  const quotas = new QuotaLedger(removed, since);
  for (const { kind, audit: own } of MODULE_KINDS)
    if (own) await own(audit, quotas);
    else await auditActors(audit, kind, '');
  for (const own of MODULE_AUDITS) await own(audit);
  await auditBodies(audit, BODY_HOLDERS);
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
      'The database belongs to another version. Audit it with that version, or migrate it first.',
    );
}
