import postgres from 'postgres';
import { lowestIdAt } from '../../src/platform/db/ids.ts';
import { openDatabase } from '../../src/platform/db/open.ts';
import { ensurePartitions } from '../../src/platform/db/partitions.ts';
import { createClient } from '../support/client.ts';
import { TEST_KEY } from '../support/service.ts';
import { EMAIL, IN_A_WEEK } from './accepted.ts';
import { atRest } from './lives.ts';

const DAY = 86_400_000;
/** Emails a transaction. */
const CHUNK = 20_000;
const CONNECTIONS = 2;

/** Outcomes of the emails in the database: most have the first one, the others share the rest. */
const OUTCOMES = [
  { to: 'delivered@simulator.svc.test' },
  { to: 'bounced@simulator.svc.test' },
  { to: 'bounced-transient@simulator.svc.test' },
  { to: ['delivered@simulator.svc.test', 'bounced@simulator.svc.test'] },
  { to: 'opened@simulator.svc.test' },
  { to: 'delivered@simulator.svc.test', scheduledAt: IN_A_WEEK },
];

/** Has the service live through one email of each shape, in whose image `fill` makes all others. */
export async function liveThrough(serviceUrl: string, sql: postgres.Sql): Promise<void> {
  const client = createClient(serviceUrl, TEST_KEY);
  for (const outcome of OUTCOMES) await client.post('/v1/emails', { ...EMAIL, ...outcome });
  await atRest(sql);
}

/** The number of emails, and of days up to now over which they are spread. */
export interface Filling {
  readonly url: string;
  readonly emails: number;
  readonly days: number;
  /** The workspace that is read from; it gets two fifths, four others get the rest. */
  readonly workspaceId: string;
}

/** Crockford's base32 of a moment in `ms`, as ids have it (src/platform/db/ids.ts). */
export const TIME_PART = Array.from(
  { length: 10 },
  (_, n) => `substr('0123456789abcdefghjkmnpqrstvwxyz', ((ms >> ${5 * (9 - n)}) & 31)::int + 1, 1)`,
).join(' || ');

/**
 * Existing emails, one row a shape. All others are copies of these, so that no row
 * can differ from what the service writes.
 */
const SHAPES = [
  `create table bench_shapes as
   select row_number() over (order by e.id)::int as shape, e.* from emails e`,
  `create table bench_shape_turns as
   select s.shape, t.* from bench_shapes s join email_turns t on t.email_id = s.id`,
  `create table bench_shape_due as select s.shape, d.* from bench_shapes s join email_due d on d.id = s.id`,
];

/** Nine of ten emails are of the first shape; the others share the tenth. */
const STAGED = `create temp table staged on commit drop as
select 'em_' || stamp || substr(md5('m' || g), 1, 14) as id, stamp, g, to_timestamp(ms / 1000.0) as at,
  case when g % 10 < 4 then $1 else 'ws_bench_' || g % 4 end as workspace_id,
  case when g % 100 < 90 then 1 else 2 + g % (select count(*)::int - 1 from bench_shapes) end as shape
from (select g, ms, ${TIME_PART} as stamp
      from (select g, ($2::float8 + (g - $3::int) * $4::float8)::bigint as ms
            from generate_series($3::int, $5::int - 1) g) as moments) as stamped`;

/** A shape's JSON as that of a live email. */
const live = (column: string): string =>
  `replace(${column}::text, '"livemode":false', '"livemode":true')::json`;

const FILLS = [
  `insert into emails (id, workspace_id, livemode, state, context, timers, machine_version, commit_tag, steps, at, scheduled_at,
     recipients, recipient_keys, sender_key, subject, tags, envelope, content)
   select p.id, p.workspace_id, true, s.state, ${live('s.context')}, s.timers, s.machine_version, s.commit_tag, s.steps, p.at,
     s.scheduled_at, s.recipients, s.recipient_keys, s.sender_key, 'Your order ' || p.g, s.tags, s.envelope, s.content
   from staged p join bench_shapes s using (shape) order by p.id`,
  // The ids of events differ by the email and by their place; the rest of what was recorded is that of the
  // shape.
  `insert into email_turns (email_id, revision, workspace_id, livemode, state, context, timers, machine_version, commit_tag, steps,
     at, last_event, failure_reason, scheduled_at, sent_at, delivered_at, recorded, noted, position)
   select p.id, t.revision, p.workspace_id, true, t.state, ${live('t.context')}, t.timers, t.machine_version, t.commit_tag,
     t.steps, p.at + t.revision * interval '150 ms', t.last_event, t.failure_reason, t.scheduled_at,
     case when t.sent_at is not null then p.at + interval '200 ms' end,
     case when t.delivered_at is not null then p.at + interval '300 ms' end,
     (select json_agg(json_build_object('id', 'evt_' || p.stamp || substr(md5(e.nth || '/' || t.revision || '/' || p.g), 1, 14),
        'type', e.one->'type', 'recipient', e.one->'recipient', 'occurred_at', p.at, 'data', e.one->'data') order by e.nth)
      from json_array_elements(t.recorded) with ordinality e(one, nth)),
     -- A commit of the service has some hundred turns.
     t.noted, case when t.recorded is not null then 1000 + p.g / 100 end
   from staged p join bench_shape_turns t using (shape) order by p.id, t.revision`,
  `insert into email_due (id, workspace_id, livemode, state, wake_at)
   select p.id, p.workspace_id, true, d.state, d.wake_at from staged p join bench_shape_due d using (shape)`,
];

/** Writes emails and their turns straight into the tables. */
export async function fill({ url, emails, days, workspaceId }: Filling, say: (text: string) => void) {
  const database = await openDatabase({ url, dataDir: null });
  const start = Date.now() - days * DAY;
  for (let day = 0; day <= days; day++) await ensurePartitions(database, start + day * DAY);
  await database.close();
  const sql = postgres(url, {
    max: CONNECTIONS,
    onnotice: () => {},
    connection: { synchronous_commit: false, work_mem: '64MB' },
  });
  for (const statement of SHAPES) await sql.unsafe(statement);
  // The next positions of the service lie behind all positions that are given here.
  await sql.unsafe('update event_log set base = base + $1', [1_000 + emails]);
  const apart = (days * DAY - 60_000) / emails;
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < emails) {
      const from = next;
      next += CHUNK;
      const to = Math.min(emails, from + CHUNK);
      await sql.begin(async (tx) => {
        await tx.unsafe(STAGED, [workspaceId, start + from * apart, from, apart, to]);
        for (const statement of FILLS) await tx.unsafe(statement);
      });
      if (to % 1_000_000 === 0) say(`  ${to.toLocaleString('en')} written`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  // Backends hand in their counts when they close; what came after the vacuum would be counted twice.
  await sql.end();
  say('  vacuum analyze …');
  const after = postgres(url, { max: 1 });
  await after.unsafe('vacuum analyze');
  const [strays] = await after<{ n: number }[]>`
    select count(*)::int as n from emails_default where id > ${lowestIdAt('em', start)}`;
  await after.end();
  if (strays?.n) throw new Error(`${strays.n} emails lie in no day's partition.`);
}
