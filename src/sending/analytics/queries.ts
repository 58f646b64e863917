import { EMAIL_EVENT_TYPES, type EmailEventType } from '../../../machines/email/recipient.ts';
import type { Call } from '../../http/request/route.ts';
import type { Parameter } from '../../platform/db/database.ts';
import type { Reads } from '../../platform/db/reads.ts';
import { Failure, invalidAt } from '../../platform/errors/failure.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import { zones } from '../../platform/zones/zones.ts';
import { COUNTS, MOST_TAGS, MOST_VALUES, ofSameName, partsCtes, SUMS, scopeText } from './counting.ts';
import type { Analytics, AnalyticsQuery, Counts } from './model.ts';
import { type Period, readPeriod, splitHours } from './period.ts';

/** The services that reading analytics calls. */
export interface AnalyticsReader {
  readonly reads: Reads;
}

/** The cursors of the sums, and the time zone of the workspace. */
const PLACE = `select w.time_zone, coalesce(c.accepted, 0)::text as accepted, coalesce(c.events, 0)::text as events
from workspaces w left join analytics_cursors c on c.workspace_id = w.id where w.id = $1`;

const ONLY = `($7::text is null or domain_id = $7) and ($8::text is null or campaign_id = $8)
  and ($9::text is null or template_id = $9) and ($10::text is null or tags @> array[$10]::text[])`;

/**
 * The sums, and what has not been added up yet, in one snapshot. The cursor comes as parameters, since the
 * embedded database plans by their values, and little lies behind it; where the sums have moved on meanwhile,
 * no row is answered. Of a point there is a row, and one of the place of the cursor. The points are read in a
 * subquery, once and not for each row. Hours that two points share ($12) come from their quarters, all others
 * are read whole.
 */
const COUNT = `with cursor as materialized (
  select true from analytics_cursors where workspace_id = $1 and accepted = $5::bigint and events = $6::bigint
  union all
  select true where $5::bigint = 0 and $6::bigint = 0 and not exists (select from analytics_cursors where workspace_id = $1)
), inserts as materialized (
  select at, recipients, domain_id, campaign_id, template_id, tags from emails
  where workspace_id = $1 and position > $5::bigint
), turns as materialized (
  select email_id, position from email_turns
  where workspace_id = $1 and livemode and position > $6::bigint
), ${partsCtes({ isNew: 'position > $6::bigint', where: ONLY })}, counted as (
  select hour as moment, ${COUNTS.join(', ')} from analytics_hours
  where workspace_id = $1 and scope = $2 and hour >= $3::text::timestamptz and hour < $4::text::timestamptz
    and hour <> all ((select $12::text[]::timestamptz[])::timestamptz[])
  union all
  select q.* from unnest($12::text[]::timestamptz[]) as split(hour) cross join lateral (
    select quarter, ${COUNTS.join(', ')} from analytics
    where workspace_id = $1 and scope = $2 and quarter >= greatest(hour, $3::text::timestamptz)
      and quarter < least(hour + interval '1 hour', $4::text::timestamptz)
    offset 0
  ) q
  union all
  select quarter, ${SUMS} from parts p
  where quarter >= $3::text::timestamptz and quarter < $4::text::timestamptz group by quarter
)
select width_bucket(moment, (select $11::text[]::timestamptz[]))::integer as point,
  ${COUNTS.map((name) => `sum(${name})::float8 as ${name}`).join(', ')}
from cursor left join counted on true group by 1`;

type CountRow = Readonly<Record<string, number>> & {
  /** From 1; null where nothing was counted. */
  readonly point: number | null;
};

/**
 * The times that the sums may move on while they are read: a duty moves them four times a minute, and while
 * it catches up more often.
 */
const TRIES = 20;

/**
 * Counts the events of live mail of the caller's workspace. Simulated mail does not count, so a test key gets
 * zeros.
 * @throws UnavailableError
 */
export async function readAnalytics(
  { reads }: AnalyticsReader,
  { caller, query, now }: Call<unknown, AnalyticsQuery>,
): Promise<Analytics | Failure> {
  const { workspaceId, livemode } = caller;
  const place = await readPlace(reads, workspaceId);
  const { interval, by } = query;
  const period = readPeriod({ ...query, timeZone: query.timeZone ?? place.time_zone }, now);
  if (period instanceof Failure) return period;
  if (query.tag !== undefined && (await isLeftOut(reads, workspaceId, query.tag)))
    return invalidAt('/query/tag', LEFT_OUT);
  const rows = livemode ? await countPoints(reads, workspaceId, query, period, place) : [];
  const points = new Map(rows.map((row) => [row.point, row]));
  const all = sumOf(rows);
  return {
    from: iso(period.from),
    to: iso(period.to),
    interval,
    timeZone: period.timeZone,
    by,
    series: period.starts.map((start, index) => ({
      start: iso(start),
      local: zones.localAt(start, period.timeZone).toString({ smallestUnit: 'minute' }),
      open: (period.starts[index + 1] ?? period.to) > now,
      ...countsOf(points.get(index + 1) ?? {}, by),
    })),
    totals: countsOf(all, by),
    rates: ratesOf(all),
  };
}

const LEFT_OUT = `This tag is not counted: only the first ${MOST_TAGS.toLocaleString('en')} tags of a workspace are, and of each name the first ${MOST_VALUES}.`;

const LEFT = `select not exists (select from analytics_tags where workspace_id = $1 and tag = $2) and (
  (select count(*) from analytics_tags where workspace_id = $1) >= ${MOST_TAGS}
  or (select count(*) from analytics_tags where workspace_id = $1 and tag ${ofSameName('$2::text')}) >= ${MOST_VALUES}
) as left_out`;

/** True for a tag that came when as many were counted as may be. */
async function isLeftOut(reads: Reads, workspaceId: string, tag: string): Promise<boolean> {
  const [row] = await reads.query<{ left_out: boolean }>(LEFT, [workspaceId, tag]);
  return row?.left_out ?? false;
}

interface Place {
  readonly time_zone: string;
  readonly accepted: string;
  readonly events: string;
}

async function readPlace(reads: Reads, workspaceId: string): Promise<Place> {
  const [place] = await reads.query<Place>(PLACE, [workspaceId]);
  if (!place) throw new Error('The workspace of the caller does not exist.');
  return place;
}

async function countPoints(
  reads: Reads,
  workspaceId: string,
  scope: AnalyticsQuery,
  period: Period,
  first: Place,
): Promise<readonly CountRow[]> {
  const { domainId = null, campaignId = null, templateId = null, tag = null } = scope;
  const bounds = [iso(period.from), iso(period.to)];
  const points = [period.starts.map(iso), splitHours(period).map(iso)];
  let { accepted, events } = first;
  for (let tried = 0; tried < TRIES; tried++) {
    const parameters: readonly Parameter[] = [
      workspaceId,
      scopeText(scope),
      ...bounds,
      accepted,
      events,
      domainId,
      campaignId,
      templateId,
      tag,
      ...points,
    ];
    const rows = await reads.query<CountRow>(COUNT, parameters);
    if (rows.length > 0) return rows.filter(({ point }) => point !== null);
    ({ accepted, events } = await readPlace(reads, workspaceId));
  }
  throw new UnavailableError('The sums changed during each of the reads.', 'no', 1);
}

const iso = (at: number): string => new Date(at).toISOString();

function sumOf(rows: readonly CountRow[]): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const name of COUNTS) sums[name] = rows.reduce((sum, row) => sum + (row[name] ?? 0), 0);
  return sums;
}

function countsOf(row: Readonly<Record<string, number>>, by: AnalyticsQuery['by']): Counts {
  const of = (name: string): number => row[by === 'occurred' ? name : `${name}_of_accepted`] ?? 0;
  return {
    accepted: row.accepted ?? 0,
    ...(Object.fromEntries(EMAIL_EVENT_TYPES.map((type) => [type, of(type)])) as Record<
      EmailEventType,
      number
    >),
    machineOpened: of('machine_opened'),
    machineClicked: of('machine_clicked'),
  };
}

function ratesOf(row: Readonly<Record<string, number>>): Analytics['rates'] {
  const { accepted = 0 } = row;
  const share = (name: string): number | null => (accepted === 0 ? null : (row[name] ?? 0) / accepted);
  return {
    delivered: share('reached_delivered'),
    opened: share('reached_opened'),
    clicked: share('reached_clicked'),
    bounced: share('reached_bounced'),
    complained: share('complained_of_accepted'),
    unsubscribed: share('unsubscribed_of_accepted'),
  };
}
