import { beforeAll, describe, expect, test } from 'bun:test';
import { matchAudience } from '../../src/audience/audiences/queries.ts';
import { Contact, type ContactView, findContact, listContacts } from '../../src/audience/contacts/queries.ts';
import { type Call, WrittenPage } from '../../src/http/request/route.ts';
import { compileChecker } from '../../src/http/request/schema.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { eachField } from '../../src/platform/text/contact-fields.ts';
import { LIVE, rowsOf } from '../support/engine.ts';
import { onEachStore } from '../support/shared-store.ts';

// Few who begin with a text are named by indexes, many are looked for among the newest: both find the same
// along the cursors.

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
/** Up to so many are few. */
const FEW = 20;
/**
 * Characters with a meaning in JSON, CSV and SQL: quotes, backslashes, ends of lines, controls, characters
 * outside the plane of the others.
 */
const AWKWARD = 'O\'Neil "Ann" \\ \\u0041\n\r\t\u0001\u2028 \u{1f600} é {"a":1} </script>';

interface Row {
  readonly n: number;
  readonly id: string;
  readonly email: string;
  readonly first: string | null;
  readonly last: string | null;
  readonly status: string;
}

/** `ann` begins exactly as many names as are few, `berta` one more. */
const PEOPLE: readonly Row[] = Array.from({ length: 2 * FEW + 12 }, (_, n) => ({
  n,
  id: mintId('con', NOW + n),
  email: `p${n}@d${n % 7}.example`,
  first: n < FEW + 1 ? 'berta' : n < 2 * FEW + 1 ? 'ann' : null,
  last: n % 10 === 0 ? 'bermann' : null,
  status: n % 3 === 0 ? 'unsubscribed' : 'subscribed',
}));

const FILL = `insert into contacts (workspace_id, livemode, id, email, email_key, first_name, first_name_key, last_name, last_name_key,
  properties, status, unsubscribed_at, created_at, updated_at)
select $1, true, id, email, email, first, first, last, last, '{"n": 1.50, "deep": "\\"\\\\"}', status,
  case when status = 'unsubscribed' then $3::timestamptz end, $3::timestamptz, $3::timestamptz
from json_to_recordset($2::text::json) as r(id text, email text, first text, last text, status text)`;

interface Query {
  readonly search?: string;
  readonly status?: string;
  readonly audienceId?: string;
  readonly createdBefore?: string;
  readonly createdAfter?: string;
  readonly sort?: string;
}

/** Follows the cursors to the end; answers all contacts and the number of pages. */
async function follow(
  database: Database,
  query: Query,
  { limit = 10, mostSearched = 10_000 } = {},
): Promise<{ readonly contacts: readonly ContactView[]; readonly pages: number }> {
  const contacts: ContactView[] = [];
  const reader = { database, reads: database, mostSearched, few: FEW };
  const findAudience = matchAudience.bind(null, reader);
  let after: string | undefined;
  for (let pages = 1; ; pages++) {
    const call = { caller: LIVE, query: { limit, ...query, ...(after && { after }) }, now: NOW };
    const page = await listContacts({ ...reader, findAudience }, call as unknown as Call<unknown, never>);
    if (!(page instanceof WrittenPage)) throw new Error(page.message);
    contacts.push(...(JSON.parse(`[${page.text}]`) as ContactView[]));
    if (!page.pagination.hasMore) return { contacts, pages };
    expect(pages).toBeLessThanOrEqual(PEOPLE.length);
    after = page.pagination.nextCursor ?? undefined;
  }
}

const idsOf = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id);
const expected = (holds: (row: Row) => boolean): string[] => idsOf(PEOPLE.filter(holds)).reverse();
const begins = (text: string) => (row: Row) =>
  [row.email, row.first, row.last].some((each) => each?.startsWith(text) === true);

onEachStore('searching contacts', (store) => {
  beforeAll(async () => {
    await rowsOf(store.database, FILL, [
      LIVE.workspaceId,
      JSON.stringify(PEOPLE),
      new Date(NOW).toISOString(),
    ]);
    await store.database.script(`analyze contacts;
      insert into audiences (workspace_id, livemode, id, name, type, filter, public, confirm, created_at, updated_at) values
        ('${LIVE.workspaceId}', true, 'aud_s', 'Static', 'static', null, false, false, now(), now()),
        ('${LIVE.workspaceId}', true, 'aud_d', 'Dynamic', 'dynamic',
          '{"field": "email", "operator": "endsWith", "value": "@d3.example"}', false, false, now(), now());
      insert into audience_members select 'aud_s', id, 'joined', now() from contacts where right(email, 10) = 'd5.example'`);
  });

  describe.each([
    ['one', 'p17@'],
    ['as many as are few', 'ann'],
    ['one more than are few', 'berta'],
    ['many by one name, some by another', 'ber'],
    ['everybody', 'p'],
    ['nobody', 'x'],
  ])('%s', (_, term) => {
    test('is found whole, newest first', async () => {
      const { contacts } = await follow(store.database, { search: term });
      expect(idsOf(contacts)).toEqual(expected(begins(term)));
    });

    test('is found whole by a search that may look at three contacts alone', async () => {
      const { contacts } = await follow(store.database, { search: term }, { limit: 4, mostSearched: 3 });
      expect(idsOf(contacts)).toEqual(expected(begins(term)));
    });

    test('is found with a status, an audience and a date besides', async () => {
      const found = async (query: Query) =>
        idsOf((await follow(store.database, { search: term, ...query })).contacts);
      const sought = begins(term);
      expect(await found({ status: 'unsubscribed' })).toEqual(
        expected((row) => sought(row) && row.status === 'unsubscribed'),
      );
      expect(await found({ audienceId: 'aud_s', status: 'subscribed' })).toEqual(
        expected((row) => sought(row) && row.n % 7 === 5 && row.status === 'subscribed'),
      );
      expect(await found({ audienceId: 'aud_d' })).toEqual(expected((row) => sought(row) && row.n % 7 === 3));
      expect(await found({ createdBefore: new Date(NOW + 30).toISOString() })).toEqual(
        expected((row) => sought(row) && row.n < 30),
      );
    });
  });

  test('few are answered at once, many by no more than were looked at', async () => {
    const pages = async (term: string) =>
      (await follow(store.database, { search: term }, { mostSearched: 3 })).pages;
    expect(await pages('ann')).toBe(FEW / 10);
    expect(await pages('p')).toBe(Math.ceil(PEOPLE.length / 3));
  });

  test('lists without a search go by status and audience', async () => {
    const found = async (query: Query) => idsOf((await follow(store.database, query)).contacts);
    expect(await found({})).toEqual(expected(() => true));
    for (const status of ['subscribed', 'unsubscribed', 'bounced'])
      expect(await found({ status })).toEqual(expected((row) => row.status === status));
    expect(await found({ audienceId: 'aud_s' })).toEqual(expected(({ n }) => n % 7 === 5));
    expect(await found({ audienceId: 'aud_d' })).toEqual(expected(({ n }) => n % 7 === 3));
  });

  test('what a contact says comes back as it was written, and as the interface has it', async () => {
    const contact = { id: mintId('con', NOW - 1), email: 'Awkward@example.com' };
    const properties = { text: AWKWARD, tiny: 5e-324, huge: 1.7e308, small: -0.1, yes: true };
    await rowsOf(
      store.database,
      `insert into contacts (workspace_id, livemode, id, email, email_key, first_name, properties, status, created_at, updated_at)
      values ($1, true, $2, $3, lower($3), $4, $5::text::jsonb, 'bounced', '2026-01-02T03:04:05.006789Z', '0999-01-02T03:04:05Z')`,
      [LIVE.workspaceId, contact.id, contact.email, AWKWARD, JSON.stringify(properties)],
    );
    await store.database.script(`insert into audience_members values ('aud_b', '${contact.id}', 'joined', now()),
        ('aud_a', '${contact.id}', 'joined', now()), ('aud_c', '${contact.id}', 'pending', now());
      insert into contact_activity (contact_id, id, livemode, type, at, by_machine) values
        ('${contact.id}', 'act_1', true, 'opened', '2026-03-01T00:00:00Z', false),
        ('${contact.id}', 'act_2', true, 'opened', '2026-04-01T00:00:00Z', true)`);
    const [shown] = (await follow(store.database, { search: 'awk' })).contacts;
    expect(shown).toEqual({
      ...contact,
      livemode: true,
      ...eachField(() => null),
      firstName: AWKWARD,
      properties,
      status: 'bounced',
      audienceIds: ['aud_a', 'aud_b'],
      unsubscribedAt: null,
      lastActivityAt: '2026-03-01T00:00:00.000Z',
      createdAt: '2026-01-02T03:04:05.006Z',
      updatedAt: '0999-01-02T03:04:05.000Z',
    });
    expect(compileChecker(Contact)(shown, '')).toBeNull();
    expect(await findContact(store, LIVE, contact.id)).toEqual(shown as ContactView);
    await rowsOf(store.database, 'delete from contacts where id = $1', [contact.id]);
  });

  test('contacts of a time, in the order of addresses, are looked for among a bounded number of contacts', async () => {
    const since = new Date(NOW + PEOPLE.length - 2).toISOString();
    const { contacts, pages } = await follow(
      store.database,
      { sort: 'email', createdAfter: since },
      { mostSearched: 3 },
    );
    expect(idsOf(contacts)).toEqual(idsOf(PEOPLE.slice(-2).toSorted((a, b) => (a.email < b.email ? -1 : 1))));
    expect(pages).toBe(Math.ceil(PEOPLE.length / 3));
  });
});
