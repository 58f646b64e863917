import type postgres from 'postgres';
import { TIME_PART } from './reads-fill.ts';

const CHUNK = 50_000;
const YEAR_MS = 365 * 86_400_000;

/** Contacts of a year, with five properties: a plan of four, a country of fifty, two numbers and a date. */
const FILL = `insert into contacts (workspace_id, livemode, id, email, email_key, first_name, first_name_key, last_name, last_name_key,
  properties, status, created_at, updated_at)
select $1, true, 'con_' || ${TIME_PART} || substr(md5(n::text), 1, 14), 'p' || n || '@d' || n % 997 || '.example',
  'p' || n || '@d' || n % 997 || '.example', 'First' || n % 5000, 'first' || n % 5000, 'Last' || n % 20011, 'last' || n % 20011,
  jsonb_build_object('plan', (array['free', 'free', 'free', 'pro', 'team', 'free', 'free', 'free', 'free', 'free'])[n % 10 + 1],
    'country', 'c' || (hashint4(n) & 63), 'seats', abs(hashint4(n + 1)) % 1000, 'score', random(),
    'renewsOn', to_char(timestamp '2026-01-01' + (n % 400) * interval '1 day', 'YYYY-MM-DD')),
  case when n % 50 = 0 then 'unsubscribed' else 'subscribed' end, to_timestamp(ms / 1000.0), to_timestamp(ms / 1000.0)
from (select n, ($2::float8 + n * $3::float8)::bigint as ms from generate_series($4::integer, $5::integer) n) s`;

/** Writes live contacts of a year straight into the table, in the only workspace. */
export async function fillContacts(sql: postgres.Sql, count: number): Promise<void> {
  const [workspace] = await sql<{ id: string }[]>`select id from workspaces`;
  for (let from = 1; from <= count; from += CHUNK)
    await sql.unsafe(FILL, [
      workspace?.id ?? '',
      Date.now() - YEAR_MS,
      YEAR_MS / count,
      from,
      Math.min(count, from + CHUNK - 1),
    ]);
  await sql.unsafe('vacuum analyze contacts');
  // Without it, readers would write out the latest pages.
  await sql.unsafe('checkpoint');
}
