import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { type Email, type LiveService, startLiveService } from '../support/live-service.ts';

let service: LiveService;
let audienceId: string;

beforeAll(async () => {
  service = await startLiveService();
  audienceId = await anAudience('News', 7);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

/** An audience of that many new contacts. */
async function anAudience(name: string, count: number): Promise<string> {
  const { live } = service;
  const audience = await live.post('/v1/audiences', { name });
  const people = Array.from({ length: count }, (_, n) => ({
    email: `${name.toLowerCase()}-${n}@people.example`,
    firstName: `Person${n}`,
    properties: { plan: n % 2 === 0 ? 'pro' : 'free' },
  }));
  const made = await live.post('/v1/contacts/batch', { contacts: people });
  const contactIds = made.body.data.map(({ id }: { id: string }) => id);
  const added = await live.post(`/v1/audiences/${audience.body.data.id}/contacts`, { contactIds });
  expect(added.body.data.added).toBe(count);
  return audience.body.data.id;
}

const SAID = {
  from: 'News <news@sender.example>',
  subject: 'Hello {{ contact.firstName }}',
  html: '<p>You have {{ contact.properties.plan }}. <a href="https://shop.example/a?u={{ contact.email | url_encode }}">Shop</a></p>',
};

async function aCampaign(more: object = {}): Promise<Email> {
  const made = await service.live.post('/v1/campaigns', { name: 'July', audienceId, ...SAID, ...more });
  expect(made.status).toBe(201);
  return made.body.data;
}

const statsOf = async (id: string): Promise<Email> =>
  (await service.live.get(`/v1/campaigns/${id}/stats`)).body.data;

const untilStatus = (id: string, status: string): Promise<Email> =>
  eventually(`the campaign is ${status}`, async () => {
    const { data } = (await service.live.get(`/v1/campaigns/${id}`)).body;
    return data.status === status ? data : undefined;
  });

describe('a campaign', () => {
  test('reaches everybody in its audience once, with their own content', async () => {
    const { id } = await aCampaign();
    const started = await service.live.post(`/v1/campaigns/${id}/send`, {});
    expect([started.status, started.body.data.status]).toEqual([200, 'preparing']);
    const sent = await untilStatus(id, 'sent');
    expect(sent.recipientCount).toBe(7);
    const stats = await eventually('all are delivered', async () => {
      const now = await statsOf(id);
      return now.delivered.count === 7 ? now : undefined;
    });
    expect(stats).toMatchObject({ total: 7, sent: 7, remaining: 0, skipped: 0, failed: 0 });
    const { data: emails } = (await service.live.get(`/v1/emails?campaignId=${id}`)).body;
    expect(new Set(emails.map(({ to }: Email) => to[0])).size).toBe(7);
    const one = (await service.live.get(`/v1/emails/${emails[0].id}`)).body.data;
    expect(one.subject).toMatch(/^Hello Person\d$/);
    expect(one.html).toMatch(/You have (pro|free)\./);
  });
});
