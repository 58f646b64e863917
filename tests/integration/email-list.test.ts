import { afterAll, beforeAll, expect, test } from 'bun:test';
import { emailKind } from '../../src/sending/emails/kind.ts';
import { actorPage } from '../../src/web/live/actors.ts';
import { eventually } from '../support/eventually.ts';
import { countsOfLarge } from '../support/large-counts.ts';
import { type LiveService, startLiveService } from '../support/live-service.ts';
import { EDITABLE_VIEWS } from '../support/stored-email.ts';

// Lists of some states begin with other rows than the rest do; whatever they begin with, they show the same
// emails.

const IN_A_WEEK = new Date(Date.now() + 7 * 86_400_000).toISOString();
const SENT = [
  { to: 'delivered', tag: 'a' },
  { to: 'bounced', tag: 'a' },
  { to: 'bounced-transient', tag: 'b' },
  { to: 'delivered', tag: 'b', scheduledAt: IN_A_WEEK },
  { to: 'bounced', tag: 'b' },
  { to: 'delivered', tag: 'a', scheduledAt: IN_A_WEEK },
  { to: 'bounced', tag: 'a' },
  { to: 'delivered', tag: 'b' },
] as const;
const STATUSES = ['scheduled', 'queued', 'sending', 'deferred', 'sent', 'delivered', 'failed', 'cancelled'];

interface Item {
  readonly id: string;
  readonly status: string;
  readonly subject: string;
  readonly from: string;
  readonly createdAt: string;
  readonly tags: readonly { readonly value: string }[];
}

let live: LiveService;
let all: readonly Item[];

const listed = async (query: string): Promise<readonly Item[]> =>
  (await live.test.get(`/v1/emails?${query}`)).body.data;

const idsOf = (items: readonly Item[]): readonly string[] => items.map(({ id }) => id);

beforeAll(async () => {
  live = await startLiveService();
  const ids: string[] = [];
  for (const [n, { to, tag, ...more }] of SENT.entries()) {
    const { body } = await live.test.post('/v1/emails', {
      from: `sender${n % 2}@example.com`,
      to: `${to}@simulator.svc.test`,
      subject: `Number ${n}`,
      text: 'x',
      tags: [{ name: 'kind', value: tag }],
      ...more,
    });
    ids.push(body.data.id);
  }
  await live.test.delete(`/v1/emails/${ids[5]}`);
  // Two that are in flight, and stay so: no attempt will bring them any further.
  const stuck = `state = $2, wake_at = now() + interval '5 minutes'`;
  all = await eventually('all have come to rest', async () => {
    const items = await listed('limit=100');
    return items.some(({ status }) => status === 'sending') ? undefined : items;
  });
  const { database } = live.service;
  await database.script(EDITABLE_VIEWS);
  await database.query(`update emails_now set ${stuck} where id = $1`, [ids[0] as string, 'sending']);
  await database.query(`update emails_now set ${stuck} where id = $1`, [ids[7] as string, 'queued']);
  all = await listed('limit=100');
});
afterAll(() => live[Symbol.asyncDispose]());

test('the email list has emails of every status to tell apart', () => {
  expect(all).toHaveLength(SENT.length);
  expect(new Set(all.map(({ status }) => status)).size).toBe(6);
});

test.each(STATUSES)('the email list with status=%s has all of them, newest first', async (status) => {
  const expected = idsOf(all.filter((one) => one.status === status));
  expect(idsOf(await listed(`status=${status}`))).toEqual(expected);
});

test.each(STATUSES)('the email list combines other filters with status=%s', async (status) => {
  const filters: Record<string, (item: Item) => boolean> = {
    'tag=kind:a': ({ tags }) => tags[0]?.value === 'a',
    'from=sender1@example.com': ({ from }) => from === 'sender1@example.com',
    'subject=number%203': ({ subject }) => subject === 'Number 3',
    [`createdAfter=${all[3]?.createdAt}`]: ({ createdAt }) => createdAt >= (all[3]?.createdAt ?? ''),
    [`createdBefore=${all[3]?.createdAt}`]: ({ createdAt }) => createdAt < (all[3]?.createdAt ?? ''),
    'to=nobody@example.com': () => false,
  };
  for (const [query, isAsked] of Object.entries(filters)) {
    const expected = idsOf(all.filter((one) => one.status === status && isAsked(one)));
    expect(idsOf(await listed(`status=${status}&${query}`))).toEqual(expected);
  }
});

test('the email list pages a status without gap or repetition', async () => {
  const seen: string[] = [];
  for (let after = ''; ; ) {
    const { body } = await live.test.get(`/v1/emails?status=failed&limit=1${after}`);
    seen.push(...idsOf(body.data));
    if (!body.pagination.hasMore) break;
    after = `&after=${body.pagination.nextCursor}`;
  }
  expect(seen).toEqual(idsOf(all.filter(({ status }) => status === 'failed')) as string[]);
  expect(seen).toHaveLength(3);
});

test('the email list shows no test emails to a live key', async () => {
  for (const status of STATUSES)
    expect((await live.live.get(`/v1/emails?status=${status}`)).body.data).toEqual([]);
});

test('emails whose timers were fired after they had ended are listed once, and no page ends before the list', async () => {
  const ids: string[] = [];
  for (let n = 0; n < 7; n++) {
    const { body } = await live.test.post('/v1/emails', {
      from: 'late@example.com',
      to: 'delivered@simulator.svc.test',
      subject: 'Late',
      text: 'x',
      scheduledAt: IN_A_WEEK,
    });
    ids.unshift(body.data.id);
    await live.test.delete(`/v1/emails/${body.data.id}`);
    // Another instance has claimed it, and reads it as it is now.
    await live.service.engine.fireTimers('email', { id: body.data.id }, Date.now());
  }
  const { database } = live.service;
  expect(
    await database.query(`select from email_turns where email_id = any($1::text[])`, [ids]),
  ).toHaveLength(14);
  for (const filter of ['from=late@example.com&', '']) {
    const found: string[] = [];
    for (let after = ''; ; ) {
      const { body } = await live.test.get(`/v1/emails?${filter}status=cancelled&limit=2${after}`);
      found.push(...idsOf(body.data));
      if (!body.pagination.hasMore) break;
      after = `&after=${body.pagination.nextCursor}`;
    }
    expect(found.slice(0, ids.length)).toEqual(ids);
  }
  // The live view finds them by the same turns.
  const [workspace] = await database.query<{ id: string }>('select id from workspaces');
  const scope = { workspaceId: workspace?.id as string, livemode: false };
  const { actors } = await actorPage(database, emailKind, scope, {
    state: 'cancelled',
    idPrefix: 'em_',
    after: null,
  });
  expect(actors.map(({ id }) => id).slice(0, ids.length)).toEqual(ids);
  expect(new Set(actors.map(({ id }) => id)).size).toBe(actors.length);
  expect(await countsOfLarge(database, emailKind, scope)).toMatchObject({
    cancelled: { count: actors.length, exact: true },
  });
});
