import type { InsertRule } from '../../../http/module.ts';
import { MESSAGE_ID_DAYS } from './message-id-insert-rule.ts';

/** The key under which the Message-ID of a copy is kept with its recipient: a hash, which tells neither. */
export const sentKeySql = (messageId: string, recipientKey: string): string =>
  `md5(${messageId} || ' ' || ${recipientKey})::uuid`;

/**
 * An insert of the Message-IDs of copies, from rows of workspace_id, livemode, message_id, recipient_key,
 * email_id and sent_at.
 */
export const insertSentIds = (
  rows: string,
): string => `insert into sent_message_ids (workspace_id, livemode, key, email_id, until)
  select distinct on (r.workspace_id, r.livemode, r.key) r.workspace_id, r.livemode, r.key, r.email_id,
    r.sent_at + interval '${MESSAGE_ID_DAYS} days'
  from (select s.*, ${sentKeySql('s.message_id', 's.recipient_key')} as key from (${rows}) s) r
  order by r.workspace_id, r.livemode, r.key, r.email_id desc
  on conflict (workspace_id, livemode, key) do update set email_id = excluded.email_id, until = excluded.until`;

/**
 * A raw message leaves with the Message-ID of its sender, which other emails may have as well: a list gives
 * all its readers one.
 */
export const sentIdInsertRule: InsertRule = {
  of: 'email',
  columns: 'sent_id text, sent_id_at timestamptz',
  conditions: [],
  writes: [
    (admitted) =>
      insertSentIds(`select a.workspace_id, a.livemode, a.sent_id as message_id, k.recipient_key, a.id as email_id, a.sent_id_at as sent_at
    from ${admitted} a cross join unnest(a.recipient_keys) as k(recipient_key) where a.sent_id is not null`),
  ],
};
