import { CONTACT_STATUSES } from '../../mail/list-files/consent-words.ts';

/**
 * SQL: the `id` of the contact with an address, if there is one. The first contact from the address on is
 * read, in the order of the whole key, which the index by address alone can give, and is the one if it has
 * the address. With three equations the primary key looks as good while the table is small, and by a plan
 * from then every address was looked for among all contacts of the workspace: 2.7 ms each with 2,600 of them.
 * A row as the upper bound ends no scan before PostgreSQL 18, unless its first column does: an address that
 * was not there was looked for among all contacts behind it, 10 ms with 12,000 of them. Where more than the
 * id is needed, the contact is joined behind a fence (`materialized`, `offset 0`), by its id and its address:
 * whichever index the planner takes then, it finds one row.
 */
export function contactOfSql({
  workspaceId,
  livemode,
  key,
}: Record<'workspaceId' | 'livemode' | 'key', string>): string {
  return `(select addressee.id from (
      select first.id, first.workspace_id, first.livemode, first.email_key from contacts first
      where (first.workspace_id, first.livemode, first.email_key) >= (${workspaceId} collate "C", ${livemode}, ${key} collate "C")
        and first.workspace_id <= ${workspaceId} collate "C"
      order by first.workspace_id, first.livemode, first.email_key limit 1
    ) addressee
    where addressee.workspace_id = ${workspaceId} and addressee.livemode = ${livemode} and addressee.email_key = ${key})`;
}

const LADDER = `array[${CONTACT_STATUSES.map((status) => `'${status}'`).join(', ')}]`;

/** SQL of how strong a status is; null for the reason of a suppression that is none, such as `manual`. */
export const strength = (status: string): string => `array_position(${LADDER}, ${status})`;

/**
 * SQL that takes live contacts down the ladder, never up. `gone` is a relation of workspace_id, email_key,
 * reason and at. Rows are locked in the order of their ids, as everywhere.
 */
export const contactsLeaveSql = (gone: string): string => `update contacts c
  set status = l.reason, unsubscribed_at = coalesce(c.unsubscribed_at, l.at), updated_at = l.at
  from (
    select c.workspace_id, c.id, c.email_key, g.reason, g.at from (select d.*, found.id as contact_id from (
      select distinct on (workspace_id, email_key) workspace_id, email_key, reason, at from ${gone} g
      order by workspace_id, email_key, ${strength('reason')} desc nulls last
    ) d cross join lateral ${contactOfSql({ workspaceId: 'd.workspace_id', livemode: 'true', key: 'd.email_key' })} found offset 0
    ) g join contacts c on c.workspace_id = g.workspace_id and c.livemode and c.id = g.contact_id and c.email_key = g.email_key
    where ${strength('g.reason')} > ${strength('c.status')}
    order by c.id for update of c
  ) l
  where c.workspace_id = l.workspace_id and c.livemode and c.id = l.id and c.email_key = l.email_key`;
