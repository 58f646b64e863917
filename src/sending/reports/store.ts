import type { AggregateReport } from '../../mail/inbound/aggregate/aggregate-report.ts';
import type { Database } from '../../platform/db/database.ts';
import type { CountedNumbers } from './attribution.ts';

/** Sources that are summed apart for a domain and day; further ones share one row. */
export const MOST_SOURCES_A_DAY = 5_000;
/**
 * Reports that count for a domain in a day. Large receivers send some a day each, and there are some hundred
 * of them.
 */
export const MOST_REPORTS_A_DAY = 1_000;
/**
 * Those of one reporter. Large receivers send one for each of their regions; further ones count as
 * unverified, and leave room for others.
 */
export const MOST_OF_REPORTER_A_DAY = 50;

const DAY = "interval '24 hours'";
const BEFORE = `from aggregate_reports a where a.domain_id = t.domain_id and a.received_at > $6::text::timestamptz - ${DAY}`;

/**
 * Marks the report as counted, for each domain that has not counted it yet. Only those rows are added up.
 * Rows are written in the order of their keys everywhere, so that two reports wait for each other in no
 * circle.
 */
const TAKEN = `candidates as (
  select t.domain_id, t.messages, (select count(*) ${BEFORE}) < ${MOST_REPORTS_A_DAY}
    and (select count(*) ${BEFORE} and a.reporter = $3) < ${MOST_OF_REPORTER_A_DAY} as is_within
  from (select r.domain_id, sum(r.messages)::bigint as messages from incoming r group by r.domain_id) t
  where not exists (select from aggregate_reports a where a.domain_id = t.domain_id and a.kind = $2 and a.reporter = $3
    and a.report_id = $4)
), taken as (
  insert into aggregate_reports (domain_id, kind, reporter, report_id, day, received_at, messages, policy)
  select c.domain_id, $2, $3, $4, $5::text::date, $6::text::timestamptz, c.messages, $7
  from candidates c where c.is_within order by c.domain_id
  on conflict do nothing returning domain_id
), refused as (
  insert into unverified_reports as u (domain_id, day, reports)
  select c.domain_id, ($6::text::timestamptz at time zone 'UTC')::date, 1 from candidates c where not c.is_within order by c.domain_id
  on conflict (domain_id, day) do update set reports = least(1000000000, u.reports + 1)
)`;

/** The rows for each owner of their name. */
const INCOMING = (columns: string): string => `json_to_recordset($1::text::json) as r(name text, ${columns})
  join (select o.name, o."domainId" as domain_id from json_to_recordset($8::text::json) as o(name text, "domainId" text)) o using (name)`;

/**
 * Counts a DMARC report once, in one statement. Beyond the most sources of a day the source is empty, so that
 * a forger with a domain and many addresses cannot fill the table.
 */
const COUNT_DMARC = `with incoming as materialized (
  select * from ${INCOMING('source text, "isDkimAligned" boolean, "isSpfAligned" boolean, disposition text, messages bigint')}
), ${TAKEN}, ranked as (
  select r.*, exists (select from dmarc_sums s where s.domain_id = r.domain_id and s.day = $5::text::date
      and s.source = r.source) as is_known,
    dense_rank() over (partition by r.domain_id order by r.source) as place
  from incoming r join taken t on t.domain_id = r.domain_id
), known as (
  select t.domain_id, (select count(distinct s.source) from dmarc_sums s
    where s.domain_id = t.domain_id and s.day = $5::text::date) as sources from taken t
), summed as (
  select r.domain_id, case when r.is_known or k.sources + r.place <= ${MOST_SOURCES_A_DAY} then r.source else '' end as source,
    r."isDkimAligned" as dkim, r."isSpfAligned" as spf, r.disposition, sum(r.messages)::bigint as messages
  from ranked r join known k on k.domain_id = r.domain_id group by 1, 2, 3, 4, 5
), stored as (
  insert into dmarc_sums as s (domain_id, day, source, is_dkim_aligned, is_spf_aligned, disposition, messages)
  select domain_id, $5::text::date, source, dkim, spf, disposition, messages from summed
  order by domain_id, source, dkim, spf, disposition
  on conflict (domain_id, day, source, is_dkim_aligned, is_spf_aligned, disposition)
  do update set messages = s.messages + excluded.messages
)
select 1 as one`;

const COUNT_TLS = `with incoming as materialized (
  select *, r.sessions as messages from ${INCOMING('result text, sessions bigint')}
), ${TAKEN}, stored as (
  insert into tls_sums as s (domain_id, day, result, sessions)
  select r.domain_id, $5::text::date, r.result, sum(r.sessions)::bigint
  from incoming r join taken t on t.domain_id = r.domain_id group by 1, 3 order by 1, 3
  on conflict (domain_id, day, result) do update set sessions = s.sessions + excluded.sessions
)
select 1 as one`;

/** Counts a report for those domains of its rows that have not counted it yet. @throws UnavailableError */
export async function countReport(
  database: Database,
  report: AggregateReport,
  reporter: string,
  { rows, owners }: CountedNumbers,
  now: number,
): Promise<void> {
  const isDmarc = report.kind === 'dmarc';
  await database.query(isDmarc ? COUNT_DMARC : COUNT_TLS, [
    JSON.stringify(rows),
    report.kind,
    reporter,
    isDmarc ? `${report.id} ${contentOf(report)}` : report.id,
    report.day,
    new Date(now).toISOString(),
    isDmarc ? policyText(report) : null,
    JSON.stringify(owners),
  ]);
}

/**
 * rspamd gives the reports of several days one id and one period (`rspamadm dmarc_report 20261122 20261123`),
 * so that their numbers tell them apart. A report that comes again has the same ones.
 */
function contentOf({ rows }: Extract<AggregateReport, { kind: 'dmarc' }>): string {
  const lines = rows.map((row) => JSON.stringify(row)).sort();
  return new Bun.CryptoHasher('sha256').update(lines.join('\n')).digest('hex').slice(0, 32);
}

/** A policy in testing acts one level weaker (RFC 9989 4.7, `t=y`). */
const policyText = ({ policy }: Extract<AggregateReport, { kind: 'dmarc' }>): string | null =>
  policy.isTesting && policy.p !== null
    ? `${policy.p.slice(0, 20)} (testing)`
    : (policy.p?.slice(0, 20) ?? null);

const COUNT_UNVERIFIED = `insert into unverified_reports as u (domain_id, day, reports)
select id, $2::text::date, 1 from unnest($1::text[]) as id order by id
on conflict (domain_id, day) do update set reports = least(1000000000, u.reports + 1)`;

/**
 * Counts a mail that counts for nothing else: one number a domain and day, whatever comes. @throws
 * UnavailableError
 */
export async function countUnverified(
  database: Database,
  domainIds: readonly string[],
  now: number,
): Promise<void> {
  await database.query(COUNT_UNVERIFIED, [domainIds, new Date(now).toISOString().slice(0, 10)]);
}
