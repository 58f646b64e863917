import { describe, expect, test } from 'bun:test';
import { type IdRange, idRangeOf, listById } from '../../../src/http/lists/list.ts';
import { lowestIdAt, mintId } from '../../../src/platform/db/ids.ts';
import { Failure } from '../../../src/platform/errors/failure.ts';

const START = Date.parse('2026-11-01T00:00:00Z');
const HOUR = 3_600_000;
const caller = { workspaceId: 'ws_1', livemode: true };
/** Newest first, one an hour. */
const notes = Array.from({ length: 10 }, (_, hour) => ({ id: mintId('em', START + hour * HOUR) })).reverse();

const within = ({ below, from }: IdRange, id: string): boolean =>
  (below === null || id < below) && (from === null || id >= from);

const ask = (query: { after?: string; limit: number; createdAfter?: string; createdBefore?: string }) =>
  listById(
    { caller, query },
    {
      list: 'notes',
      prefix: 'em',
      rows: async (range, limit) => notes.filter(({ id }) => within(range, id)).slice(0, limit),
      item: ({ id }) => id,
    },
  );

const at = (hour: number): string => new Date(START + hour * HOUR).toISOString();

async function pages(query: Omit<Parameters<typeof ask>[0], 'after' | 'limit'>): Promise<string[]> {
  const seen: string[] = [];
  let after: string | null = null;
  do {
    const page = await ask({ ...query, limit: 3, ...(after === null ? {} : { after }) });
    if (page instanceof Failure) throw new Error(page.message);
    seen.push(...page.data);
    after = page.pagination.nextCursor;
  } while (after !== null);
  return seen;
}

describe('listById', () => {
  test('shows every row once over its pages, newest first', async () => {
    expect(await pages({})).toEqual(notes.map(({ id }) => id));
  });

  test('keeps createdAfter inclusive and createdBefore exclusive over all pages', async () => {
    expect(await pages({ createdAfter: at(2), createdBefore: at(8) })).toEqual(
      notes.slice(2, 8).map(({ id }) => id),
    );
  });

  test('answers nothing where the dates cross', async () => {
    expect(await pages({ createdAfter: at(8), createdBefore: at(2) })).toEqual([]);
  });

  test('refuses a cursor that was made for other dates', async () => {
    const first = await ask({ limit: 3, createdAfter: at(1) });
    const after = first instanceof Failure ? null : first.pagination.nextCursor;
    expect(await ask({ limit: 3, after: after ?? '' })).toMatchObject({ code: 'VALIDATION_ERROR' });
  });
});

test('idRangeOf goes up from the cursor or from createdAfter, whichever is later, oldest first', () => {
  const [low, high] = [lowestIdAt('em', START + HOUR), lowestIdAt('em', START + 2 * HOUR)];
  const up = { sort: 'createdAt', createdBefore: at(5) };
  const below = lowestIdAt('em', START + 5 * HOUR);
  expect(idRangeOf('em', null, { ...up, createdAfter: at(1) })).toEqual({ below, from: low, order: 'asc' });
  expect(idRangeOf('em', low, { ...up, createdAfter: at(2) })).toEqual({ below, from: high, order: 'asc' });
  const beyond = idRangeOf('em', high, { ...up, createdAfter: at(1) });
  expect([within(beyond, high), within(beyond, `${high}0`), beyond.order]).toEqual([false, false, 'asc']);
  expect(within(beyond, lowestIdAt('em', START + 3 * HOUR))).toBe(true);
});

test('idRangeOf has one order for a list that is sorted by another member, on each page', () => {
  const cursor = lowestIdAt('em', START);
  const orders = [null, cursor].map((after) => idRangeOf('em', after, { sort: 'address' }).order);
  expect(orders).toEqual(['desc', 'desc']);
});

test('idRangeOf keeps the lower of cursor and createdBefore', () => {
  const low = lowestIdAt('em', START + HOUR);
  const high = lowestIdAt('em', START + 2 * HOUR);
  expect(idRangeOf('em', low, { createdBefore: at(2) }).below).toBe(low);
  expect(idRangeOf('em', high, { createdBefore: at(1) }).below).toBe(low);
});
