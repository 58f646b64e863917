import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { begin } from '../../src/mail/transport/begin.ts';
import { withoutReply } from '../../src/mail/transport/smtp/outcome.ts';
import type { OutboundMessage, Transport } from '../../src/mail/transport/transport.ts';
import { auditLedger } from '../../src/ops/audit/audit.ts';
import { manyPeople } from '../support/campaign-people.ts';
import { eventually } from '../support/eventually.ts';
import { type Email, type LiveService, startLiveService } from '../support/live-service.ts';

// Campaigns as they leave: what a server sees of them, and what stops them.

/** A transport that notes what began when, takes its time, and refuses the recipients that the test names. */
class NotedTransport implements Transport {
  readonly name = 'smtp' as const;
  readonly confirmsDelivery = true;
  readonly begun: { readonly at: number; readonly to: string }[] = [];
  readonly sent: OutboundMessage[] = [];
  refuses: (address: string) => boolean = () => false;

  async send(message: OutboundMessage, limits: Parameters<Transport['send']>[1]) {
    const [to = ''] = message.recipients;
    await begin(limits);
    this.begun.push({ at: performance.now(), to });
    await new Promise((resolve) => setImmediate(resolve));
    this.sent.push(message);
    const reply = withoutReply(to, 'deferred', 'ok', 'General');
    if (!this.refuses(to)) return [{ ...reply, outcome: 'accepted' as const, fault: null, subType: null }];
    return [
      {
        ...reply,
        outcome: 'refused' as const,
        fault: 'recipient' as const,
        smtpCode: 550,
        enhancedCode: '5.1.1',
      },
    ];
  }
  verify = async () => [];
  close = async () => {};
}

let service: LiveService;
let way: NotedTransport;
let workspaceId: string;

beforeAll(async () => {
  way = new NotedTransport();
  service = await startLiveService({ transport: way, atNoon: true });
  const [row] = await service.service.database.query<{ id: string }>('select id from workspaces');
  workspaceId = row?.id ?? '';
});
afterAll(() => service[Symbol.asyncDispose]());

const SAID = { from: 'News <news@sender.example>', subject: 'Hello {{ contact.firstName }}' };
const HTML =
  '<p><a href="https://shop.example/a?u={{ contact.firstName }}">Shop</a> <a href="{{ preferencesUrl }}">Choose</a></p>';

async function aCampaign(people: number, more: object = {}): Promise<string> {
  const audienceId = await manyPeople(service.service.database, workspaceId, people);
  const body = {
    name: 'News',
    audienceId,
    ...SAID,
    html: HTML,
    trackClicks: true,
    trackOpens: true,
    ...more,
  };
  const made = await service.live.post('/v1/campaigns', body);
  expect(made.status).toBe(201);
  return made.body.data.id;
}

const get = async (path: string): Promise<Email> => (await service.live.get(path)).body.data;
const inFuture = (ms: number): string => new Date(Date.parse(service.today()) + ms).toISOString();
const send = (id: string, body: object = {}) => service.live.post(`/v1/campaigns/${id}/send`, body);
const until = (id: string, what: string, is: (stats: Email, campaign: Email) => boolean): Promise<Email> =>
  eventually(
    what,
    async () => {
      const [stats, campaign] = [await get(`/v1/campaigns/${id}/stats`), await get(`/v1/campaigns/${id}`)];
      expect(stats.total).toBe(stats.sent + stats.remaining + stats.skipped + stats.failed);
      return is(stats, campaign) ? { ...stats, campaign } : undefined;
    },
    { withinMs: 30_000 },
  );

describe('a campaign', () => {
  test('of a template: its emails name the version that it started with', async () => {
    const template = { name: 'Letter', subject: 'Hello', html: '<a href="{{ preferencesUrl }}">Choose</a>' };
    const { id: templateId } = (await service.live.post('/v1/templates', template)).body.data;
    expect((await service.live.patch(`/v1/templates/${templateId}`, { subject: 'Second' })).status).toBe(200);
    const id = await aCampaign(1, { templateId, html: null, subject: null });
    expect((await send(id)).status).toBe(200);
    await until(id, 'it is delivered', ({ delivered }) => delivered.count === 1);
    expect((await service.live.patch(`/v1/templates/${templateId}`, { subject: 'Third' })).status).toBe(200);
    const [{ id: emailId }] = (await service.live.get(`/v1/emails?campaignId=${id}`)).body.data;
    expect(await get(`/v1/emails/${emailId}`)).toMatchObject({
      templateId,
      templateVersion: 2,
      subject: 'Second',
    });
  });

  test('says what kind of mail it is, and counts people apart from programs', async () => {
    const id = await aCampaign(3);
    expect((await send(id)).status).toBe(200);
    await until(id, 'all are delivered', ({ delivered }) => delivered.count === 3);
    const message = way.sent.at(-1) as OutboundMessage;
    const field = (name: string) => message.headers.find((header) => header.name === name)?.value;
    expect(field('Precedence')).toBe('bulk');
    expect(field('List-Id')).toMatch(/^<aud-\w+\.sender\.example>$/);
    expect(field('Feedback-ID')).toStartWith(`${id}:aud_`);
    expect(message.unsubscribe?.url).toContain('/t/u/');
    expect(message.html).toContain('Unsubscribe');
    expect(message.html).toContain('/p/');
    expect(message.subject).toMatch(/^Hello Person\d$/);

    const local = (url: string) => service.url + new URL(url).pathname;
    const visit = (url: string, agent: string) =>
      fetch(local(url), { redirect: 'manual', headers: { 'user-agent': agent } });
    const html = message.html ?? '';
    const pixel = /src="([^"]*\/t\/o\/[^"]*)"/.exec(html)?.[1] ?? '';
    const link = /href="([^"]*\/t\/c\/[^"]*)"/.exec(html)?.[1] ?? '';
    await visit(pixel, 'GoogleImageProxy');
    await visit(pixel, 'Mozilla/5.0 (X11; Linux) Firefox/140');
    await visit(link, 'Mozilla/5.0 (X11; Linux) Firefox/140');
    const stats = await until(
      id,
      'visits are counted',
      ({ clicked, machineOpens }) => clicked.count === 1 && machineOpens === 1,
    );
    expect(stats.opened).toMatchObject({ count: 1, unique: 1 });
    expect(stats.clicked).toMatchObject({ count: 1, unique: 1 });
    const links = await get(`/v1/campaigns/${id}/links`);
    expect(links[0]).toEqual({
      url: 'https://shop.example/a?u={{ contact.firstName }}',
      clicks: 1,
      uniqueClicks: 1,
    });
    const [opener] = await get(`/v1/campaigns/${id}/recipients?outcome=opened`);
    const activity = await get(`/v1/contacts/${opener.contactId}/activity?type=opened`);
    expect(activity[0]).toMatchObject({ campaignId: id, emailId: opener.emailId });

    // An unsubscription leaves the audience and nothing else.
    const left = await fetch(local(message.unsubscribe?.url ?? ''), {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'List-Unsubscribe=One-Click',
    });
    expect(left.status).toBe(200);
    expect((await until(id, 'it is counted', ({ unsubscribed }) => unsubscribed === 1)).sent).toBe(3);
    const { audienceId } = await get(`/v1/campaigns/${id}`);
    expect(await get(`/v1/audiences/${audienceId}/contacts`)).toHaveLength(2);
    expect((await get(`/v1/contacts/${opener.contactId}`)).status).toBe('subscribed');
  });

  test('begins no attempt a second after a pause, and one for each recipient in the end', async () => {
    const id = await aCampaign(240);
    const before = way.begun.length;
    await send(id);
    for (let pause = 1; pause <= 3; pause++) {
      const goal = before + pause * 40;
      await eventually('some have begun', () => way.begun.length >= goal || undefined, {
        withinMs: 30_000,
        everyMs: 1,
      });
      const paused = await service.live.post(`/v1/campaigns/${id}/pause`);
      if (paused.status === 409) break;
      const answeredAt = performance.now();
      expect(paused.body.data).toMatchObject({ status: 'paused', pausedReason: 'manual' });
      expect((await service.live.post(`/v1/campaigns/${id}/pause`)).status).toBe(200);
      await eventually('a second has passed', () => performance.now() > answeredAt + 1_300 || undefined);
      expect(way.begun.filter(({ at }) => at > answeredAt + 1_000)).toEqual([]);
      expect((await send(id)).body.data.status).toBe('sending');
    }
    await until(id, 'its end', ({ delivered }, { status }) => status === 'sent' && delivered.count === 240);
    const reached = way.begun.slice(before).map(({ to }) => to);
    expect([reached.length, new Set(reached).size]).toEqual([240, 240]);
  });

  // By an index's first column alone every lookup of one recipient reads everybody in the campaign.
  test('reads a few rows for each recipient, however many there are', async () => {
    const { database } = service.service;
    const read = async (): Promise<number> =>
      (
        await database.query<{ rows: number }>(
          `select coalesce(sum(idx_tup_read), 0)::float8 as rows from pg_stat_user_indexes where relname = 'campaign_recipients'`,
        )
      )[0]?.rows ?? 0;
    const before = await read();
    const people = 100;
    const id = await aCampaign(people);
    await send(id);
    await until(
      id,
      'its end',
      ({ delivered }, { status }) => status === 'sent' && delivered.count === people,
    );
    const rows = await eventually('they are counted', async () => {
      const more = (await read()) - before;
      return more >= 3 * people ? more : undefined;
    });
    expect(rows / people).toBeLessThan(40);
  });

  test('that does not fit into the quota is refused now, and pauses later', async () => {
    const { database } = service.service;
    const id = await aCampaign(5);
    const period = service.today().slice(0, 7);
    const used = await get('/v1/workspace');
    const take = (more: number) =>
      database.query(
        `insert into usage as u (workspace_id, livemode, period, used, wanted, granted, quota) values ($1, true, $2, $3, 0, 0, 0)
         on conflict (workspace_id, livemode, period) do update set used = u.used + excluded.used`,
        [workspaceId, period, more],
      );
    const units = 500_000 - used.usage.emailsSent - 2;
    await take(units);
    const refused = await send(id);
    expect([refused.status, refused.body.error.code]).toEqual([429, 'QUOTA_EXCEEDED']);
    expect((await get(`/v1/campaigns/${id}`)).status).toBe('draft');
    await send(id, { scheduledAt: inFuture(120_000) });
    await service.pass(121_000);
    const paused = await until(id, 'it pauses', (_, { status }) => status === 'paused');
    // The emails that fit have left by then, and does not wait for the next month.
    expect(paused).toMatchObject({ sent: 2, remaining: 3, campaign: { pausedReason: 'quota_exceeded' } });
    await until(id, 'what fits is delivered', ({ delivered }) => delivered.count === 2);
    // The rest of the next month's quota reaches the missed recipients.
    await take(-units);
    expect((await send(id)).body.data.status).toBe('sending');
    const sent = await until(id, 'its end', (_, { status }) => status === 'sent');
    expect(sent).toMatchObject({ total: 5, sent: 5, remaining: 0 });
  });

  test('with a canary sends a share, waits, and goes on or pauses by itself', async () => {
    const canary = { percent: 50, holdMinutes: 10, maxBounceRate: 20, maxComplaintRate: 1 };
    const good = await aCampaign(6, { canary });
    await send(good);
    await until(good, 'the share', ({ delivered }) => delivered.count === 3);
    await service.pass(11 * 60_000);
    await until(good, 'the rest', ({ delivered }, { status }) => status === 'sent' && delivered.count === 6);
    way.refuses = () => true;
    const bad = await aCampaign(6, { canary });
    await send(bad);
    await until(bad, 'the share', ({ failed }) => failed === 3);
    await service.pass(11 * 60_000);
    const paused = await until(bad, 'it pauses', (_, { status }) => status === 'paused');
    expect(paused).toMatchObject({ failed: 3, remaining: 3, campaign: { pausedReason: 'canary' } });
    expect((await service.live.post(`/v1/campaigns/${bad}/cancel`)).body.data.status).toBe('cancelled');
    way.refuses = () => false;
    await service.service.database.query('delete from suppressions');
  });

  test('pauses when too many bounce', async () => {
    way.refuses = (address) => /^p\d*[05]-/.test(address);
    const id = await aCampaign(300);
    await send(id);
    const paused = await until(id, 'it pauses', (_, { status }) => status === 'paused');
    expect(paused.campaign.pausedReason).toBe('bounce_rate');
    way.refuses = () => false;
    await service.live.post(`/v1/campaigns/${id}/cancel`);
    await until(id, 'what was held is skipped', ({ sent, delivered }) => sent === delivered.count);
  });

  test('of which one outcome alone is possible when two ask at once', async () => {
    const outcomes: string[] = [];
    const [one, other] = [await aCampaign(1), await aCampaign(0)];
    for (let round = 0; round < 20; round++) {
      const { id } = (await service.live.post(`/v1/campaigns/${one}/duplicate`)).body.data;
      const path = `/v1/campaigns/${id}`;
      const at = { scheduledAt: inFuture(3_600_000) };
      const [first, second, patch] = await Promise.all([
        send(id, at),
        send(id, at),
        service.live.patch(path, { name: 'x' }),
      ]);
      expect([first.status, second.status].toSorted()).toEqual([200, 409]);
      expect([200, 409]).toContain(patch.status);
      const [back, end] = await Promise.all([
        service.live.post(`${path}/unschedule`),
        service.live.post(`${path}/cancel`),
      ]);
      const { status } = await get(path);
      expect(status).toBe('cancelled');
      outcomes.push(`${back.status} ${end.status}`);
    }
    expect(outcomes.filter((outcome) => !['200 200', '409 200'].includes(outcome))).toEqual([]);
    expect(await get(`/v1/campaigns/${other}`)).toMatchObject({ status: 'draft' });
  });
});

test('after all of that the rows say what was counted, and an audit notices when they do not', async () => {
  const { database } = service.service;
  const session = {
    query: <Row extends object>(
      text: string,
      parameters: readonly (string | number | boolean | null)[] = [],
    ) => database.query<Row>(text, parameters),
    close: async () => {},
  };
  const faults = async () => (await auditLedger(session as never, Date.now())).wrongOf('ledgers');
  expect(await faults()).toBe(0);
  await database.query(
    `insert into campaign_tallies (campaign_id, sent) select id, 1 from campaigns limit 1`,
  );
  expect(await faults()).toBeGreaterThan(0);
});
