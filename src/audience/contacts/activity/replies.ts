import type { InsertRule } from '../../../http/module.ts';

/**
 * The commit that stores a reply adds it to the activity of its contact, who is locked: one who is being
 * forgotten gets none. It is an act of the person, as a custom event is: without an email in its column it
 * stays with the contact, and flows follow it.
 */
export const replyInsertRule: InsertRule = {
  of: 'received',
  columns: 'replied_at timestamptz, reply_clock_id text',
  conditions: [],
  writes: [
    (
      admitted,
    ) => `insert into contact_activity (contact_id, id, livemode, type, at, campaign_id, data, test_clock_id, awaits_clock)
  select i.contact_id, 'act_' || substr(i.id, 5), i.livemode, 'replied', i.replied_at, i.campaign_id,
    json_build_object('receivedId', i.id, 'emailId', i.email_id), i.reply_clock_id, i.reply_clock_id is not null
  from (
    select c.id as contact_id, a.id, a.livemode, a.replied_at, a.campaign_id, a.email_id, a.reply_clock_id
    from ${admitted} a join contacts c on c.workspace_id = a.workspace_id and c.livemode = a.livemode and c.id = a.contact_id
    where a.replied_at is not null order by c.id for key share of c
  ) i`,
  ],
};
