import { expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { ContactCounter } from '../../src/audience/audiences/count.ts';
import { contactFields, type FilteredContact } from '../../src/audience/audiences/fields.ts';
import { CONTACT_STATUSES } from '../../src/mail/list-files/consent-words.ts';
import { execute } from '../../src/platform/db/database.ts';
import { type Filter, Problems } from '../../src/platform/filters/condition.ts';
import { readFilter } from '../../src/platform/filters/tree.ts';
import { eachField } from '../../src/platform/text/contact-fields.ts';
import { rowsOf } from '../support/engine.ts';
import { ASKED, people, treeOf, type Values } from '../support/filter-arbitrary.ts';
import { NOW } from '../support/filter-cases.ts';
import type { Person } from '../support/filtered-people.ts';
import { onEachStore } from '../support/shared-store.ts';

/** Trees of one test; FILTER_TREES=10000 makes a longer search of several. */
const TREES = 400;
const SEARCHES = Math.ceil(Number(process.env.FILTER_TREES ?? TREES) / TREES);
const BATCH = 40;

const CAMPAIGNS = ['cmp_1', 'cmp_2'];
const TYPES = ['opened', 'clicked', 'delivered', 'event'] as const;
const statuses = fc.constantFrom(...CONTACT_STATUSES, 'none');
const campaign = fc.constantFrom(...CAMPAIGNS);
const {
  eq: _eq,
  neq: _neq,
  gt: _gt,
  gte: _gte,
  lt: _lt,
  lte: _lte,
  ...ofLastTime
} = ASKED.createdAt as Values;
const activity: Values = {
  ...ofLastTime,
  eq: campaign,
  neq: campaign,
  in: fc.array(campaign, { minLength: 1 }),
};

const FIELDS: Readonly<Record<string, Values>> = {
  ...Object.fromEntries(Object.entries(ASKED).filter(([field]) => field.startsWith('properties.'))),
  email: ASKED.name as Values,
  firstName: ASKED.name as Values,
  status: { eq: statuses, neq: statuses, in: fc.array(statuses, { minLength: 1 }) },
  createdAt: ASKED.createdAt as Values,
  unsubscribedAt: ASKED.createdAt as Values,
  lastActivityAt: ASKED.createdAt as Values,
  audiences: {
    eq: fc.constantFrom('aud_1', 'aud_2', 'aud_dynamic'),
    neq: fc.constantFrom('aud_1', 'aud_dynamic'),
    in: fc.array(fc.constantFrom('aud_1', 'aud_2', 'aud_dynamic'), { minLength: 1 }),
  },
  'activity.opened': activity,
  'activity.clicked': activity,
  'activity.delivered': activity,
  'activity.event:bought': ofLastTime,
};

const iso = (at: number, micros: number): string =>
  new Date(at).toISOString().replace('Z', `${String(micros).padStart(3, '0')}Z`);

type Generated = FilteredContact & { readonly id: string; readonly micros: number };

/** A contact with what was generated of a person. */
const contactOf = (person: Person): Generated => ({
  id: `con_${person.id}`,
  emailKey: `${person.id}ab@50.example`,
  ...eachField(() => null),
  firstName: person.name,
  status: CONTACT_STATUSES[person.id % CONTACT_STATUSES.length] as string,
  createdAt: person.createdAt ?? NOW,
  updatedAt: NOW,
  unsubscribedAt: person.createdAt,
  micros: person.micros,
  properties: person.properties,
  audiences: person.audiences,
  activity: person.opened.map((at, index) => ({
    type: TYPES[(person.id + index) % TYPES.length] as string,
    subject: index === 0 ? 'bought' : null,
    campaignId: CAMPAIGNS[(person.id + index) % 3] ?? null,
    byMachine: person.id % 5 === 0,
    at,
  })),
});

onEachStore('filters over contacts', (store) => {
  async function put(contacts: readonly Generated[]): Promise<void> {
    const rows = contacts.map((one) => ({
      ...one,
      created: iso(one.createdAt, one.micros),
      unsubscribed: one.unsubscribedAt === null ? null : iso(one.unsubscribedAt, one.micros),
    }));
    await rowsOf(
      store.database,
      'with a as (delete from contacts), m as (delete from audience_members), c as (delete from contact_activity) select',
    );
    await rowsOf(
      store.database,
      `with input as (
        select * from jsonb_to_recordset($1::text::jsonb) as r(id text, "emailKey" text, "firstName" text, status text,
          created timestamptz, unsubscribed timestamptz, properties jsonb, audiences jsonb, activity jsonb)
      ), members as (
        insert into audience_members select jsonb_array_elements_text(audiences), id, 'joined', now() from input
      ), active as (
        insert into contact_activity (contact_id, id, livemode, type, at, subject, campaign_id, by_machine)
        select i.id, 'act_' || row_number() over (), true, a.type, timestamptz 'epoch' + a.at * interval '1 millisecond', a.subject,
          a."campaignId", a."byMachine"
        from input i cross join jsonb_to_recordset(i.activity)
          as a(type text, subject text, "campaignId" text, "byMachine" boolean, at bigint)
      )
      insert into contacts (workspace_id, livemode, id, email, email_key, first_name, properties, status, unsubscribed_at, created_at, updated_at)
      select 'ws', true, id, "emailKey", "emailKey", "firstName", properties, status, unsubscribed, created, '${new Date(NOW).toISOString()}'
      from input`,
      [JSON.stringify(rows)],
    );
  }

  async function found(filters: readonly Filter<FilteredContact>[]): Promise<readonly (readonly string[])[]> {
    const each = filters.map(
      (filter, index) =>
        sql`select ${sql.raw(String(index))} as filter, "contacts"."id" from "contacts" where ${filter.sql(NOW)}`,
    );
    const rows = await execute<{ filter: number; id: string }>(
      store.database,
      sql`${sql.join(each, sql` union all `)} order by 1, 2`,
    );
    return filters.map((_, index) => rows.filter(({ filter }) => filter === index).map(({ id }) => id));
  }

  const searches = Array.from({ length: SEARCHES }, (_, index) => index + 1);
  test.each(searches)('find what 400 generated trees find in memory, search %i', async () => {
    const inner = readFilter({ field: 'status', operator: 'neq', value: 'subscribed' }, '', contactFields());
    if (inner instanceof Problems) throw new Error(JSON.stringify(inner.details));
    const fields = contactFields(new Map([['aud_dynamic', inner]]));
    const filterOf = (tree: unknown): Filter<FilteredContact> => {
      const filter = readFilter(tree, '', fields);
      if (filter instanceof Problems) throw new Error(JSON.stringify([tree, filter.details]));
      return filter;
    };
    let [asked, hits] = [0, 0];
    const trees = fc.array(treeOf(FIELDS), { minLength: BATCH, maxLength: BATCH });
    await fc.assert(
      fc.asyncProperty(people, trees, async (persons, generated) => {
        const contacts = persons.map(contactOf);
        await put(contacts);
        const filters = generated.map(filterOf);
        const inMemory = filters.map((filter) =>
          contacts
            .filter((one) => filter.matches(one, NOW))
            .map(({ id }) => id)
            .toSorted(),
        );
        const inSql = (await found(filters)).map((ids) => ids.toSorted());
        expect(generated.map((tree, index) => ({ tree, ids: inSql[index] }))).toEqual(
          generated.map((tree, index) => ({ tree, ids: inMemory[index] })),
        );
        asked += filters.length;
        hits += inSql.filter((ids) => ids.length > 0 && ids.length < contacts.length).length;
      }),
      { numRuns: Math.ceil(TREES / BATCH) },
    );
    expect(hits).toBeGreaterThan(asked / 4);
  });

  test('a count that would cost too much is estimated, and said to be', async () => {
    await rowsOf(store.database, 'delete from contacts');
    await rowsOf(
      store.database,
      `insert into contacts (workspace_id, livemode, id, email, email_key, properties, status, created_at, updated_at)
      select case when n % 10 = 0 then 'other' else 'ws' end, true, 'con_' || n, 'e' || n, 'e' || n,
        case when n % 4 = 1 then '{"a": 1}' else '{"b": 1}' end::jsonb, 'subscribed', now(), now()
      from generate_series(1, 40000) n`,
    );
    await store.database.script('analyze contacts');
    const scope = { workspaceId: 'ws', livemode: true };
    const condition = sql`("contacts"."properties" -> 'a') is not null`;
    const exact = new ContactCounter(store.database);
    expect(await exact.count(scope, condition)).toEqual({ count: 10_000, isExact: true });
    const all = await exact.preview(scope, condition);
    expect(all.sample).toHaveLength(10);
    const estimating = new ContactCounter(store.database, 0);
    const { count, isExact, sample } = await estimating.preview(scope, condition);
    expect(isExact).toBe(false);
    // The sample is of whole pages, over which the contacts are spread evenly.
    expect(count).toBeGreaterThan(8_500);
    expect(count).toBeLessThan(11_500);
    // Matches are as common among the newest contacts, so that those are shown.
    expect(sample.map(({ id }) => id)).toEqual(all.sample.map(({ id }) => id));
    // Of an environment with hardly any contacts in the table a sample tells nothing.
    const none = { workspaceId: 'nobody', livemode: true };
    expect(await estimating.preview(none, condition)).toEqual({ count: 0, isExact: true, sample: [] });
  });
  test('a caller with too many counts at once does not delay the counts of others', async () => {
    const counter = new ContactCounter(store.database);
    const count = (workspaceId: string) => counter.count({ workspaceId, livemode: true }, sql`true`);
    const told = await Promise.allSettled([...Array(52).fill('ws'), 'other'].map(count));
    expect(told.map(({ status }) => status)).toEqual([
      ...Array(50).fill('fulfilled'),
      ...Array(2).fill('rejected'),
      'fulfilled',
    ]);
    expect(await count('ws')).toMatchObject({ isExact: true });
  });
});
