import postgres from 'postgres';
import { lowestIdAt } from '../../src/db/ids.ts';
import { openDatabase } from '../../src/db/open.ts';
import { ensurePartitions } from '../../src/db/partitions.ts';

const DAY = 86_400_000;
/** Emails a transaction; the event log's positions are transactions, so that it should have many. */
const CHUNK = 20_000;
const CONNECTIONS = 2;

/** How many emails, and over how many days up to now. */
export interface Filling {
  readonly url: string;
  readonly emails: number;
  readonly days: number;
  /** The workspace that is read from; it gets two fifths, four others get the rest. */
  readonly workspaceId: string;
}

/** Crockford's base32 of a moment in ms, as ids have it (src/db/ids.ts). */
const TIME_PART = Array.from(
  { length: 10 },
  (_, n) => `substr('0123456789abcdefghjkmnpqrstvwxyz', ((ms >> ${5 * (9 - n)}) & 31)::int + 1, 1)`,
).join(' || ');

/**
 * What the emails that are there already look like, one row a shape: everything is made in their image, so that no row
 * can differ from what the service writes.
 */
const SHAPES = [
  `create table bench_shapes as
   select row_number() over (order by e.id)::int as shape, e.*, m.sender_key, m.tags, m.envelope, m.content
   from emails e join email_messages m on m.id = e.id`,
  `create table bench_shape_events as
   select s.shape, row_number() over (partition by s.shape order by v.position, v.id)::int as nth,
     v.type, v.recipient, v.data, v.occurred_at - to_timestamp(0) as placed
   from bench_shapes s join email_events v on v.email_id = s.id`,
];

/** Nine of ten emails are of the first shape; the others share the tenth. */
const STAGED = `create temp table staged on commit drop as
select 'em_' || stamp || substr(md5('m' || g), 1, 14) as id, stamp, g, to_timestamp(ms / 1000.0) as at,
  case when g % 10 < 4 then $1 else 'ws_bench_' || g % 4 end as workspace_id,
  case when g % 100 < 90 then 1 else 2 + g % (select count(*)::int - 1 from bench_shapes) end as shape
from (select g, ms, ${TIME_PART} as stamp
      from (select g, ($2::float8 + (g - $3::int) * $4::float8)::bigint as ms
            from generate_series($3::int, $5::int - 1) g) as moments) as stamped`;

const FILLS = [
  `insert into emails select p.id, p.workspace_id, true, s.state,
     replace(s.context::text, '"livemode":false', '"livemode":true')::json, s.revision, s.machine_version, s.timers,
     s.wake_at, s.recipients, s.recipient_keys, s.last_event, s.failure_reason, s.scheduled_at,
     case when s.sent_at is not null then p.at + interval '200 ms' end,
     case when s.delivered_at is not null then p.at + interval '300 ms' end
   from staged p join bench_shapes s using (shape) order by p.id`,
  `insert into email_messages (id, workspace_id, livemode, sender_key, subject, tags, envelope, content)
   select p.id, p.workspace_id, true, s.sender_key, 'Your order ' || p.g, s.tags, s.envelope, s.content
   from staged p join bench_shapes s using (shape) order by p.id`,
  `insert into email_events (email_id, id, workspace_id, livemode, type, recipient, occurred_at, data)
   select p.id, 'evt_' || p.stamp || substr(md5('e' || v.nth || '/' || p.g), 1, 14), p.workspace_id, true, v.type,
     v.recipient, p.at + v.nth * interval '150 ms', v.data
   from staged p join bench_shape_events v using (shape) order by p.id, v.nth`,
];

/** Writes emails, their messages and events straight into the tables; journals are left out, since no list reads them. */
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
    select count(*)::int as n from email_messages_default where id > ${lowestIdAt('em', start)}`;
  await after.end();
  if (strays?.n) throw new Error(`${strays.n} emails lie in no day's partition.`);
}
