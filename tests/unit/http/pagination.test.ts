import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { type ListRequest, pageOf, positionOf } from '../../../src/http/lists/pagination.ts';
import type { Page } from '../../../src/http/request/route.ts';
import { Failure } from '../../../src/platform/errors/failure.ts';

const isPosition = (text: string): boolean => /^[a-e]$/.test(text);
const caller = { workspaceId: 'ws_1', livemode: true };
const rows = ['e', 'd', 'c', 'b', 'a'];
/** A query's rows: newest first, from the position on, one more than the limit. */
const readFrom = (position: string | null, limit: number) =>
  rows.filter((row) => position === null || row < position).slice(0, limit + 1);

test('pagination shows every row once, and the last page says so', () => {
  const seen: string[] = [];
  let after: string | null = null;
  do {
    const request: ListRequest = {
      list: 'letters',
      caller,
      isPosition,
      query: { limit: 2, ...(after !== null && { after }) },
    };
    const position = positionOf(request);
    if (position instanceof Failure) throw new Error('its own cursor was refused');
    const page: Page<string> = pageOf(
      request,
      readFrom(position, 2),
      (row) => row,
      (row) => row,
    );
    expect(page.pagination.hasMore).toBe(page.pagination.nextCursor !== null);
    seen.push(...page.data);
    after = page.pagination.nextCursor;
  } while (after !== null);
  expect(seen).toEqual(rows);
});

test('pagination ends after a full last page', () => {
  const page = pageOf(
    { list: 'letters', caller, isPosition, query: { limit: 5 } },
    rows,
    (row) => row,
    (row) => row,
  );
  expect(page).toMatchObject({ data: rows, pagination: { hasMore: false, nextCursor: null } });
});

test('a pagination cursor is bound to its list and filters, not to the page size', () => {
  const query = { limit: 2, status: 'sent' };
  const { nextCursor } = pageOf(
    { list: 'emails', caller, isPosition, query },
    rows,
    (row) => row,
    (row) => row,
  ).pagination;
  const after = nextCursor ?? '';
  expect(positionOf({ list: 'emails', caller, isPosition, query: { ...query, after } })).toBe('d');
  expect(
    positionOf({ list: 'emails', caller, isPosition, query: { status: 'sent', limit: 90, after } }),
  ).toBe('d');
  expect(positionOf({ list: 'events', caller, isPosition, query: { ...query, after } })).toBeInstanceOf(
    Failure,
  );
  expect(positionOf({ list: 'emails', caller, isPosition, query: { limit: 2, after } })).toBeInstanceOf(
    Failure,
  );
  expect(
    positionOf({ list: 'emails', caller, isPosition, query: { ...query, status: 'failed', after } }),
  ).toBeInstanceOf(Failure);
});

test('a cursor belongs to its workspace and environment', () => {
  const query = { limit: 2 };
  const request = { list: 'emails', caller, isPosition, query };
  const { nextCursor } = pageOf(
    request,
    rows,
    (row) => row,
    (row) => row,
  ).pagination;
  const asked = (other: object) =>
    positionOf({ ...request, caller: { ...caller, ...other }, query: { ...query, after: nextCursor ?? '' } });
  expect(asked({})).toBe('d');
  expect(asked({ livemode: false })).toBeInstanceOf(Failure);
  expect(asked({ workspaceId: 'ws_2' })).toBeInstanceOf(Failure);
});

test('pagination refuses any other cursor at /query/after', () => {
  fc.assert(
    fc.property(fc.string(), (after) => {
      expect(positionOf({ list: 'emails', caller, isPosition, query: { limit: 2, after } })).toMatchObject({
        code: 'VALIDATION_ERROR',
        extra: { details: [{ path: '/query/after' }] },
      });
    }),
  );
});
