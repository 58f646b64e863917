import type { InsertRule } from '../../http/module.ts';

const IS_READ = 'mailbox_id is not null';

/**
 * A message that was read of a mailbox is stored together with its place there, by the instance that holds
 * the mailbox, once. The row is locked, so that of two instances that store the same message the second finds
 * it noted.
 */
export const mailboxInsertRule: InsertRule = {
  of: 'received',
  columns:
    'mailbox_id text, mailbox_holder text, mailbox_validity bigint, mailbox_uid bigint, mailbox_digest text',
  conditions: [
    {
      name: 'mailbox_held',
      judged: IS_READ,
      sql: (input) => `select i.ord from (
    select ord, mailbox_id, mailbox_holder, mailbox_validity, mailbox_uid from ${input} where ${IS_READ} order by mailbox_id
  ) i cross join lateral (
    select from mailboxes m where m.id = i.mailbox_id and m.holder = i.mailbox_holder and m.uid_validity = i.mailbox_validity
      and m.last_uid < i.mailbox_uid and not m.is_paused for update of m
  ) m`,
    },
  ],
  writes: [
    (admitted) => `update mailboxes m set last_uid = a.mailbox_uid, taken = m.taken + 1, last_taken_at = now()
  from (select distinct mailbox_id, mailbox_uid from ${admitted} where ${IS_READ}) a where m.id = a.mailbox_id`,
    (admitted) => `insert into mailbox_messages (mailbox_id, digest, read_at)
  select distinct mailbox_id, mailbox_digest, now() from ${admitted} where ${IS_READ}
  on conflict (mailbox_id, digest) do nothing`,
  ],
};
