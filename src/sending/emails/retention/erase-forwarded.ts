import type { Database } from '../../../platform/db/database.ts';
import { FORGOTTEN_DOMAIN } from '../../../platform/text/forgotten.ts';
import { ANYONE } from '../accept/forward.ts';
import { erasedContent } from '../accept/packed-content.ts';

/** $1 the emails, $2 the workspace, $3 an empty content, $4 the sender in place of the author. */
const ERASE = `with forwarded as (
  update emails e set content = decode($3, 'base64'), subject = '', sender_key = $4,
    envelope = (e.envelope::jsonb - 'forwardedKeys' || jsonb_build_object('from', jsonb_build_object('address', $4::text), 'forwardedFrom', ''))::json
  where e.id = any($1::text[]) and e.workspace_id = $2 and e.envelope ->> 'forwardedFrom' is not null returning e.id
), copies as (
  delete from captured c where c.email_id = any($1::text[]) and c.workspace_id = $2
)
delete from email_bodies b where b.email_id = any($1::text[]) and b.workspace_id = $2`;

/**
 * SQL: true of an email (its row) that forwards a message that names a person, by a key. Those of an earlier
 * version know the sender alone.
 */
export const forwardsPersonSql = (email: string, key: string): string =>
  `${email}.envelope ->> 'forwardedFrom' is not null and (${key} in (${email}.sender_key, lower(${email}.envelope ->> 'forwardedFrom'))
    or (${email}.envelope -> 'forwardedKeys')::jsonb ?| array[${key}, '${ANYONE}'])`;

const NOBODY = `forgotten@${FORGOTTEN_DOMAIN}`;

/**
 * Takes the message out of emails that forward it: a person whom it names is forgotten. One that still has to
 * leave fails, as without content. @throws UnavailableError
 */
export async function eraseForwarded(
  database: Database,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<void> {
  if (emailIds.length > 0)
    await database.query(ERASE, [emailIds, workspaceId, await erasedContent(), NOBODY]);
}
