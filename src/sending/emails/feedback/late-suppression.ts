import type { EmailContext, ReportReceived } from '../../../../machines/email/context.ts';
import type { RecipientProgress } from '../../../../machines/email/recipient.ts';
import { isRepeated } from '../../../../machines/email/repetition.ts';
import { suppressionOfReport } from '../../../../machines/email/rules.ts';
import type { Signer } from '../../../platform/crypto/signer.ts';
import type { Database } from '../../../platform/db/database.ts';
import { isForgotten } from '../../../platform/text/forgotten.ts';
import { suppress, suppressForgotten, type ToSuppressForgotten } from '../../suppressions/commands.ts';

const ADDRESS = `select workspace_id, recipients[$2::integer + 1] as address from emails where id = $1`;

/**
 * Suppresses the recipient of a report that the email itself refused, such as a complaint about an email that
 * had failed in doubt. A repeated report changes nothing, even if a member has lifted the suppression since.
 * @throws UnavailableError
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
  // As an earlier version has left a forgotten person.
  if (!row || isForgotten(row.address)) return;
  const { workspace_id: workspaceId, address } = row;
  await suppress(database, { workspaceId, address, reason, emailId, at: event.at });
}

const CONTEXT = 'select context from emails_now where id = $1';

/**
 * Suppresses a forgotten recipient, whom the email itself no longer names. As above, a repeated report
 * changes nothing. @throws UnavailableError
 */
export async function suppressForgottenRecipient(
  { database, signer }: { readonly database: Database; readonly signer: Signer },
  emailId: string,
  person: Pick<ToSuppressForgotten, 'workspaceId' | 'hash'>,
  event: ReportReceived,
): Promise<void> {
  const [row] = await database.query<{ context: EmailContext }>(CONTEXT, [emailId]);
  if (!row) return;
  const { recipients, reason } = suppressionOfReport(row.context, event);
  const [recipient] = recipients;
  const known = recipient === undefined ? undefined : row.context.recipients[recipient];
  if (!known) return;
  const isOpen = known.status === 'sent' || known.status === 'delivered';
  if (isOpen ? isRepeated(known, event) : isRecorded(known, event.report)) return;
  await suppressForgotten({ database, signer }, { ...person, emailId, reason, at: event.at });
}

/**
 * True when the report was recorded before: an email refuses reports about recipients that have the message
 * only when they repeat.
 */
const isRecorded = (
  { status, reason, once }: RecipientProgress,
  { type }: ReportReceived['report'],
): boolean =>
  status === 'sent' ||
  status === 'delivered' ||
  (type === 'bounced' && reason === 'bounced') ||
  once?.includes(type) === true;
