import { afterAll, beforeAll, expect, test } from 'bun:test';
import { manyPeople } from '../support/campaign-people.ts';
import { eventually } from '../support/eventually.ts';
import { type Email, type LiveService, startLiveService } from '../support/live-service.ts';

// A campaign in each of its states, as clients see it. The moves themselves: tests/machines/campaign.test.ts.

let service: LiveService;
let audienceId: string;

beforeAll(async () => {
  service = await startLiveService();
  const [row] = await service.service.database.query<{ id: string }>('select id from workspaces');
  audienceId = await manyPeople(service.service.database, row?.id ?? '', 2);
});
afterAll(() => service[Symbol.asyncDispose]());

const SAID = { from: 'news@sender.example', subject: 'News', html: '<p>Hello</p>' };
const path = (id: string, act = ''): string => `/v1/campaigns/${id}${act}`;

async function aCampaign(more: object = {}): Promise<string> {
  const made = await service.live.post('/v1/campaigns', { name: 'July', audienceId, ...SAID, ...more });
  expect(made.status).toBe(201);
  return made.body.data.id;
}
const get = async (url: string): Promise<Email> => (await service.live.get(url)).body.data;
const post = (id: string, act: string, body: object = {}) => service.live.post(path(id, act), body);
const until = (id: string, status: string): Promise<Email> =>
  eventually(`it is ${status}`, async () => {
    const seen = await get(path(id));
    return seen.status === status ? seen : undefined;
  });
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

/** A campaign that sends one email an hour, and so stays in `sending`. */
async function slowOne(): Promise<string> {
  const id = await aCampaign({ ratePerHour: 1 });
  expect((await post(id, '/send')).status).toBe(200);
  await until(id, 'sending');
  return id;
}

test('a campaign has the fields that are documented, and is of the environment of the key that made it', async () => {
  const body = { name: 'Fields', audienceId, ...SAID, replyTo: 'answers@sender.example' };
  const { data } = (await service.live.post('/v1/campaigns', body)).body;
  expect(data).toEqual({
    id: data.id,
    language: null,
    livemode: true,
    name: 'Fields',
    status: 'draft',
    pausedReason: null,
    failureReason: null,
    audienceId,
    excludeAudienceIds: [],
    ...SAID,
    replyTo: ['answers@sender.example'],
    previewText: null,
    templateId: null,
    markdown: null,
    mjml: null,
    variables: {},
    ratePerHour: null,
    canary: null,
    trackOpens: null,
    trackClicks: null,
    scheduledAt: null,
    startedAt: null,
    completedAt: null,
    recipientCount: null,
    createdAt: data.createdAt,
    updatedAt: data.updatedAt,
  });
  expect(await get(path(data.id))).toEqual(data);
  expect((await service.live.post('/v1/campaigns', { ...body, livemode: false })).status).toBe(422);
  const list = (await service.test.post('/v1/audiences', { name: 'Test' })).body.data.id;
  const tried = await service.test.post('/v1/campaigns', { ...body, audienceId: list });
  expect([tried.status, tried.body.data.livemode]).toEqual([201, false]);
  // No test campaign is ever sent, for any caller.
  for (const act of ['/send', '/test-send']) {
    const asked = act === '/send' ? {} : { to: ['a@sender.example'] };
    const refused = await service.test.post(path(tried.body.data.id, act), asked);
    expect([refused.status, refused.body.error.code]).toEqual([403, 'TEST_MODE_NOT_SUPPORTED']);
    expect((await service.live.post(path(tried.body.data.id, act), asked)).status).toBe(404);
  }
});

test('a campaign on its way is neither changed nor removed, and a pause of a paused one changes nothing', async () => {
  const id = await slowOne();
  expect((await service.live.patch(path(id), { name: 'Late' })).body.error.code).toBe('CONFLICT');
  expect((await service.live.delete(path(id))).body.error.code).toBe('CONFLICT');
  expect((await post(id, '/cancel')).body.error.code).toBe('CONFLICT');
  expect((await post(id, '/unschedule')).body.error.code).toBe('CONFLICT');
  // Another environment's key pauses nothing.
  expect((await service.test.post(path(id, '/pause'), {})).status).toBe(404);
  expect((await get(path(id))).status).toBe('sending');
  const paused = (await post(id, '/pause')).body.data;
  expect(paused).toMatchObject({ status: 'paused', pausedReason: 'manual' });
  const again = await post(id, '/pause');
  expect([again.status, again.body.data]).toEqual([200, paused]);
  expect((await service.live.patch(path(id), { name: 'Late' })).status).toBe(409);
  expect((await service.live.delete(path(id))).status).toBe(409);
  const resumed = await post(id, '/send', { scheduledAt: inAnHour() });
  expect([resumed.status, resumed.body.error.details[0].path]).toEqual([422, '/body/scheduledAt']);
  expect((await post(id, '/send')).body.data).toMatchObject({ status: 'sending', pausedReason: null });
  await post(id, '/pause');
  expect((await post(id, '/cancel')).body.data.status).toBe('cancelled');
  expect((await service.live.delete(path(id))).status).toBe(204);
});

test('a campaign that was sent says when, and is copied but not sent again', async () => {
  const id = await aCampaign();
  const sentAtOnce = async () => {
    using _ = service.stopClock();
    const due = new Date(Date.parse(service.today()) - 60_000).toISOString();
    return (await post(id, '/send', { scheduledAt: due })).body.data;
  };
  const started = await sentAtOnce();
  expect([started.status, started.scheduledAt]).toEqual(['preparing', null]);
  const sent = await until(id, 'sent');
  expect([sent.startedAt, sent.completedAt].map((moment) => Date.parse(moment) > 0)).toEqual([true, true]);
  expect(sent.recipientCount).toBe(2);
  for (const act of ['/send', '/pause', '/cancel', '/unschedule'])
    expect([act, (await post(id, act)).status]).toEqual([act, 409]);
  const copy = (await post(id, '/duplicate')).body.data;
  expect(copy).toMatchObject({ status: 'draft', startedAt: null, recipientCount: null, html: SAID.html });
});

test('a name and a subject of the most characters are copied and tried out with their first ones', async () => {
  const id = await aCampaign({ name: '📦'.repeat(200), subject: '📦'.repeat(998) });
  expect((await post(id, '/duplicate')).body.data.name).toBe(`Copy of ${'📦'.repeat(192)}`);
  const tried = (await post(id, '/test-send', { to: ['me@sender.example'] })).body.data;
  expect((await get(`/v1/emails/${tried.id}`)).subject).toBe(`[Test] ${'📦'.repeat(991)}`);
});

test('the link to unsubscribe of a test to members leads to a page that says so', async () => {
  const { database } = service.service;
  await database.query(
    `insert into accounts (id, email, email_key, name, created_at) values ('acc_1', 'ada@people.example', 'ada@people.example', 'Ada', now())`,
  );
  await database.query(
    `insert into members (id, workspace_id, account_id, role, joined_at)
     select 'mem_1', id, 'acc_1', 'owner', now() from workspaces`,
  );
  const tried = (await post(await aCampaign(), '/test-send', { to: ['ada@people.example'] })).body.data;
  const { html, text } = await get(`/v1/emails/${tried.id}`);
  for (const part of [html, text]) {
    expect(part).toContain('/t/u/test');
    expect(part).not.toContain('unsubscribeUrl');
  }
});

test('the link to the preferences in a test leads to the same page', async () => {
  const id = await aCampaign({ html: '<a href="{{ preferencesUrl }}">Choose</a>' });
  const tried = (await post(id, '/test-send', { to: ['me@sender.example'] })).body.data;
  const { html } = await get(`/v1/emails/${tried.id}`);
  const [, link = ''] = /href="([^"]+)">Choose/.exec(html) ?? [];
  expect(new URL(link).pathname).toBe('/t/u/test');
});

test('a time to send is at most a minute ago and thirty days ahead', async () => {
  using _ = service.stopClock();
  const id = await aCampaign();
  const ask = async (aheadMs: number) => {
    const { status, body } = await post(id, '/send', {
      scheduledAt: new Date(Date.parse(service.today()) + aheadMs).toISOString(),
    });
    return [status, body.error?.details[0].path ?? body.data.status];
  };
  const DAYS = 30 * 86_400_000;
  expect(await ask(-61_000)).toEqual([422, '/body/scheduledAt']);
  expect(await ask(DAYS + 5_000)).toEqual([422, '/body/scheduledAt']);
  expect((await get(path(id))).status).toBe('draft');
  expect(await ask(DAYS - 5_000)).toEqual([200, 'scheduled']);
  const { data } = (await post(id, '/cancel')).body;
  expect(data.status).toBe('cancelled');
});

test('a campaign that cannot start says why, and may be sent again', async () => {
  const besides = (await service.live.post('/v1/audiences', { name: 'Besides' })).body.data.id;
  const id = await aCampaign({ excludeAudienceIds: [besides] });
  expect((await post(id, '/send', { scheduledAt: inAnHour() })).body.data.status).toBe('scheduled');
  // The API keeps an audience that is used; it may go in the moment in which the campaign is scheduled.
  const isThere = (is: boolean) =>
    service.service.database.query('update audiences set livemode = $2::boolean where id = $1', [
      besides,
      is,
    ]);
  await isThere(false);
  await service.pass(3_700_000);
  expect(await until(id, 'failed')).toMatchObject({ failureReason: 'audience_gone', recipientCount: null });
  expect((await post(id, '/send')).status).toBe(422);
  await isThere(true);
  expect((await post(id, '/send')).body.data).toMatchObject({ status: 'preparing', failureReason: null });
  expect((await until(id, 'sent')).recipientCount).toBe(2);
});

test('a scheduled campaign whose audience is empty by then is not sent to no one, and may be sent again', async () => {
  const audienceId = (await service.live.post('/v1/audiences', { name: 'Passing' })).body.data.id;
  const emails = ['passing@example.com', 'gone@example.com'];
  for (const email of emails) await service.live.post('/v1/contacts', { email });
  const members = `/v1/audiences/${audienceId}/contacts`;
  await service.live.post(members, { emails });
  const id = await aCampaign({ audienceId });
  const scheduledAt = new Date(Date.now() + 7_500_000).toISOString();
  expect((await post(id, '/send', { scheduledAt })).body.data.status).toBe('scheduled');
  await service.live.delete(`${members}/passing@example.com`);
  await service.live.patch('/v1/contacts/gone@example.com', { status: 'unsubscribed' });
  await service.pass(7_600_000);
  expect(await until(id, 'failed')).toMatchObject({ failureReason: 'audience_empty', recipientCount: null });
  expect(await get(path(id, '/stats'))).toMatchObject({ total: 0, skipped: 0 });
  await service.live.post(members, {
    emails: ['passing@example.com'],
    consent: { source: 'form', at: new Date().toISOString() },
  });
  expect((await post(id, '/send')).body.data.status).toBe('preparing');
  expect((await until(id, 'sent')).recipientCount).toBe(2);
});

test('recipients are listed by what became of them, and a test email goes to one to five known people', async () => {
  const id = await aCampaign();
  await post(id, '/send');
  await until(id, 'sent');
  await eventually('all are delivered', async () =>
    (await get(path(id, '/stats'))).delivered.count === 2 ? true : undefined,
  );
  const counts = await Promise.all(
    [
      'remaining',
      'sent',
      'failed',
      'skipped',
      'delivered',
      'opened',
      'clicked',
      'bounced',
      'complained',
      'unsubscribed',
    ].map(async (outcome) => [outcome, (await get(path(id, `/recipients?outcome=${outcome}`))).length]),
  );
  expect(counts.filter(([, count]) => count !== 0)).toEqual([
    ['sent', 2],
    ['delivered', 2],
  ]);
  expect((await service.live.get(path(id, '/recipients?outcome=lost'))).status).toBe(422);
  expect(await get(path(id, '/stats'))).toEqual({
    total: 2,
    sent: 2,
    remaining: 0,
    replied: 0,
    skipped: 0,
    failed: 0,
    inDoubt: 0,
    delivered: { count: 2, rate: 1 },
    opened: { count: 0, unique: 0, rate: 0 },
    clicked: { count: 0, unique: 0, rate: 0 },
    bounced: { permanent: 0, transient: 0, rate: 0 },
    complained: 0,
    unsubscribed: 0,
    machineOpens: 0,
    machineClicks: 0,
  });
  const to = (count: number) => Array.from({ length: count }, (_, n) => `p${n}@sender.example`);
  const statuses: number[] = [];
  for (const count of [0, 1, 5, 6]) statuses.push((await post(id, '/test-send', { to: to(count) })).status);
  expect(statuses).toEqual([422, 200, 200, 422]);
  expect((await post(id, '/test-send', { to: ['a@stranger.example'] })).status).toBe(403);
  // Test emails are in no number of the campaign.
  expect((await get(path(id, '/stats'))).total).toBe(2);
});
