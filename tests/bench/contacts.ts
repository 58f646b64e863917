import postgres from 'postgres';
import { LIVE_KEY } from '../support/service.ts';
import { load, type PreparedRequest, prepareGet, preparePost } from './load.ts';
import type { Row } from './table.ts';
import type { Section } from './workbench.ts';

const CONNECTIONS = 16;
const CHUNK = 50_000;
const YEAR_MS = 365 * 86_400_000;

/** Crockford's base32 of a moment in ms, as ids have it (src/db/ids.ts). */
const TIME_PART = Array.from(
  { length: 10 },
  (_, n) => `substr('0123456789abcdefghjkmnpqrstvwxyz', ((ms >> ${5 * (9 - n)}) & 31)::int + 1, 1)`,
).join(' || ');

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

const property = (key: string, operator: string, value: unknown) => ({
  field: `properties.${key}`,
  operator,
  value,
});

const below = (count: number): number => Math.floor(Math.random() * count);
const country = () => property('country', 'eq', `c${below(64)}`);
const seats = (from: number) => property('seats', 'gt', from + below(90));
const renewed = () => property('renewsOn', 'before', `2026-${String(1 + below(12)).padStart(2, '0')}-15`);

/**
 * Three conditions on properties, with other values each time: from one that an index answers well to those for which every
 * contact has to be looked at.
 */
const FILTERS: readonly (readonly [string, () => readonly unknown[]])[] = [
  ['two that are equal, one that is greater', () => [property('plan', 'eq', 'team'), country(), seats(900)]],
  ['one that is equal, a number, a date', () => [country(), seats(500), renewed()]],
  [
    'a part of a text, a number, a date: nothing for an index',
    () => [property('plan', 'contains', 'RE'), seats(500), renewed()],
  ],
  ['nobody: nothing for an index', () => [property('plan', 'endsWith', 'x'), seats(500), renewed()]],
];

/** Lists, searches and previews with a million contacts. */
export const contacts: Section = {
  name: 'contacts',
  async run(bench) {
    const { contacts: count, seconds } = bench.scale;
    const url = await bench.database('bench_contacts');
    await using service = await bench.service(url);
    const sql = postgres(url, { max: 1, onnotice: () => {} });
    const [workspace] = await sql<{ id: string }[]>`select id from workspaces`;
    bench.say(`Writing ${count.toLocaleString('en')} contacts …`);
    for (let from = 1; from <= count; from += CHUNK)
      await sql.unsafe(FILL, [
        ...[workspace?.id ?? '', Date.now() - YEAR_MS, YEAR_MS / count],
        ...[from, Math.min(count, from + CHUNK - 1)],
      ]);
    await sql.unsafe('vacuum analyze contacts');
    await sql.end();

    const any = () => Math.ceil(Math.random() * count);
    const get = (path: string | (() => string)): PreparedRequest => prepareGet(service.port, path, LIVE_KEY);
    const asks: readonly (readonly [string, PreparedRequest])[] = [
      ['list, first page', get('/v1/contacts?limit=50')],
      ['list, status=unsubscribed', get('/v1/contacts?limit=50&status=unsubscribed')],
      ['search, an address (one)', get(() => `/v1/contacts?search=p${any()}@`)],
      ['search, a first name (some 200)', get(() => `/v1/contacts?search=first${1000 + (any() % 4000)}`)],
      ['search, half of everybody', get('/v1/contacts?limit=50&search=first')],
      ['search, nobody', get('/v1/contacts?search=nobody')],
      ['detail by address', get(() => contactPath(any()))],
      ...FILTERS.map(
        ([what, conditions]) =>
          [
            `preview, ${what}`,
            preparePost(service.port, '/v1/audiences/preview', LIVE_KEY, () => ({
              filter: { and: conditions() },
            })),
          ] as const,
      ),
    ];
    const rows: Row[] = [];
    for (const [what, request] of asks) {
      bench.say(`Contacts: ${what} …`);
      const trial = await load(request, CONNECTIONS, 2 * CONNECTIONS);
      const asked = Math.max(4 * CONNECTIONS, Math.round(trial.perSecond * seconds));
      const spent = bench.meterCpu(service);
      const result = await load(request, CONNECTIONS, asked);
      const { 200: good = 0, ...bad } = result.statuses;
      if (good !== asked)
        bench.remark(
          `Contacts, ${what}: of ${asked} requests ${good} were answered with 200, ${JSON.stringify(bad)}.`,
        );
      rows.push({
        what: `(c) ${what}`,
        ...result,
        perSecond: (result.perSecond * good) / asked,
        cpu: spent(asked),
      });
    }
    await service.stop();
    await bench.drop('bench_contacts');
    return rows;
  },
};

const contactPath = (n: number): string => `/v1/contacts/p${n}@d${n % 997}.example`;
