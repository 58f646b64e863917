import { hasTraitSql } from '../../../../machines/email/event-traits.ts';
import type { FollowingWrite } from '../../../engine/machine/kind.ts';
import { contactOfSql, contactsLeaveSql } from '../../../sending/suppressions/queries.ts';
import { hasContactsSql } from '../queries.ts';

/**
 * The suppressed addresses, in a separate query: where emails are on several nodes, no query that reads them
 * may lock contacts.
 */
const gone: FollowingWrite = {
  fact: 'suppressed',
  name: 'contacts_gone',
  isMaterialized: true,
  sql: (source) =>
    `select workspace_id, recipient_keys[recipient + 1] as email_key, reason, at from ${source} s`,
};

/**
 * The status of a contact follows live mail in the commit that suppresses the address: with a message from
 * one to the other, it could be seen to lag, and a restored dump could lack it. Simulated mail suppresses
 * nothing, and so changes no status.
 */
const statuses: FollowingWrite = {
  fact: 'suppressed',
  name: 'contacts_left',
  sql: () => contactsLeaveSql(gone.name),
};

/**
 * The commit that records the events of emails adds them to the activity of their recipients. A recipient
 * that is no contact costs a look into an index. An entry has the id of its event, so that it is stored once.
 */
const activity: FollowingWrite = {
  fact: 'recorded',
  name: 'contacts_active',
  listens: hasContactsSql,
  sql: (
    source,
  ) => `insert into contact_activity (contact_id, id, livemode, type, at, email_id, campaign_id, by_machine, data, position)
    select c.id, 'act_' || substr(s.id, 5), s.livemode, s.type, s.occurred_at, s.actor, s.campaign_id,
      ${hasTraitSql('s.type', 'isVisit')} and s.data ->> 'via' is not null,
      case when ${hasTraitSql('s.type', 'hasActivityData')} then s.data end, (select event_position())
    from ${source} s cross join lateral ${contactOfSql({
      workspaceId: 's.workspace_id',
      livemode: 's.livemode',
      key: 's.recipient_keys[s.recipient + 1]',
    })} c
    on conflict (contact_id, id) do nothing`,
};

/** The rows of contacts that the commits of emails write. */
export const followsEmails: readonly FollowingWrite[] = [gone, statuses, activity];
