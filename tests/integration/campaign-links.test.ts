import { afterAll, expect, test } from 'bun:test';
import { manyPeople } from '../support/campaign-people.ts';
import { eventually } from '../support/eventually.ts';
import { type Email, startLiveService } from '../support/live-service.ts';

const service = await startLiveService();
afterAll(() => service[Symbol.asyncDispose]());

const get = async (path: string): Promise<Email> => (await service.live.get(path)).body.data;

/** As the author writes them: a link that matches more is before those that it would take the clicks of. */
const LINKS = [
  'https://shop.example/{{ contact.email }}',
  'https://shop.example/of/{{ contact.email }}',
  'https://shop.example/u?e={{ contact.email | url_encode }} z',
  'https://shop.example/{{ contact.firstName }}/by/{{ contact.email }}',
  'https://shop.example/my page',
  'https://shop.example/50%25_off?a=1&b= 2',
];

test('a click counts for the link as the author wrote it, with spaces and personal parts', async () => {
  const [row] = await service.service.database.query<{ id: string }>('select id from workspaces');
  const audienceId = await manyPeople(service.service.database, row?.id ?? '', LINKS.length);
  const html = LINKS.map((link) => `<a href="${link.replaceAll('&', '&amp;')}">x</a>`).join(' ');
  const said = { name: 'News', audienceId, from: 'news@sender.example', subject: 'News', html };
  const { id } = (await service.live.post('/v1/campaigns', { ...said, trackClicks: true })).body.data;
  expect((await service.live.post(`/v1/campaigns/${id}/send`, {})).status).toBe(200);
  await eventually('all are delivered', async () =>
    (await get(`/v1/campaigns/${id}/stats`)).delivered.count === LINKS.length ? true : undefined,
  );
  const recipients: Email[] = await get(`/v1/campaigns/${id}/recipients`);
  // Each person follows another link.
  for (const [place, { emailId }] of recipients.entries()) {
    const [{ id: copy }] = await get(`/v1/captured?emailId=${emailId}`);
    const message = await get(`/v1/captured/${copy}`);
    const link = [...message.html.matchAll(/"([^"]*\/t\/c\/[^"]*)"/g)][place]?.[1];
    const agent = { 'user-agent': 'Mozilla/5.0 (X11; Linux) Firefox/150.0' };
    const answer = await fetch(service.url + new URL(link).pathname, { redirect: 'manual', headers: agent });
    expect(answer.status).toBe(302);
  }
  await service.pass(6_100);
  const counted = await eventually('all clicks are counted', async () => {
    await service.service.duties.find(({ name }) => name === 'visitJudge')?.run();
    const links: Email[] = await get(`/v1/campaigns/${id}/links`);
    return links.reduce((sum, { clicks }) => sum + clicks, 0) === LINKS.length ? links : undefined;
  });
  const byUrl = new Map(counted.map(({ url, clicks }) => [url, clicks]));
  expect(LINKS.map((url) => [url, byUrl.get(url)])).toEqual(LINKS.map((url) => [url, 1]));
});
