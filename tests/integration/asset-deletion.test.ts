import { afterAll, beforeAll, expect, test } from 'bun:test';
import { CAMPAIGN_STATES } from '../../machines/campaign/machine.ts';
import { assetPruner } from '../../src/automation/assets/asset-pruner.ts';
import { campaignShowsImages } from '../../src/automation/campaigns/module.ts';
import { templateShowsImages } from '../../src/automation/templates/module.ts';
import { eventually } from '../support/eventually.ts';
import { imageAt, uploadedImage } from '../support/image-store.ts';
import { type LiveService, startLiveService } from '../support/live-service.ts';
import { gifOf } from '../support/pictures.ts';

const DAY = 86_400_000;

let service: LiveService;
beforeAll(async () => {
  service = await startLiveService();
});
afterAll(() => service[Symbol.asyncDispose]());

/** An image that no other test has. */
let width = 0;
const upload = () => uploadedImage(service.url, service.keys.live, gifOf({ width: ++width, height: 3 }));
const remove = (id: string) => service.live.delete(`/v1/assets/${id}`);
const htmlWith = (url: string) => `<p>Hello</p><img src="${url}" alt="">`;
const aTemplate = async (html: string): Promise<string> => {
  const made = await service.live.post('/v1/templates', { name: 'News', subject: 'Old', html });
  expect(made.status).toBe(201);
  return made.body.data.id;
};
const change = async (id: string, body: object) =>
  expect((await service.live.patch(`/v1/templates/${id}`, body)).status).toBe(200);
const pruner = (days: number, database = service.service.database) =>
  assetPruner({
    database,
    clock: { now: () => Date.now() + days * DAY, monotonic: () => performance.now() },
    uses: [templateShowsImages, campaignShowsImages],
  });
const prune = (days: number) => pruner(days).run();
const rows = async (id: string): Promise<number> =>
  (await service.service.database.query('select id from assets where id = $1', [id])).length;

/** A campaign that has sent to one of two people, and sends to the other an hour later. */
async function aRunningCampaign(templateId: string) {
  const { live } = service;
  const audienceId = (await live.post('/v1/audiences', { name: 'Readers' })).body.data.id;
  const emails = [1, 2].map((n) => `p${n}-${templateId}@people.example`);
  for (const email of emails) await live.post('/v1/contacts', { email });
  await live.post(`/v1/audiences/${audienceId}/contacts`, { emails });
  const said = { name: 'Sale', audienceId, templateId, from: 'News <news@sender.example>', ratePerHour: 1 };
  const { id } = (await live.post('/v1/campaigns', said)).body.data;
  expect((await live.post(`/v1/campaigns/${id}/send`, {})).status).toBe(200);
  await eventually('one is given out', async () =>
    (await live.get(`/v1/campaigns/${id}/stats`)).body.data.sent === 1 ? true : undefined,
  );
  return id as string;
}

test('an image that a running or paused campaign still sends is kept, whatever its template says by now', async () => {
  const { live } = service;
  const image = await upload();
  const templateId = await aTemplate(htmlWith(image.url));
  const id = await aRunningCampaign(templateId);
  // Every version without the image: the campaign alone shows it.
  await service.service.database.query(
    `update template_versions set content = replace(content::text, '/images/', '/pictures/')::json where template_id = $1`,
    [templateId],
  );
  const expectKept = async () => {
    const refused = await remove(image.id);
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      'The campaign “Sale” shows the image.',
    ]);
  };
  await expectKept();
  expect((await live.get(`/v1/assets/${image.id}`)).body.data.usedBy).toEqual([
    { type: 'campaign', id, name: 'Sale' },
  ]);
  expect((await live.post(`/v1/campaigns/${id}/pause`, {})).status).toBe(200);
  await expectKept();
  expect((await live.post(`/v1/campaigns/${id}/cancel`, {})).status).toBe(200);
  expect((await remove(image.id)).status).toBe(204);
  // The first person may open it all the same.
  expect((await imageAt(service.url, image)).status).toBe(200);
});

test('an image that an accepted email shows is served after its deletion, for ninety days', async () => {
  const image = await upload();
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
  await service.send({ html: htmlWith(image.url), scheduledAt });
  expect((await remove(image.id)).status).toBe(204);
  await prune(89);
  expect((await imageAt(service.url, image)).status).toBe(200);
  const shown = await eventually('the view is noted', async () => {
    const [row] = await service.service.database.query<{ day: string | null }>(
      'select last_shown_on::text as day from assets where id = $1',
      [image.id],
    );
    return row?.day ?? undefined;
  });
  expect(shown).toMatch(/^\d{4}/);
  // A reader opens it at the end of its days.
  const readOn = (days: number) =>
    service.service.database.query(
      "update assets set last_shown_on = (now() at time zone 'UTC')::date + $2::integer where id = $1",
      [image.id, days],
    );
  await readOn(80);
  await prune(91);
  expect(await rows(image.id)).toBe(1);
  await prune(112);
  expect(await rows(image.id)).toBe(0);
});

test('an image that an older version of a template shows is kept, and its days begin again', async () => {
  const image = await upload();
  const templateId = await aTemplate(htmlWith(image.url));
  await change(templateId, { html: '<p>None</p>' });
  expect((await remove(image.id)).status).toBe(204);
  await prune(91);
  expect(await rows(image.id)).toBe(1);
  expect((await service.live.delete(`/v1/templates/${templateId}`)).status).toBe(204);
  await prune(180);
  expect(await rows(image.id)).toBe(1);
  await prune(182);
  expect(await rows(image.id)).toBe(0);
});

/**
 * The states of a campaign, and whether its own content and the content that it sends keep the images in
 * them.
 */
const CAMPAIGNS: readonly [state: string, byOwn: boolean, bySent: boolean][] = [
  ['draft', true, false],
  ['scheduled', true, false],
  ['preparing', true, false],
  ['sending', true, true],
  ['paused', true, true],
  ['sent', true, false],
  ['cancelled', true, false],
  ['failed', true, false],
  ['deleted', false, false],
];

test('the table has every state of a campaign', () => {
  expect(CAMPAIGNS.map(([state]) => state).toSorted()).toEqual([...CAMPAIGN_STATES].toSorted());
});

test.each(CAMPAIGNS)(
  'the images of a campaign that is %s are kept: those that it is set to show %p, those of the content that it began with %p',
  async (state, byOwn, bySent) => {
    const { live, service: served } = service;
    const [own, sent] = [await upload(), await upload()];
    const audienceId = (await live.post('/v1/audiences', { name: 'Readers' })).body.data.id;
    const said = {
      name: state,
      audienceId,
      subject: 'S',
      html: htmlWith(own.url),
      from: 'News <news@sender.example>',
    };
    const { id } = (await live.post('/v1/campaigns', said)).body.data;
    const { database } = served;
    const begun = JSON.stringify({ html: htmlWith(sent.url) });
    await database.query(
      `insert into campaign_contents (campaign_id, content, links) values ($1, $2::text::json, '[]')`,
      [id, begun],
    );
    await database.query('update campaigns set state = $2 where id = $1', [id, state]);
    // As after a deletion that came before the campaign.
    await database.query('update assets set deleted_at = now() where id = any($1::text[])', [
      [own.id, sent.id],
    ]);
    await prune(91);
    expect([await rows(own.id), await rows(sent.id)]).toEqual([Number(byOwn), Number(bySent)]);
  },
);

test('an image that is not deleted is never removed', async () => {
  const image = await upload();
  await prune(400);
  expect(await rows(image.id)).toBe(1);
});

test('thousands of images are removed in batches, and the rest the next day where the service stops meanwhile', async () => {
  const { database } = service.service;
  await database.query(
    `insert into assets (id, workspace_id, livemode, file, filename, content_type, width, height, size, created_at, deleted_at)
     select 'ast_old' || g, (select id from workspaces limit 1), true, 'old' || g, 'x.png', 'image/png', 1, 1, 1, to_timestamp(0), to_timestamp(0)
     from generate_series(1, 2500) g`,
  );
  const left = async () => (await database.query("select id from assets where id like 'ast_old%'")).length;
  const stop = new AbortController();
  const query: typeof database.query = async (text, parameters) => {
    const answer = await database.query<never>(text, parameters);
    if (text.startsWith('delete')) stop.abort();
    return answer;
  };
  await pruner(0, { ...database, query } as typeof database).run(stop.signal);
  expect(await left()).toBe(1_500);
  await prune(0);
  expect(await left()).toBe(0);
});
