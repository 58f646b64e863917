import { afterAll, beforeAll, expect, test } from 'bun:test';
import { manyPeople } from '../support/campaign-people.ts';
import { eventually } from '../support/eventually.ts';
import { type Email, type LiveService, startLiveService } from '../support/live-service.ts';

// Programs that open every link of a message: only their later clicks show what the first one was.

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0';
const HTML = ['a', 'b', 'c'].map((path) => `<a href="https://shop.example/${path}">${path}</a>`).join(' ');

let service: LiveService;
let workspaceId: string;

beforeAll(async () => {
  service = await startLiveService({ environment: { TRUST_PROXY: '1' } });
  const [row] = await service.service.database.query<{ id: string }>('select id from workspaces');
  workspaceId = row?.id ?? '';
});
afterAll(() => service[Symbol.asyncDispose]());

const get = async (path: string): Promise<Email> => (await service.live.get(path)).body.data;
const kept = async (): Promise<number> =>
  (await service.service.database.query('select 1 as one from early_visits where is_scanner is null')).length;
const judge = (): Promise<unknown> | undefined =>
  service.service.duties.find(({ name }) => name === 'visitJudge')?.run();

/** Waits until every visit is judged: the service may have claimed them for itself a moment before. */
const allJudged = (): Promise<true> =>
  eventually('the judgement of all visits', async () => {
    await judge();
    return (await kept()) === 0 ? true : undefined;
  });

/** A campaign that so many have got, and their messages. */
async function delivered(people: number, html: string): Promise<{ id: string; copies: Email[] }> {
  const audienceId = await manyPeople(service.service.database, workspaceId, people);
  const body = { name: 'News', audienceId, from: 'news@sender.example', subject: 'News', html };
  const { id } = (await service.live.post('/v1/campaigns', { ...body, trackOpens: true, trackClicks: true }))
    .body.data;
  expect((await service.live.post(`/v1/campaigns/${id}/send`, {})).status).toBe(200);
  await eventually('all are delivered', async () =>
    (await get(`/v1/campaigns/${id}/stats`)).delivered.count === people ? true : undefined,
  );
  const recipients: Email[] = await get(`/v1/campaigns/${id}/recipients`);
  const copies = await Promise.all(
    recipients.map(async ({ emailId }) => {
      const [{ id: copy }] = await get(`/v1/captured?emailId=${emailId}`);
      return get(`/v1/captured/${copy}`);
    }),
  );
  return { id, copies };
}

const linksIn = ({ html }: Email, letter: string): string[] =>
  [...html.matchAll(new RegExp(`"([^"]*/t/${letter}/[^"]*)"`, 'g'))].map(([, link]) => link);

async function visit(link: string | undefined, from: string): Promise<void> {
  const answer = await fetch(service.url + new URL(link ?? '').pathname, {
    redirect: 'manual',
    headers: { 'user-agent': BROWSER, 'x-forwarded-for': from },
  });
  expect([200, 302]).toContain(answer.status);
}

test('a scanner that only its later clicks betray is distinguished from people in every number', async () => {
  const { id, copies } = await delivered(2, HTML);
  const [scanned, read] = copies as [Email, Email];
  using _ = service.stopClock();
  await Promise.all([
    // The scanner opens, and follows every link, from several addresses of one network.
    visit(linksIn(scanned, 'o')[0], '198.51.100.1'),
    ...linksIn(scanned, 'c').map((link, place) => visit(link, `198.51.100.${place + 1}`)),
    // The person behind it, and another one, follow one link each.
    visit(linksIn(scanned, 'c')[0], '203.0.113.9'),
    visit(linksIn(read, 'o')[0], '203.0.113.10'),
    visit(linksIn(read, 'c')[1], '203.0.113.10'),
  ]);
  expect(await kept()).toBe(7);
  await judge();
  const stats = () => get(`/v1/campaigns/${id}/stats`);
  // It is not known yet.
  expect(await stats()).toMatchObject({ clicked: { count: 0 }, machineClicks: 0 });
  await service.pass(6_100);
  await allJudged();
  const wanted = { opened: { count: 1, unique: 1 }, clicked: { count: 2, unique: 2 } };
  expect(await stats()).toMatchObject({ ...wanted, machineOpens: 1, machineClicks: 3 });
  // It comes back within the minute: one click is enough now.
  await service.pass(11_000);
  await visit(linksIn(scanned, 'c')[0], '198.51.100.77');
  await service.pass(6_100);
  await allJudged();
  expect(await stats()).toMatchObject({ ...wanted, machineOpens: 1, machineClicks: 4 });
  const links = await get(`/v1/campaigns/${id}/links`);
  expect(links.map(({ url, clicks }: Email) => [url.at(-1), clicks])).toEqual(
    expect.arrayContaining([
      ['a', 1],
      ['b', 1],
    ]),
  );
  const [first, second]: Email[] = await get(`/v1/campaigns/${id}/recipients?outcome=clicked`);
  expect([first, second].map(({ openedAt }) => openedAt === null).toSorted()).toEqual([false, true]);
  const activities = await Promise.all(
    [first, second].map(({ contactId }) => get(`/v1/contacts/${contactId}/activity?type=clicked`)),
  );
  const vias = activities.flat().map(({ data }: Email) => data.via);
  expect(vias.filter((via) => via === 'scanner').length).toBe(4);
  expect(vias.filter((via) => via === null).length).toBe(2);
  const { totals } = await get(`/v1/analytics?campaignId=${id}`);
  expect(totals).toMatchObject({ opened: 1, clicked: 2, machineOpened: 1, machineClicked: 4 });
});

test('a visit after the first minute, or of a message with one link, is reported at once', async () => {
  const { id, copies } = await delivered(1, HTML);
  const [copy] = copies as [Email];
  await service.pass(60_001);
  for (const link of linksIn(copy, 'c')) await visit(link, '198.51.100.1');
  expect(await kept()).toBe(0);
  expect(await get(`/v1/campaigns/${id}/stats`)).toMatchObject({ clicked: { count: 3 }, machineClicks: 0 });
  const one = await delivered(1, '<a href="https://shop.example/only">Only</a>');
  await visit(linksIn(one.copies[0] as Email, 'c')[0], '198.51.100.1');
  expect(await get(`/v1/campaigns/${one.id}/stats`)).toMatchObject({ clicked: { count: 1 } });
});

test('visits whose judge has died on the way are judged by another, and what was judged is forgotten', async () => {
  const { id, copies } = await delivered(1, HTML);
  const { database } = service.service;
  await visit(linksIn(copies[0] as Email, 'c')[0], '203.0.113.9');
  await database.query('update early_visits set claimed_at = seen_at where is_scanner is null');
  await service.pass(30_000);
  await judge();
  expect(await kept()).toBe(1);
  await service.pass(30_100);
  await allJudged();
  expect(await get(`/v1/campaigns/${id}/stats`)).toMatchObject({ clicked: { count: 1 } });
  await service.pass(120_000);
  await eventually('nothing is left', async () => {
    await judge();
    return (await database.query('select 1 as one from early_visits')).length === 0 || undefined;
  });
});
