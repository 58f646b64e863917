import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Engine } from '../../src/engine/engine.ts';
import { type Call, Page } from '../../src/http/request/route.ts';
import type { Database, Parameter } from '../../src/platform/db/database.ts';
import { listEmails } from '../../src/sending/emails/queries.ts';
import type { EmailItem } from '../../src/sending/emails/read/answer-model.ts';
import type { EmailQuery } from '../../src/sending/emails/read/query-model.ts';
import { emailSpawn, engineOver, plainInput, postgresStore, type Store } from '../support/engine.ts';
import { EDITABLE_VIEWS } from '../support/stored-email.ts';

// A filter without an index is searched in parts; the cursors miss nothing.

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const ALL = 95;
const BOUND = 10;

interface Mark {
  readonly to?: string;
  readonly from?: string;
  readonly subject?: string;
  readonly tag?: string;
  readonly domainId?: string;
  readonly scheduled?: boolean;
}

let store: Store;
let engine: Engine;
beforeAll(async () => {
  store = await postgresStore();
  await store.database.script(EDITABLE_VIEWS);
  engine = engineOver(store.database, { clock: { now: () => NOW, monotonic: () => performance.now() } });
});
afterAll(() => store[Symbol.asyncDispose]());

/** Writes an email that was accepted at that moment; answers its id. */
async function write(workspaceId: string, at: number, mark: Mark = {}): Promise<string> {
  const { to = 'one@example.com', from = 'shop@acme.example', subject = 'A test', scheduled, tag } = mark;
  const address = (text: string) => ({ name: null, address: text });
  const none = { cc: [], bcc: [], replyTo: [], tags: [], headers: [], attachments: [], messageId: 'x' };
  const birth = emailSpawn(plainInput(at, { scheduledAt: scheduled ? NOW + 86_400_000 : null }), {
    workspaceId,
    columns: {
      recipients: [to],
      recipient_keys: [to],
      sender_key: from,
      subject,
      tags: tag ? [tag] : [],
      domain_id: mark.domainId ?? null,
      envelope: { from: address(from), to: [address(to)], ...none },
      content: 'e30=',
    },
  });
  await engine.spawn('email', birth);
  return birth.id;
}

/** So many emails, one a second, the last one first; answers their ids in the order of a list. */
const writeAll = (
  workspaceId: string,
  count: number,
  marked: (n: number) => Mark = () => ({}),
): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => write(workspaceId, NOW - n * 1_000, marked(n))));

async function page(workspaceId: string, query: object, mostSearched = BOUND): Promise<Page<EmailItem>> {
  const caller = { workspaceId, livemode: false };
  const call = { caller, query: { limit: 50, ...query }, now: NOW } as unknown as Call<unknown, EmailQuery>;
  const answered = await listEmails({ reads: store.database, isOnNodes: false, mostSearched }, call);
  if (!(answered instanceof Page)) throw new Error(answered.message);
  expect(answered.pagination.hasMore).toBe(answered.pagination.nextCursor !== null);
  return answered;
}

/** The ids on every page, until there is no other. */
async function follow(
  workspaceId: string,
  query: object,
  {
    mostSearched = BOUND,
    between = async () => {},
  }: { mostSearched?: number; between?(): Promise<void> } = {},
): Promise<string[][]> {
  const pages: string[][] = [];
  for (let after: string | null = null; ; ) {
    const { data, pagination } = await page(
      workspaceId,
      after === null ? query : { ...query, after },
      mostSearched,
    );
    pages.push(data.map(({ id }) => id));
    after = pagination.nextCursor;
    if (after === null) return pages;
    await between();
  }
}

const DOMAIN = `dom_${'0'.repeat(24)}`;
const RARE: Record<string, { readonly mark: Mark; readonly query: object }> = {
  to: { mark: { to: 'rare@example.com' }, query: { to: 'Rare@EXAMPLE.com' } },
  from: { mark: { from: 'rare@acme.example' }, query: { from: 'rare@acme.example' } },
  subject: { mark: { subject: 'The 50% off_er' }, query: { subject: '50% OFF_' } },
  tag: { mark: { tag: 'kind:rare' }, query: { tag: 'kind:rare' } },
  domainId: { mark: { domainId: DOMAIN }, query: { domainId: DOMAIN } },
};

describe('the work of one email search is bounded', () => {
  for (const [filter, { mark, query }] of Object.entries(RARE)) {
    test(`${filter}: the only match, the oldest of all, is found by going on`, async () => {
      const ids = await writeAll(`ws_${filter}`, ALL, (n) => (n === ALL - 1 ? mark : {}));
      const pages = await follow(`ws_${filter}`, query);
      expect(pages).toEqual([...Array(9).fill([]), [ids.at(-1) as string]]);
    });

    test(`${filter}: also among the emails of a rare state`, async () => {
      const ids = await writeAll(`ws_rare_${filter}`, ALL, (n) => ({
        scheduled: n % 2 === 0,
        ...(n === ALL - 1 ? mark : {}),
      }));
      const pages = await follow(`ws_rare_${filter}`, { ...query, status: 'scheduled' });
      expect(pages).toEqual([...Array(4).fill([]), [ids.at(-1) as string]]);
    });

    test(`${filter}: that nothing matches is known at the end`, async () => {
      await writeAll(`ws_none_${filter}`, 2 * BOUND);
      expect(await follow(`ws_none_${filter}`, query)).toEqual([[], [], []]);
    });
  }

  test('for a common state with few emails', async () => {
    const ids = await writeAll('ws_delivered', ALL);
    const [last = ''] = ids.slice(-1);
    await store.database.query(`update emails_now set state = 'delivered' where id = $1`, [last]);
    expect(await follow('ws_delivered', { status: 'delivered' })).toEqual([...Array(9).fill([]), [last]]);
  });

  test('for emails in flight while many others are due', async () => {
    const ids = await writeAll('ws_flight', ALL);
    const [last = ''] = ids.slice(-1);
    await store.database.query(`update emails_now set state = 'queued' where id = $1`, [last]);
    expect(await follow('ws_flight', { status: 'queued' })).toEqual([...Array(9).fill([]), [last]]);
    // With less due, all of it is examined at once.
    expect(await follow('ws_flight', { status: 'queued' }, { mostSearched: 100_000 })).toEqual([[last]]);
  });

  test('to the requested span of time', async () => {
    const { mark, query } = RARE.to as (typeof RARE)[string];
    const ids = await writeAll('ws_span', ALL, (n) => (n === ALL - 1 ? mark : {}));
    const createdBefore = new Date(NOW - (ALL - 5) * 1_000).toISOString();
    expect(await follow('ws_span', { ...query, createdBefore })).toEqual([[ids.at(-1) as string]]);
    const createdAfter = new Date(NOW - 3_000).toISOString();
    expect(await follow('ws_span', { ...query, createdAfter })).toEqual([[]]);
  });
});

test('an email search by an indexed filter returns full pages', async () => {
  const ids = await writeAll('ws_plain', ALL, () => ({ scheduled: true }));
  const full = [ids.slice(0, 50), ids.slice(50)];
  expect(await follow('ws_plain', {})).toEqual(full);
  expect(await follow('ws_plain', { status: 'scheduled' })).toEqual(full);
});

test('an email search ends a full page at its limit', async () => {
  const ids = await writeAll('ws_dense', ALL, (n) => ({ tag: n < 40 ? 'kind:a' : 'kind:b' }));
  const pages = await follow('ws_dense', { tag: 'kind:a', limit: 4 });
  expect(pages.flat()).toEqual(ids.slice(0, 40));
  expect(Math.max(...pages.map(({ length }) => length))).toBe(4);
});

test('an email search scans further on later pages', async () => {
  const ids = await writeAll('ws_far', 1_200, (n) => (n === 700 || n === 1_100 ? { tag: 'kind:far' } : {}));
  const found = [ids[700], ids[1_100]] as string[];
  const pages = await follow('ws_far', { tag: 'kind:far' }, { mostSearched: 1_000 });
  expect(pages).toEqual(found.map((id) => [id]));
});

for (const [filter, more] of Object.entries({ tag: {}, 'tag and state': { status: 'scheduled' } }))
  test(`nothing is listed twice or missed while new emails arrive: ${filter}`, async () => {
    const workspace = `ws_${'status' in more ? 'moving' : 'growing'}`;
    const mark: Mark = { tag: 'kind:a', scheduled: true };
    const ids = await writeAll(workspace, ALL, (n) => (n % 7 === 3 ? mark : { scheduled: n % 2 === 0 }));
    const expected = ids.filter((_, n) => n % 7 === 3);
    let arrived = 0;
    const pages = await follow(
      workspace,
      { tag: 'kind:a', limit: 2, ...more },
      {
        async between() {
          for (let n = 0; n < 5; n++) await write(workspace, NOW + ++arrived * 1_000, mark);
        },
      },
    );
    expect(arrived).toBeGreaterThan(5);
    expect(pages.flat()).toEqual(expected);
  });

test('nothing is missed where emails arrive between the statements of one search', async () => {
  const mark: Mark = { tag: 'kind:a' };
  const ids = await writeAll('ws_amidst', ALL, (n) => (n % 2 === 1 ? mark : {}));
  const { database } = store;
  let arrived = 0;
  const reads = {
    query: async (text: string, parameters: readonly Parameter[], options: object) => {
      const rows = await database.query(text, parameters, options);
      if (text.startsWith('select e.id from ('))
        for (let n = 0; n < 3; n++) await write('ws_amidst', NOW + ++arrived * 1_000);
      return rows;
    },
  } as unknown as Database;
  const found: string[] = [];
  for (let after: string | undefined; after !== null; ) {
    const query = { limit: 50, tag: 'kind:a', ...(after && { after }) };
    const caller = { workspaceId: 'ws_amidst', livemode: false };
    const call = { caller, query, now: NOW + 3_600_000 } as unknown as Call<unknown, EmailQuery>;
    const answered = await listEmails({ reads, isOnNodes: false, mostSearched: BOUND }, call);
    if (!(answered instanceof Page)) throw new Error(answered.message);
    found.push(...answered.data.map(({ id }) => id));
    after = answered.pagination.nextCursor as string | undefined;
  }
  expect(arrived).toBeGreaterThan(5);
  expect(found).toEqual(ids.filter((_, n) => n % 2 === 1));
});

describe('an email list with days between emails', () => {
  const DAY = 86_400_000;
  const APART = [0, 0.5, 1, 1.9, 2.1, 5, 5, 5, 30, 31, 80];
  const scattered = (workspaceId: string, mark: Mark = {}): Promise<string[]> =>
    Promise.all(APART.map((days, n) => write(workspaceId, NOW - days * DAY - n, mark)));

  for (const limit of [1, 2, 3, 4, 5, 50])
    test(`is listed whole, ${limit} a page`, async () => {
      const ids = await scattered(`ws_days_${limit}`);
      expect((await follow(`ws_days_${limit}`, { limit })).flat()).toEqual(ids);
      const older = new Date(NOW - 3 * DAY).toISOString();
      const pages = await follow(`ws_days_${limit}`, { limit, createdBefore: older });
      expect(pages.flat()).toEqual(ids.slice(5));
    });

  test('is searched whole, also by a rare state', async () => {
    const ids = await scattered('ws_days_rare', { scheduled: true, subject: 'Scattered' });
    for (const query of [{ subject: 'scattered' }, { status: 'scheduled' }])
      expect((await follow('ws_days_rare', { limit: 3, ...query })).flat()).toEqual(ids);
  });
});
