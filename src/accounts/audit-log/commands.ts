import { and, eq } from 'drizzle-orm';
import { untilDone } from '../../engine/duties/batches.ts';
import type { Duty, DutyDeps } from '../../engine/duties/duty.ts';
import type { Principal } from '../../http/auth/principal.ts';
import type { Act } from '../../http/request/act.ts';
import type { Database } from '../../platform/db/database.ts';
import { lowestIdAt, mintId } from '../../platform/db/ids.ts';
import { members } from '../../platform/db/schema/accounts.ts';

/** The actor of an act, as the log stores it. */
interface Actor {
  readonly type: 'member' | 'apiKey' | 'operator' | 'system';
  readonly id: string | null;
}

const ACTOR_TYPES = { key: 'apiKey', member: 'member', operatorLink: 'operator' } as const satisfies Record<
  Principal['kind'],
  Actor['type']
>;

/** The current name is stored, because members and keys may be removed while their acts remain. */
const RECORD = `insert into audit_log (id, workspace_id, actor_type, actor_id, actor_name, action, target_id, details,
  request_id)
select $1, $2, $3, $4, coalesce(
  (select a.name from members m join accounts a on a.id = m.account_id where m.id = $4),
  (select k.name from api_keys k where k.id = $4)
), $5, $6, $7::text::json, $8`;

/** Writes an act of a caller to the log of its workspace. @throws UnavailableError */
export const actRecorder =
  (database: Database) =>
  ({ caller, ...act }: Act): Promise<void> =>
    record(database, caller.workspaceId, { type: ACTOR_TYPES[caller.kind], id: caller.id }, act);

/** Writes an act of the operator to the log of a workspace. @throws UnavailableError */
export const recordOperator = (
  database: Database,
  workspaceId: string,
  act: Omit<Act, 'caller' | 'requestId'>,
): Promise<void> =>
  record(database, workspaceId, { type: 'operator', id: null }, { ...act, requestId: null });

/** Writes an act of a person to the log of a workspace. @throws UnavailableError */
export async function recordPerson(
  database: Database,
  workspaceId: string,
  accountId: string,
  act: Omit<Act, 'caller'>,
): Promise<void> {
  const [member] = await database.read((orm) =>
    orm
      .select({ id: members.id })
      .from(members)
      .where(and(eq(members.workspaceId, workspaceId), eq(members.accountId, accountId))),
  );
  if (member) await record(database, workspaceId, { type: 'member', id: member.id }, act);
}

async function record(
  database: Database,
  workspaceId: string,
  { type, id }: Actor,
  { action, targetId, details, now, requestId }: Omit<Act, 'caller'>,
): Promise<void> {
  await database.query(RECORD, [
    mintId('log', now),
    workspaceId,
    type,
    id,
    action,
    targetId,
    JSON.stringify(details),
    requestId,
  ]);
}

/** The days for which acts are kept. */
const KEPT_DAYS = 365;
const BATCH = 5_000;

const PRUNE = `delete from audit_log where id in (
  select id from audit_log where id < $1 order by id limit ${BATCH} for update skip locked
) returning 1 as one`;

/** Removes acts older than a year. */
export const auditLogPruner = ({ database, clock }: DutyDeps): Duty => ({
  name: 'auditLogPruner',
  pattern: '50 15 3 * * *',
  goesByAge: true,
  async run(stop) {
    await untilDone(database, PRUNE, [lowestIdAt('log', clock.now() - KEPT_DAYS * 86_400_000)], BATCH, stop);
  },
});
