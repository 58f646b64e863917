import type { EmailContext } from '../../../../machines/email/context.ts';
import { type ActorBatch, type Audit, auditActors } from '../../../engine/audit/actors.ts';
import type { QuotaLedger } from '../../../engine/audit/quotas.ts';
import { mayBeRemoved } from '../../../engine/audit/session.ts';
import type { AuditedActor } from '../../../engine/audit/snapshots.ts';
import { isStateOf } from '../../../engine/machine/kind.ts';
import { lowestIdAt } from '../../../platform/db/ids.ts';
import { emailKind } from '../kind.ts';
import { eventFaults, outcomeFaults } from './audit-recipients.ts';

const EVENTS = `select email_id as id, recipient, type, count(*)::integer as found
from email_events where email_id > $1 and email_id <= $2 group by email_id, recipient, type`;

interface EventRow {
  readonly id: string;
  readonly recipient: string;
  readonly type: string;
  readonly found: number;
}

/** Checks emails: what holds for every actor, their events, and what they took from the quotas. */
export async function auditEmails(audit: Audit, quotas: QuotaLedger): Promise<void> {
  await auditActors(audit, emailKind, lowestIdAt('em', audit.since), async (batch) => {
    await checkEvents(audit, batch);
    for (const { workspace_id, livemode, state, context } of batch.actors)
      if (isStateOf(emailKind, state))
        quotas.count({ workspaceId: workspace_id, livemode, state, context: context as EmailContext });
  });
}

async function checkEvents({ session, findings, removed }: Audit, batch: ActorBatch): Promise<void> {
  const rows = await session.query<EventRow>(EVENTS, [batch.after, batch.to]);
  const byEmail = Map.groupBy(rows, ({ id }) => id);
  findings.look('events', batch.actors.length);
  findings.look('outcomes', batch.actors.length);
  for (const actor of batch.actors) {
    const context = actor.context as EmailContext;
    const counts = countsOf(byEmail.get(actor.id) ?? []);
    byEmail.delete(actor.id);
    for (const what of eventFaults(context, addressesOf(actor), counts))
      findings.wrong('events', actor.id, what);
    // A state that the machine does not have was reported with its snapshot.
    if (isStateOf(emailKind, actor.state))
      for (const what of outcomeFaults(actor.state, context)) findings.wrong('outcomes', actor.id, what);
  }
  for (const id of byEmail.keys())
    if (!mayBeRemoved(id, removed)) findings.wrong('events', id, 'events without their email');
}

const addressesOf = (actor: AuditedActor): readonly string[] => actor.recipients as readonly string[];

function countsOf(rows: readonly EventRow[]): ReadonlyMap<string, Record<string, number>> {
  const counts = new Map<string, Record<string, number>>();
  for (const { recipient, type, found } of rows)
    counts.set(recipient, { ...counts.get(recipient), [type]: found });
  return counts;
}
