import { eventTypesWith, hasTraitSql } from '../../../../machines/email/event-traits.ts';
import type { Duty, DutyDeps } from '../../../engine/duties/duty.ts';
import { tallyAccountant } from '../../../engine/duties/tally-accountant.ts';
import type { FollowingWrite } from '../../../engine/machine/kind.ts';

/** The reason of a recipient who has failed although the message may have arrived. */
export const IN_DOUBT = 'in_doubt';

/** SQL of the hash by which an email finds its recipient in a campaign. */
export const addressHash = (key: string): string => `md5(${key})::uuid`;

const HASH = addressHash('s.recipient_keys[s.recipient + 1]');
/** The events that end an email with one recipient. */
const FAILS = `(type = 'bounced' and (data ->> 'type' = 'Permanent' or data ->> 'subType' = 'expired'))`;
/**
 * SQL that is true where the end leaves open whether the message had arrived before. The machine decides
 * that.
 */
const inDoubt = (data: string): string => `coalesce((${data} ->> 'inDoubt')::boolean, false)`;
const first = (type: string): string =>
  `min(occurred_at) filter (where type = '${type}' and not by_machine) as ${type}`;
const KEPT: ReadonlySet<unknown> = new Set(eventTypesWith('isKeptWithRecipient'));
const count = (condition: string): string => `count(*) filter (where ${condition})`;

/** SQL that is true for emails of campaigns that exist. Counts of a deleted campaign are never read. */
const listens = (topic: string): string =>
  `exists (select from campaigns k where k.workspace_id = ${topic}.workspace_id and k.livemode = ${topic}.livemode and k.state <> 'deleted')`;

/** The events of campaigns' emails, read once, together with the rows of the emails. */
const events: FollowingWrite = {
  fact: 'recorded',
  name: 'campaign_events',
  listens,
  sql: (source) => `select s.campaign_id, ${HASH} as hash, s.type, s.occurred_at, s.data,
    (${hasTraitSql('s.type', 'isVisit')} and s.data ->> 'via' is not null) as by_machine
  from ${source} s where s.campaign_id is not null`,
};

/**
 * First acts of recipients are stored in their rows, which makes them unique. Only events that may change a
 * row look for it: nothing of a row changes when its email is sent or delivered.
 */
const marked: FollowingWrite = {
  fact: 'recorded',
  name: 'campaign_marked',
  listens,
  isFor: ({ type }) => KEPT.has(type),
  sql: () => `update campaign_recipients r set
    state = case when l.fails then 'failed' else r.state end,
    reason = case when l.fails and l.doubtful then '${IN_DOUBT}' else r.reason end,
    opened_at = coalesce(r.opened_at, l.opened), clicked_at = coalesce(r.clicked_at, l.clicked),
    bounced_at = coalesce(r.bounced_at, l.bounced), complained_at = coalesce(r.complained_at, l.complained),
    unsubscribed_at = coalesce(r.unsubscribed_at, l.unsubscribed)
  from (
    select k.campaign_id, k.contact_id, k.opened_at is null and e.opened is not null as opens,
      k.clicked_at is null and e.clicked is not null as clicks, k.complained_at is null and e.complained is not null as complains,
      k.unsubscribed_at is null and e.unsubscribed is not null as leaves, k.state = 'sent' and e.fails as fails, e.doubtful,
      e.opened, e.clicked, e.bounced, e.complained, e.unsubscribed
    from (
      select campaign_id, hash, coalesce(bool_or(${FAILS}), false) as fails,
        coalesce(bool_or(${FAILS} and ${inDoubt('data')}), false) as doubtful,
        ${eventTypesWith('isKeptWithRecipient').map(first).join(', ')}
      from campaign_events where ${hasTraitSql('type', 'isKeptWithRecipient')} and not by_machine
      group by campaign_id, hash
    ) e join campaign_recipients k on k.campaign_id = e.campaign_id and k.address_hash = e.hash
    order by k.campaign_id, k.contact_id for update of k
  ) l
  where r.campaign_id = l.campaign_id and r.contact_id = l.contact_id
  returning l.campaign_id, l.opens, l.clicks, l.complains, l.leaves, l.fails, l.fails and l.doubtful as doubtful`,
};

/**
 * Counts in the same commit: all events from the events, unique ones from the rows that they have changed.
 */
const tallied: FollowingWrite = {
  fact: 'recorded',
  name: 'campaign_tallied',
  listens,
  sql: (
    _,
    has,
  ) => `insert into campaign_tallies (campaign_id, delivered, opens, machine_opens, clicks, machine_clicks,
    bounced_permanent, bounced_transient, sent, failed, in_doubt, unique_opens, unique_clicks, complained, unsubscribed)
  select campaign_id, sum(delivered), sum(opens), sum(machine_opens), sum(clicks), sum(machine_clicks), sum(permanent),
    sum(transient), -sum(fails), sum(fails), sum(doubts), sum(unique_opens), sum(unique_clicks), sum(complains), sum(leaves)
  from (
    select campaign_id, ${count("type = 'delivered'")} as delivered,
      ${count("type = 'opened' and not by_machine")} as opens, ${count("type = 'opened' and by_machine")} as machine_opens,
      ${count("type = 'clicked' and not by_machine")} as clicks, ${count("type = 'clicked' and by_machine")} as machine_clicks,
      ${count("type = 'bounced' and data ->> 'type' = 'Permanent'")} as permanent,
      ${count("type = 'bounced' and data ->> 'type' is distinct from 'Permanent'")} as transient,
      0 as fails, 0 as doubts, 0 as unique_opens, 0 as unique_clicks, 0 as complains, 0 as leaves
    from campaign_events where type <> 'sent' group by campaign_id${
      has(marked.name)
        ? `
    union all
    select campaign_id, 0, 0, 0, 0, 0, 0, 0, ${count('fails')}, ${count('doubtful')}, ${count('opens')}, ${count('clicks')},
      ${count('complains')}, ${count('leaves')}
    from campaign_marked group by campaign_id`
        : ''
    }
  ) counted group by campaign_id`,
};

/**
 * People's clicks on each link, as the author wrote it: a personal part of its address matches any text in
 * its place.
 */
const clicked: FollowingWrite = {
  fact: 'recorded',
  name: 'campaign_clicked',
  listens,
  isFor: ({ type }) => type === 'clicked',
  sql: () => `insert into campaign_clicks as t (campaign_id, link, contact_id, clicks)
  select campaign_id, link, contact_id, count(*) from (
    select r.campaign_id, r.contact_id, coalesce((
      select min(l.place) from campaign_contents c
      cross join lateral json_array_elements(c.links) with ordinality l(link, place)
      where c.campaign_id = e.campaign_id and e.data ->> 'url' like l.link ->> 'pattern'
    ), 0) as link
    from campaign_events e join campaign_recipients r on r.campaign_id = e.campaign_id and r.address_hash = e.hash
    where e.type = 'clicked' and not e.by_machine
  ) f group by campaign_id, link, contact_id order by campaign_id, link, contact_id
  on conflict (campaign_id, link, contact_id) do update set clicks = t.clicks + excluded.clicks`,
};

/**
 * A separate statement, like the events: where emails lie on several nodes, no query that reads them may lock
 * rows of another table.
 */
const skips: FollowingWrite = {
  fact: 'noted',
  name: 'campaign_skips',
  isMaterialized: true,
  sql: (source) => `select distinct on (s.campaign_id, hash) s.campaign_id, ${HASH} as hash,
    coalesce(s.data ->> 'reason', 'suppressed') as reason, ${inDoubt('s.data')} as doubtful
  from ${source} s where s.campaign_id is not null and s.outcome = 'suppressed' order by 1, 2`,
};

/**
 * A recipient who has left since the email was accepted gets none, and is skipped. One who may have got it by
 * an earlier attempt is not: that email has failed, in doubt.
 */
const skipped: FollowingWrite = {
  fact: 'noted',
  name: 'campaign_skipped',
  sql: () => `update campaign_recipients r set state = case when l.doubtful then 'failed' else 'skipped' end,
    reason = case when l.doubtful then '${IN_DOUBT}' else l.reason end
  from (
    select k.campaign_id, k.contact_id, e.reason, e.doubtful
    from campaign_skips e join campaign_recipients k on k.campaign_id = e.campaign_id and k.address_hash = e.hash and k.state = 'sent'
    order by k.campaign_id, k.contact_id for update of k
  ) l
  where r.campaign_id = l.campaign_id and r.contact_id = l.contact_id returning r.campaign_id, l.doubtful`,
};

const tallySkipped: FollowingWrite = {
  fact: 'noted',
  name: 'campaign_skips_tallied',
  sql: () => `insert into campaign_tallies (campaign_id, sent, skipped, failed, in_doubt)
  select campaign_id, -count(*), ${count('not doubtful')}, ${count('doubtful')}, ${count('doubtful')}
  from campaign_skipped group by campaign_id`,
};

/** The writes of campaigns in the commits of emails. */
export const followsCampaignEmails: readonly FollowingWrite[] = [
  events,
  marked,
  tallied,
  clicked,
  skips,
  skipped,
  tallySkipped,
];

const SUMS = [
  'total',
  'remaining',
  'sent',
  'skipped',
  'failed',
  'in_doubt',
  'delivered',
  'opens',
  'unique_opens',
  'machine_opens',
  'clicks',
  'unique_clicks',
  'machine_clicks',
  'bounced_permanent',
  'bounced_transient',
  'complained',
  'unsubscribed',
];

/** Sums the counts of campaigns, so that reading them stays cheap. */
export const campaignTallyAccountant = (deps: Pick<DutyDeps, 'database'>): Duty =>
  tallyAccountant(deps, {
    name: 'campaignTallyAccountant',
    pattern: '*/10 * * * * *',
    tallies: { table: 'campaign_tallies', keys: ['campaign_id'], sums: SUMS, greatest: ['next_at'] },
  });
