import { eventTypesWith, hasTraitSql } from '../../../machines/email/event-traits.ts';
import { EMAIL_EVENT_TYPES } from '../../../machines/email/recipient.ts';
import type { analytics } from '../../platform/db/schema/analytics.ts';

type Column = keyof typeof analytics.$inferSelect;

/** A type of event does not compile until the table has the columns of its counts. */
type CountedType = {
  [Type in Column]: `${Type}OfAccepted` extends Column ? Type : never;
}[Column];

/**
 * The facts that are counted from the events of live mail. An open or a click by a program that fetches or
 * scans counts apart.
 */
export const OCCURRENCES = [
  ...(EMAIL_EVENT_TYPES satisfies readonly CountedType[]),
  ...eventTypesWith('isVisit').map((type) => `machine_${type}` as const),
];

/**
 * Events that are also counted by recipients for whom they happened at least once. The others happen once.
 */
const REPEATED = eventTypesWith('isRepeated');

interface Counter {
  readonly column: string;
  /**
   * The summed value, as SQL over the columns of `parts`. An integer, as in the table: sums of other types
   * take several times as long.
   */
  readonly sum: string;
}

const counter = (column: string, summand: string, where: string): Counter => ({
  column,
  sum: `coalesce(sum(${summand}) filter (where ${where}), 0)::integer`,
});

const COUNTERS: readonly Counter[] = [
  counter('accepted', 'p.n', `p.what = 'accepted'`),
  ...OCCURRENCES.map((what) => counter(what, 'p.n', `p.by_event and p.what = '${what}'`)),
  ...OCCURRENCES.map((what) =>
    counter(`${what}_of_accepted`, 'p.n', `not p.by_event and p.what = '${what}'`),
  ),
  ...REPEATED.map((what) => counter(`reached_${what}`, 'p.firsts', `not p.by_event and p.what = '${what}'`)),
];

/** The columns of the table that hold counts. */
export const COUNTS: readonly string[] = COUNTERS.map(({ column }) => column);

/** The sums over `parts p` that make these columns. */
export const SUMS = COUNTERS.map(({ column, sum }) => `${sum} as ${column}`).join(', ');

const beginningOf = (length: '15 minutes' | '1 hour', moment: string): string =>
  `date_bin('${length}', ${moment}, timestamptz '2000-01-01 00:00:00Z')`;

/** The hour (UTC) of a moment, as SQL. */
export const hourOf = (moment: string): string => beginningOf('1 hour', moment);

const quarterOf = (moment: string): string => beginningOf('15 minutes', moment);

/** The dimensions of the table beside the time. */
export const DIMENSIONS = 'domain_id, campaign_id, template_id, tags';

/** The emails of `turns` and `inserts` that are counted, and how. */
interface CountingScope {
  /** SQL over `position`: true for positions among those of `turns`. */
  readonly isNew: string;
  /** Narrows the emails down, as SQL over their columns. */
  readonly where?: string;
  /** The columns of emails by which `parts` is split. Without them there is one part. */
  readonly apart?: string;
}

/**
 * CTEs that count in the workspace `$1`. They read the relations `inserts` (columns of emails) and `turns`
 * (`email_id`, `position`; all those of live mail that lie between two positions), and end in `parts`: how
 * often what happened to which emails in which quarter of an hour, once by the time of the event (`by_event`)
 * and once by the time at which the email was accepted.
 *
 * An email is looked up by its id alone: a join that the planner may turn around reads all of them. So are
 * its turns: whether one has a position is asked behind the fence, since the index of positions, which begins
 * with the workspace, looks as good as the key while nothing is known of a new day, and everything of the
 * workspace was read for each email then (measured: 240 ms a thousand turns with 7,000 on that day, and 22 by
 * the key). Its events are read once, those before `turns` as well, which tell who was reached already;
 * asking for each event what came before it took four times as long, since every question opens each day's
 * partition.
 */
export const partsCtes = ({ isNew, where = 'true', apart }: CountingScope): string => {
  const columns = apart === undefined ? '' : `, ${apart}`;
  return `touched as materialized (
  select t.email_id, b.* from (select distinct email_id from turns) t
  left join lateral (select at, ${DIMENSIONS} from emails where id = t.email_id and workspace_id = $1 offset 0) b on true
  where ${where}
), told as materialized (
  select t.*, o.position, e.type, e.occurred_at, e.by_machine,
    row_number() over (partition by t.email_id, e.type, e.recipient, e.by_machine order by o.revision, e.id) as turn
  from touched t
  cross join lateral (select revision, position, recorded from email_turns where email_id = t.email_id and workspace_id = $1 offset 0) o
  cross join lateral (
    select id, type, recipient, occurred_at, ${hasTraitSql('type', 'isVisit')} and data ->> 'via' is not null as by_machine
    from json_to_recordset(o.recorded) as r(id text collate "C", type text collate "C", recipient integer, occurred_at timestamptz, data json)
    offset 0
  ) e where o.position is not null
), seen as (
  select at as accepted_at, at as occurred_at, 'accepted' as what, cardinality(recipients) as n, 0 as first${columns}
  from inserts where ${where}
  union all
  select coalesce(at, occurred_at), occurred_at, case when by_machine then 'machine_' else '' end || type, 1,
    (turn = 1 and not by_machine and type = any('{${REPEATED.join()}}'))::integer${columns}
  from told where ${isNew}
), grouped as (
  select ${quarterOf('accepted_at')} as accepted_in, ${quarterOf('occurred_at')} as occurred_in, what, sum(n)::integer as n,
    sum(first)::integer as firsts${columns}
  from seen group by 1, 2, what${columns}
), parts as (
  select occurred_in as quarter, true as by_event, what, n, firsts${columns} from grouped
  union all
  select accepted_in, false, what, n, firsts${columns} from grouped where what <> 'accepted'
)`;
};

/**
 * The most tags of a workspace that are counted, and the most of those with the same name, first come first
 * counted.
 */
export const MOST_TAGS = 1_000;
export const MOST_VALUES = 100;

/**
 * True for tags that begin with the name of the tag `t`. A name holds no `:`, and `;` is the character behind
 * it.
 */
export const ofSameName = (t: string): string =>
  `>= split_part(${t}, ':', 1) || ':' and tag < split_part(${t}, ':', 1) || ';'`;

/** CTEs that read `parts`, and end in `fresh`: the tags of workspace `$1` that are counted from now on. */
export const FRESH_TAGS = `unknown as (
  select t.tag, (select count(*) from analytics_tags a where a.workspace_id = $1) as others,
    (select count(*) from analytics_tags where workspace_id = $1 and tag ${ofSameName('t.tag')}) as others_of_name
  from (select distinct unnest(tags) collate "C" as tag from parts) t
  where not exists (select from analytics_tags a where a.workspace_id = $1 and a.tag = t.tag)
), ranked as (
  select tag, others, others_of_name + row_number() over (partition by split_part(tag, ':', 1) order by tag) as place_of_name
  from unknown
), fresh as materialized (
  select tag from (
    select tag, others + row_number() over (order by tag) as place from ranked where place_of_name <= ${MOST_VALUES}
  ) r where place <= ${MOST_TAGS}
)`;

/** Every scope that `parts p` belong to, as a lateral join under the alias `s`. */
export const SCOPES = `(
    select distinct concat_ws(' ', d, c, t, '#' || g) as scope
    from unnest(array[null, p.domain_id]) d cross join unnest(array[null, p.campaign_id]) c
      cross join unnest(array[null, p.template_id]) t cross join (
        select null as g
        union all
        select u.tag from unnest(p.tags) u(tag)
        where u.tag collate "C" in (select f.tag from fresh f)
          or exists (select from analytics_tags a where a.workspace_id = $1 and a.tag = u.tag)
      ) tags
  ) s`;

/** The emails in question. */
export interface Scope {
  readonly domainId?: string | undefined;
  readonly campaignId?: string | undefined;
  readonly templateId?: string | undefined;
  /** `name:value` */
  readonly tag?: string | undefined;
}

/** The scope as the table has it. */
export const scopeText = ({ domainId, campaignId, templateId, tag }: Scope): string =>
  [domainId, campaignId, templateId, tag === undefined ? undefined : `#${tag}`]
    .filter((part) => part !== undefined)
    .join(' ');
