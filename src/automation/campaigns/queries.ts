import type { CampaignContext } from '../../../machines/campaign/context.ts';
import type { CampaignState } from '../../../machines/campaign/machine.ts';
import type { Scope } from '../../audience/contacts/queries.ts';
import { decodeState } from '../../engine/machine/kind.ts';
import { type IdRange, listById } from '../../http/lists/list.ts';
import { pageOf, positionOf } from '../../http/lists/pagination.ts';
import type { Call, Page } from '../../http/request/route.ts';
import type { Database } from '../../platform/db/database.ts';
import { isId, timeOfId } from '../../platform/db/ids.ts';
import type { Reads } from '../../platform/db/reads.ts';
import { type Failure, notFound, Failure as Refusal } from '../../platform/errors/failure.ts';
import { isoOrNull } from '../../platform/time/clock.ts';
import { campaignKind } from './kind.ts';
import type {
  CampaignItemView,
  CampaignQuery,
  CampaignView,
  LinkView,
  Outcome,
  RecipientQuery,
  RecipientView,
  StatsView,
} from './model.ts';
import type { KeptContent } from './preview/content.ts';
import { readLedger } from './sending/recipients.ts';
import type { CampaignSettings } from './settings.ts';

/** The services that reading campaigns calls. */
export interface CampaignReader {
  readonly database: Database;
}

/** The services that lists of campaigns and recipients call. */
export interface CampaignLister extends CampaignReader {
  readonly reads: Reads;
}

/** A campaign as it is stored. */
export interface CampaignRow {
  readonly id: string;
  readonly livemode: boolean;
  readonly state: string;
  readonly context: CampaignContext;
  readonly settings: CampaignSettings;
  /** Epoch milliseconds. */
  readonly updated_at: number;
}

const read = (
  settings: string,
): string => `select c.id, c.livemode, c.state, c.context, ${settings} as settings,
  (extract(epoch from s.updated_at) * 1000)::float8 as updated_at
from campaigns c join campaign_settings s on s.campaign_id = c.id
where c.workspace_id = $1 and c.livemode = $2::boolean and c.state <> 'deleted'`;
const ONE = `${read('s.settings')} and c.id = $3`;
const listSql = ({
  order,
}: IdRange): string => `${read(`s.settings::jsonb - '{html,markdown,mjml,variables}'::text[]`)} and ($3::text is null or c.id < $3) and ($4::text is null or c.id >= $4)
  and ($5::text is null or c.state = $5) order by c.id ${order} limit $6::integer`;

export const NO_CAMPAIGN = notFound('campaign');

/** Reads a campaign; null when there is none. @throws UnavailableError */
export async function findCampaign(
  { database }: CampaignReader,
  { workspaceId, livemode }: Scope,
  id: string,
): Promise<CampaignRow | null> {
  const [row] = await database.query<CampaignRow>(ONE, [workspaceId, livemode, id]);
  return row ?? null;
}

/** The last change of a campaign by a request (epoch milliseconds). */
export const changedAtOf = ({ context, updated_at }: CampaignRow): number => Math.max(context.at, updated_at);

/** A campaign as it is answered. */
export function viewOf(row: CampaignRow): CampaignView {
  const { id, livemode, state, context, settings } = row;
  const status = decodeState(campaignKind, state) as Exclude<CampaignState, 'deleted'>;
  const { pausedReason, failure, scheduledAt, startedAt, completedAt, recipientCount } = context;
  const { replyTo, excludeAudienceIds, ...said } = settings;
  return {
    id,
    livemode,
    status,
    pausedReason: status === 'paused' ? pausedReason : null,
    failureReason: status === 'failed' ? failure : null,
    ...said,
    // Older campaigns have neither.
    language: said.language ?? null,
    mjml: said.mjml ?? null,
    replyTo: [...replyTo],
    excludeAudienceIds: [...excludeAudienceIds],
    scheduledAt: isoOrNull(scheduledAt),
    startedAt: isoOrNull(startedAt),
    completedAt: isoOrNull(completedAt),
    recipientCount,
    createdAt: new Date(timeOfId(id)).toISOString(),
    updatedAt: new Date(changedAtOf(row)).toISOString(),
  };
}

type CampaignCall = Call<{ readonly id: string }>;

/** Reads a campaign, or answers 404. */
export async function campaignDetail(
  reader: CampaignReader,
  { caller, params }: CampaignCall,
): Promise<CampaignView | Failure> {
  const row = await findCampaign(reader, caller, params.id);
  return row ? viewOf(row) : NO_CAMPAIGN;
}

/** Lists campaigns, newest first. */
export const listCampaigns = (
  { reads }: CampaignLister,
  call: Call<unknown, CampaignQuery>,
): Promise<Page<CampaignItemView> | Failure> =>
  listById(call, {
    list: 'campaigns',
    prefix: 'cmp',
    rows: (range, limit) =>
      reads.query<CampaignRow>(listSql(range), [
        call.caller.workspaceId,
        call.caller.livemode,
        range.below,
        range.from,
        call.query.status ?? null,
        limit,
      ]),
    item: (row) => {
      const { html: _html, markdown: _markdown, mjml: _mjml, variables: _variables, ...item } = viewOf(row);
      return item;
    },
  });

/** The numbers of a campaign, all of one moment. */
export async function campaignStats(
  reader: CampaignReader,
  { caller, params }: CampaignCall,
): Promise<StatsView | Failure> {
  if (!(await findCampaign(reader, caller, params.id))) return NO_CAMPAIGN;
  const ledger = await readLedger(reader.database, params.id);
  const { total, sent, remaining, skipped, failed, delivered, permanent, transient } = ledger;
  const given = sent + failed;
  const rate = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);
  return {
    total,
    sent,
    remaining,
    skipped,
    failed,
    inDoubt: ledger.inDoubt,
    delivered: { count: delivered, rate: rate(delivered, given) },
    opened: { count: ledger.opens, unique: ledger.uniqueOpens, rate: rate(ledger.uniqueOpens, delivered) },
    clicked: {
      count: ledger.clicks,
      unique: ledger.uniqueClicks,
      rate: rate(ledger.uniqueClicks, delivered),
    },
    bounced: { permanent, transient, rate: rate(permanent, given) },
    complained: ledger.complained,
    unsubscribed: ledger.unsubscribed,
    replied: ledger.replied,
    machineOpens: ledger.machineOpens,
    machineClicks: ledger.machineClicks,
  };
}

const LEFT_AUDIENCE = 'select audience_id as "audienceId" from campaign_contents where campaign_id = $1';

/**
 * The audience that a recipient of a campaign can leave; null where a filter chooses, or the content is gone.
 * @throws UnavailableError
 */
export async function leftAudience(database: Database, campaignId: string): Promise<string | null> {
  const [row] = await database.query<{ readonly audienceId: string | null }>(LEFT_AUDIENCE, [campaignId]);
  return row?.audienceId ?? null;
}

const COMMON_SUBJECTS = `select campaign_id as id, content ->> 'subject' as subject from campaign_contents where campaign_id = any($1::text[])`;

/** The subjects of campaigns as they were written, by their ids; those whose content is gone have none. */
export async function commonSubjects(
  database: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await database.query<{ id: string; subject: string }>(COMMON_SUBJECTS, [ids]);
  return new Map(rows.map(({ id, subject }) => [id, subject]));
}

const LINKS = `select k.content::text as content, coalesce((
  select json_agg(json_build_object('link', l.link, 'clicks', l.clicks, 'people', l.people)) from (
    select link, sum(clicks)::float8 as clicks, count(*)::float8 as people from campaign_clicks
    where campaign_id = $1 group by link
  ) l
), '[]') as counts
from campaign_contents k where k.campaign_id = $1`;

/** The links of a campaign, those with the most clicks first. */
export async function campaignLinks(
  reader: CampaignLister,
  { caller, params }: CampaignCall,
): Promise<LinkView[] | Failure> {
  if (!(await findCampaign(reader, caller, params.id))) return NO_CAMPAIGN;
  const [row] = await reader.reads.query<{
    content: string;
    counts: readonly { readonly link: number; readonly clicks: number; readonly people: number }[];
  }>(LINKS, [params.id]);
  if (!row) return [];
  const { links } = JSON.parse(row.content) as KeptContent;
  const counts = new Map(row.counts.map((count) => [count.link, count]));
  const viewed = (url: string | null, place: number): LinkView => {
    const count = counts.get(place);
    return { url, clicks: count?.clicks ?? 0, uniqueClicks: count?.people ?? 0 };
  };
  return [
    ...links.map(({ url }, index) => viewed(url, index + 1)),
    ...(counts.has(0) ? [viewed(null, 0)] : []),
  ].toSorted((a, b) => b.clicks - a.clicks);
}

/** The condition of each outcome on the rows. Only an email's turns say that it was delivered. */
const WHERE: Readonly<Record<Outcome, string>> = {
  remaining: `r.state = 'waiting'`,
  sent: `r.state = 'sent'`,
  failed: `r.state = 'failed'`,
  skipped: `r.state = 'skipped'`,
  delivered: `r.email_id is not null and exists (
    select from email_turns t where t.email_id = r.email_id and t.workspace_id = $4 and t.delivered_at is not null)`,
  opened: 'r.opened_at is not null',
  clicked: 'r.clicked_at is not null',
  bounced: 'r.bounced_at is not null',
  complained: 'r.complained_at is not null',
  unsubscribed: 'r.unsubscribed_at is not null',
  replied: 'r.replied_at is not null',
};

const SHOWN = { waiting: 'remaining', sent: 'sent', failed: 'failed', skipped: 'skipped' } as const;
const at = (column: string): string => `(extract(epoch from r.${column}) * 1000)::float8 as ${column}`;

/**
 * The page is read first: where tables are distributed, the outcome of an email lies on another node than its
 * recipient.
 */
const recipientsSql = (where: string): string => `with r as materialized (
  select r.* from (
    select * from campaign_recipients r where r.campaign_id = $1 and ($2::text is null or r.contact_id > $2)
    order by r.contact_id offset 0
  ) r where ${where} order by r.contact_id limit $3::integer
)
select r.contact_id, t.email, r.state, r.reason, r.email_id,
  ${['opened_at', 'clicked_at', 'bounced_at', 'complained_at', 'unsubscribed_at', 'replied_at'].map(at).join(', ')}
from r left join contacts t on t.workspace_id = $4 and t.livemode = $5::boolean and t.id = r.contact_id
order by r.contact_id`;

interface RecipientRow {
  readonly contact_id: string;
  readonly email: string | null;
  readonly state: keyof typeof SHOWN;
  readonly reason: RecipientView['reason'];
  readonly email_id: string | null;
  readonly opened_at: number | null;
  readonly clicked_at: number | null;
  readonly bounced_at: number | null;
  readonly complained_at: number | null;
  readonly unsubscribed_at: number | null;
  readonly replied_at: number | null;
}

/** Lists the recipients in the frozen audience, oldest contacts first. */
export async function listRecipients(
  reader: CampaignLister,
  { caller, params, query }: Call<{ readonly id: string }, RecipientQuery>,
): Promise<Page<RecipientView> | Failure> {
  const isPosition = (text: string) => isId('con', text);
  const request = { list: `campaigns/${params.id}/recipients`, caller, isPosition, query };
  const after = positionOf(request);
  if (after instanceof Refusal) return after;
  if (!(await findCampaign(reader, caller, params.id))) return NO_CAMPAIGN;
  const where = query.outcome === undefined ? 'true' : WHERE[query.outcome];
  const rows = await reader.reads.query<RecipientRow>(recipientsSql(where), [
    params.id,
    after,
    query.limit + 1,
    caller.workspaceId,
    caller.livemode,
  ]);
  return pageOf(
    request,
    rows,
    ({ contact_id }) => contact_id,
    (row) => ({
      contactId: row.contact_id,
      email: row.email,
      outcome: SHOWN[row.state],
      reason: row.reason,
      emailId: row.email_id,
      openedAt: isoOrNull(row.opened_at),
      clickedAt: isoOrNull(row.clicked_at),
      bouncedAt: isoOrNull(row.bounced_at),
      complainedAt: isoOrNull(row.complained_at),
      unsubscribedAt: isoOrNull(row.unsubscribed_at),
      repliedAt: isoOrNull(row.replied_at),
    }),
  );
}
