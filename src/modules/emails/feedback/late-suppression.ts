import type { EmailContext, ReportReceived } from '../../../../machines/email-context.ts';
import type { RecipientProgress } from '../../../../machines/email-recipient.ts';
import { suppressionOfReport } from '../../../../machines/email-rules.ts';
import type { Database } from '../../../db/database.ts';
import { suppress } from '../../suppressions/commands.ts';

const ADDRESS = `select workspace_id, recipients[$2::integer + 1] as address from emails where id = $1`;

/**
 * Keeps mail from whom a report is about that the email took no more: it had failed, say, since nobody knew that the message
 * had arrived. What was recorded before changes nothing, even if somebody has lifted the suppression since. @throws Unavailable
 */
export async function suppressRefused(
  database: Database,
  emailId: string,
  context: EmailContext,
  event: ReportReceived,
): Promise<void> {
  const { recipients, reason } = suppressionOfReport(context, event);
  const [recipient] = recipients;
  const known = recipient === undefined ? undefined : context.recipients[recipient];
  if (recipient === undefined || !known || isRecorded(known, event.report)) return;
  const [row] = await database.query<{ workspace_id: string; address: string }>(ADDRESS, [
    emailId,
    recipient,
  ]);
  if (!row) return;
  const { workspace_id: workspaceId, address } = row;
  await suppress(database, { workspaceId, address, reason, emailId, at: event.at });
}

/** Whoever is known to have the message is refused repetitions alone. */
const isRecorded = (
  { status, reason, once }: RecipientProgress,
  { type }: ReportReceived['report'],
): boolean =>
  status === 'sent' ||
  status === 'delivered' ||
  (type === 'bounced' && reason === 'bounced') ||
  once?.includes(type) === true;
