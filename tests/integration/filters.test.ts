import { beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import fc from 'fast-check';
import { execute } from '../../src/platform/db/database.ts';
import { OPERATORS } from '../../src/platform/filters/operators.ts';
import { rowsOf } from '../support/engine.ts';
import { ASKED, people, tree } from '../support/filter-arbitrary.ts';
import { CASES, NOW, PEOPLE_OF_CASES } from '../support/filter-cases.ts';
import { createPeople, filterOf, found, matching, PEOPLE, storePeople } from '../support/filtered-people.ts';
import { onEachStore } from '../support/shared-store.ts';

/** Trees of one test; FILTER_TREES=10000 makes a longer search of several. */
const TREES = 2_000;
const SEARCHES = Math.ceil(Number(process.env.FILTER_TREES ?? TREES) / TREES);
/** Trees that are asked of the same people in one statement. */
const BATCH = 40;

onEachStore('filters', (store) => {
  beforeAll(() => createPeople(store.database));

  test('find by every operator what they find in memory', async () => {
    await storePeople(store.database, PEOPLE_OF_CASES);
    const filters = CASES.map(([field, operator, value]) => filterOf({ field, operator, value }));
    const ids = await found(store.database, filters, NOW);
    expect(CASES.map((asked, index) => [...asked.slice(0, 3), ids[index]])).toEqual(
      CASES.map((asked) => [...asked]),
    );
  });

  const searches = Array.from({ length: SEARCHES }, (_, index) => index + 1);
  test.each(searches)('find what 2,000 generated trees find in memory, search %i', async () => {
    let [asked, hits] = [0, 0];
    const trees = fc.array(tree, { minLength: BATCH, maxLength: BATCH });
    await fc.assert(
      fc.asyncProperty(people, trees, async (rows, generated) => {
        await storePeople(store.database, rows);
        const filters = generated.map(filterOf);
        const ids = await found(store.database, filters, NOW);
        const each = (of: readonly (readonly number[])[]) =>
          generated.map((made, index) => ({ tree: made, ids: of[index] }));
        expect(each(ids)).toEqual(each(filters.map((filter) => matching(rows, filter, NOW))));
        asked += filters.length;
        hits += ids.filter((of) => of.length > 0 && of.length < rows.length).length;
      }),
      { numRuns: Math.ceil(TREES / BATCH) },
    );
    // Trees that find every contact or none would show little.
    expect(hits).toBeGreaterThan(asked / 3);
  });

  test('find equal properties by the index', async () => {
    await rowsOf(store.database, 'delete from people');
    await rowsOf(
      store.database,
      `insert into people (id, properties) select n, jsonb_build_object('seats', n, 'plan', 'free') from generate_series(1, 20000) n`,
    );
    await rowsOf(store.database, 'vacuum analyze people');
    const planOf = async (asked: unknown): Promise<string> =>
      (
        await execute<{ 'QUERY PLAN': string }>(
          store.database,
          sql`explain (costs off) select p.id from people p where ${filterOf(asked).sql(NOW)}`,
        )
      )
        .map((row) => row['QUERY PLAN'])
        .join('\n');
    const seats = (operator: string, value: unknown) => ({ field: 'properties.seats', operator, value });
    expect(await planOf(seats('eq', 50))).toContain('Bitmap Index Scan on people_properties');
    expect(await planOf(seats('in', [50, 51]))).toContain('Bitmap Index Scan on people_properties');
    expect(await planOf({ and: [seats('eq', 50), { not: seats('gt', 60) }] })).toContain(
      'Bitmap Index Scan on people_properties',
    );
    expect(await planOf(seats('gt', 50))).toContain('Seq Scan');
  });
});

describe('the SQL of filters', () => {
  const written = (asked: unknown) => new PgDialect().sqlToQuery(filterOf(asked).sql(NOW));

  test('holds no key of a client', () => {
    expect(written({ field: 'properties.zzz', operator: 'contains', value: 'zzz' }).sql).not.toContain('zzz');
    expect(written({ field: 'properties.zzz', operator: 'after', value: '2026-11-20' }).sql).not.toContain(
      'zzz',
    );
  });

  const OPERATIONS = Object.entries(ASKED).flatMap(([field, operators]) =>
    Object.entries(operators).map(([operator, values]) => [field, operator, values] as const),
  );

  test.each(OPERATIONS)('is decided by no value, for %s %s', (field, operator, values) => {
    // Lists differ by their length.
    const asked = fc.sample(values, 60).filter((value) => !Array.isArray(value) || value.length === 2);
    const texts = new Set(asked.map((value) => written({ field, operator, value }).sql));
    // `exists: false` is written otherwise than true, and a property is compared as a number or as a date.
    expect(texts.size).toBeLessThanOrEqual(2);
    expect(texts.size).toBeGreaterThan(0);
  });

  test('is tried for every operator of every field', () => {
    for (const [name, field] of Object.entries(PEOPLE.named))
      expect(Object.keys(ASKED[name] ?? {}).toSorted()).toEqual(Object.keys(field).toSorted());
    expect(Object.keys(ASKED['properties.a'] ?? {}).toSorted()).toEqual([...OPERATORS].toSorted());
  });
});
