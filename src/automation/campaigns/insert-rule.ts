import { keptContactSql } from '../../audience/contacts/queries.ts';
import { environmentLimit } from '../../http/limits/environment-limit.ts';
import type { InsertRule } from '../../http/module.ts';

const OF_CAMPAIGNS = 'campaign_contact_id is not null';

/**
 * A recipient is dispatched in the statement that accepts the email, or not at all: the row is locked while
 * it still waits, the email is written, and the row is marked with it. A second try, after a crash or on
 * another instance, finds no waiting recipient, and writes nothing. A turn that was given up while it slept,
 * and a campaign that was paused, dispatch no recipient either.
 */
export const campaignInsertRule: InsertRule = {
  of: 'email',
  columns: 'campaign_contact_id text, campaign_turn integer, campaign_next_at timestamptz',
  conditions: [
    {
      name: 'campaign_contact_is_there',
      judged: OF_CAMPAIGNS,
      // A separate condition that locks in the order of the contacts' ids, as everywhere: recipients of two
      // campaigns would lock the same contacts in another order.
      sql: (input) => `select i.ord from (
    select ord, workspace_id, livemode, campaign_contact_id from ${input} where ${OF_CAMPAIGNS} order by campaign_contact_id
  ) i ${keptContactSql(['i.workspace_id', 'i.livemode', 'i.campaign_contact_id'])}`,
    },
    {
      name: 'campaign_waiting',
      judged: OF_CAMPAIGNS,
      // Rows are locked in the order of their keys, since two turns that overlap would deadlock in any other.
      // Lateral, so that each is looked up by its whole key: by the campaign's alone, every recipient of it
      // would be read for each of them.
      sql: (input) => `select i.ord from (
    select ord, campaign_id, campaign_contact_id, campaign_turn from ${input} where ${OF_CAMPAIGNS}
    order by campaign_id, campaign_contact_id
  ) i join campaigns c on c.id = i.campaign_id and c.state = 'sending' and c.attempt = i.campaign_turn
  cross join lateral (
    select from campaign_recipients r where r.campaign_id = i.campaign_id and r.contact_id = i.campaign_contact_id
      and r.state = 'waiting' for update
  ) r`,
    },
  ],
  writes: [
    (admitted) => `update campaign_recipients r set state = 'sent', email_id = a.id from ${admitted} a
  where a.${OF_CAMPAIGNS} and r.campaign_id = a.campaign_id and r.contact_id = a.campaign_contact_id`,
    (admitted) => `insert into campaign_tallies (campaign_id, remaining, sent, next_at)
  select campaign_id, -count(*), count(*), max(campaign_next_at) from ${admitted} where ${OF_CAMPAIGNS} group by campaign_id`,
  ],
};

/** A campaign is made where fewer than `most_campaigns` are in its environment. */
export const campaignLimit = environmentLimit({
  of: 'campaign',
  name: 'campaign_places',
  most: 'most_campaigns',
  count: 'campaigns_present',
});

/**
 * The first reply of a recipient is kept in the row, in the commit that stores the reply. Rows are locked in
 * the order of their keys.
 */
export const campaignReplyRule: InsertRule = {
  of: 'received',
  columns: 'campaign_replied_at timestamptz',
  conditions: [],
  writes: [
    (admitted) => `update campaign_recipients r set replied_at = l.at
  from (
    select k.campaign_id, k.contact_id, a.at from (
      select campaign_id, contact_id, min(campaign_replied_at) as at from ${admitted}
      where campaign_replied_at is not null group by campaign_id, contact_id
    ) a join campaign_recipients k on k.campaign_id = a.campaign_id and k.contact_id = a.contact_id and k.replied_at is null
    order by k.campaign_id, k.contact_id for update of k
  ) l
  where r.campaign_id = l.campaign_id and r.contact_id = l.contact_id`,
  ],
};
