import type { Call } from '../../http/request/route.ts';
import { TLS_FAILURE_TYPES } from '../../mail/inbound/aggregate/aggregate-report.ts';
import type { Database, Parameter } from '../../platform/db/database.ts';
import { Failure, invalidAt, notFound } from '../../platform/errors/failure.ts';
import { DAY_MS } from '../../platform/time/clock.ts';
import { findReportedDomain } from '../domains/queries.ts';
import { adviceOn, LARGE_RECEIVERS, LEAST_REPORTERS } from './advice.ts';
import {
  type DmarcCounts,
  type DomainReports,
  MOST_DAYS,
  MOST_REPORTERS,
  MOST_SOURCES,
  type ReportsQuery,
} from './model.ts';

const IS_ALIGNED = '(is_dkim_aligned or is_spf_aligned)';

const COUNTS = `coalesce(sum(messages), 0)::float8 as messages,
  coalesce(sum(messages) filter (where ${IS_ALIGNED}), 0)::float8 as aligned,
  coalesce(sum(messages) filter (where is_dkim_aligned), 0)::float8 as "dkimAligned",
  coalesce(sum(messages) filter (where is_spf_aligned), 0)::float8 as "spfAligned",
  coalesce(sum(messages) filter (where disposition = 'quarantine'), 0)::float8 as quarantined,
  coalesce(sum(messages) filter (where disposition = 'reject'), 0)::float8 as rejected`;

const OF_DAYS = 'domain_id = $1 and day between $2::text::date and $3::text::date';

const BY_DAY = `select to_char(day, 'YYYY-MM-DD') as day, ${COUNTS} from dmarc_sums where ${OF_DAYS} group by 1`;
const BY_SOURCE = `select nullif(source, '') as address, ${COUNTS} from dmarc_sums where ${OF_DAYS}
group by source order by 2 desc, source limit ${MOST_SOURCES}`;

/** A source that ever sends aligned mail is a server of the owner's; any other is not set up, or a forger. */
const OWN = `select count(*) filter (where aligned = 0)::integer as strangers,
  coalesce(sum(messages - aligned) filter (where aligned > 0), 0)::float8 as unaligned,
  (array_agg(source order by messages - aligned desc, source) filter (where aligned > 0 and messages > aligned and source <> ''))[1] as worst
from (select source, sum(messages) as messages, coalesce(sum(messages) filter (where ${IS_ALIGNED}), 0) as aligned
  from dmarc_sums where ${OF_DAYS} group by source) s`;

const REPORTERS = `select reporter as domain, count(*)::integer as reports, sum(messages)::float8 as messages,
  (array_agg(policy order by received_at desc, report_id))[1] as policy
from aggregate_reports where ${OF_DAYS} and kind = 'dmarc'
group by reporter order by 3 desc, reporter limit ${MOST_REPORTERS}`;
const RECEIPTS = `select count(*) filter (where kind = 'dmarc')::integer as dmarc, count(*) filter (where kind = 'tls')::integer as tls,
  count(distinct reporter) filter (where kind = 'dmarc')::integer as reporters,
  coalesce(bool_or(reporter in (${LARGE_RECEIVERS.map((name) => `'${name}'`).join(', ')})) filter (where kind = 'dmarc'), false) as "hasLarge"
from aggregate_reports where ${OF_DAYS}`;
const TLS = `select result, sum(sessions)::float8 as sessions from tls_sums where ${OF_DAYS} group by result`;
const UNVERIFIED = `select coalesce(sum(reports), 0)::float8 as reports from unverified_reports where ${OF_DAYS}`;

interface DayRow extends DmarcCounts {
  readonly day: string;
}

/** Sums the reports about a domain of the caller's workspace. @throws UnavailableError */
export async function readReports(
  { database }: { readonly database: Database },
  { caller, params, query, now }: Call<{ readonly id: string }, ReportsQuery>,
): Promise<DomainReports | Failure> {
  const days = daysOf(query, now);
  if (days instanceof Failure) return days;
  const domain = await findReportedDomain(database, caller, params.id);
  if (domain === null) return notFound('domain');
  const [from = '', to = ''] = [days[0], days.at(-1)];
  const read = <Row extends object>(text: string): Promise<Row[]> => {
    const parameters: readonly Parameter[] = [params.id, from, to];
    return database.query<Row>(text, parameters, { isPage: true });
  };
  const [dayRows, sources, [own], reporters, [receipts], tls, [unverified]] = await Promise.all([
    read<DayRow>(BY_DAY),
    read<DomainReports['dmarc']['sources'][number]>(BY_SOURCE),
    read<{ strangers: number; unaligned: number; worst: string | null }>(OWN),
    read<DomainReports['dmarc']['reporters'][number]>(REPORTERS),
    read<{ dmarc: number; tls: number; reporters: number; hasLarge: boolean }>(RECEIPTS),
    read<{ result: string; sessions: number }>(TLS),
    read<{ reports: number }>(UNVERIFIED),
  ]);
  const known = new Map(dayRows.map((row) => [row.day, row]));
  const totals = sumOf(dayRows);
  return {
    domainId: params.id,
    from,
    to,
    advice: adviceOn(
      {
        totals,
        daysWithMail: dayRows.filter(({ messages }) => messages > 0).length,
        unalignedOfOwn: own?.unaligned ?? 0,
        worstOwn: own?.worst ?? null,
        unalignedSources: own?.strangers ?? 0,
        policy: domain.policy,
        isWellReported: (receipts?.hasLarge ?? false) || (receipts?.reporters ?? 0) >= LEAST_REPORTERS,
      },
      `dmarc@${domain.host}`,
    ),
    dmarc: {
      reports: receipts?.dmarc ?? 0,
      policy: domain.policy,
      totals,
      days: days.map((day) => known.get(day) ?? { day, ...NOTHING }),
      sources,
      reporters,
    },
    tls: tlsOf(tls, receipts?.tls ?? 0),
    unverified: unverified?.reports ?? 0,
  };
}

const NOTHING: DmarcCounts = {
  messages: 0,
  aligned: 0,
  dkimAligned: 0,
  spfAligned: 0,
  quarantined: 0,
  rejected: 0,
};

function sumOf(rows: readonly DmarcCounts[]): DmarcCounts {
  const sums = { ...NOTHING };
  for (const row of rows)
    for (const name of Object.keys(NOTHING) as (keyof DmarcCounts)[]) sums[name] += row[name];
  return sums;
}

function tlsOf(
  rows: readonly { readonly result: string; readonly sessions: number }[],
  reports: number,
): DomainReports['tls'] {
  const sessions = new Map(rows.map((row) => [row.result, row.sessions]));
  const failures = TLS_FAILURE_TYPES.map((type) => ({ type, sessions: sessions.get(type) ?? 0 }))
    .filter((failure) => failure.sessions > 0)
    .toSorted((a, b) => b.sessions - a.sessions);
  return {
    reports,
    successful: sessions.get('successful') ?? 0,
    failed: failures.reduce((sum, failure) => sum + failure.sessions, 0),
    failures,
  };
}

/** Every day of the query, oldest first. */
function daysOf({ from, to }: ReportsQuery, now: number): readonly string[] | Failure {
  const problem = [from, to].findIndex((day) => day !== undefined && !isDay(day));
  if (problem !== -1)
    return invalidAt(
      `/query/${['from', 'to'][problem]}`,
      'Must be a day of the calendar, such as 2026-11-01.',
    );
  const last = Date.parse(to ?? dayText(now));
  const first = from === undefined ? last - 29 * DAY_MS : Date.parse(from);
  const length = Math.round((last - first) / DAY_MS) + 1;
  if (length < 1) return invalidAt('/query/from', 'Must not lie after `to`.');
  if (length > MOST_DAYS)
    return invalidAt('/query/from', `Ask for at most ${MOST_DAYS} days; these are ${length}.`);
  return Array.from({ length }, (_, index) => dayText(first + index * DAY_MS));
}

const dayText = (at: number): string => new Date(at).toISOString().slice(0, 10);
const isDay = (day: string): boolean => {
  const at = Date.parse(day);
  return !Number.isNaN(at) && dayText(at) === day;
};
