import postgres from 'postgres';
import { LIVE_KEY } from '../support/service.ts';
import { fillContacts } from './contacts-fill.ts';
import { load, type PreparedRequest, prepareGet, preparePost } from './load.ts';
import type { Row } from './table.ts';
import type { Section } from './workbench.ts';

const CONNECTIONS = 16;
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
 * Three conditions on properties, with other values each time: from one that an index answers well to those
 * for which every contact has to be looked at.
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
    bench.say(`Writing ${count.toLocaleString('en')} contacts …`);
    await fillContacts(sql, count);
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
