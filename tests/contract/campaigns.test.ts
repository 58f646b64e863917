import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createClient } from '../support/client.ts';
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
  eventually(
    `the campaign is ${status}`,
    async () => {
      const { data } = (await service.live.get(`/v1/campaigns/${id}`)).body;
      return data.status === status ? data : undefined;
    },
    { withinMs: 30_000 },
  );

test('changes of one draft at the same moment all hold', async () => {
  const { id } = await aCampaign();
  const names = Array.from({ length: 6 }, (_, n) => `n${n}`);
  const changes = [
    { subject: 'S' },
    { previewText: 'P' },
    { ratePerHour: 77 },
    { from: 'Z <z@sender.example>' },
  ];
  const told = await Promise.all(
    [...changes, ...names.map((name) => ({ name }))].map((body) =>
      service.live.patch(`/v1/campaigns/${id}`, body),
    ),
  );
  expect(told.map(({ status }) => status)).toEqual(told.map(() => 200));
  const { data } = (await service.live.get(`/v1/campaigns/${id}`)).body;
  expect(data).toMatchObject(Object.assign({}, ...changes));
  expect(names).toContain(data.name);
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

  test('has each subject as it left in lists, filters, waits and captured mail', async () => {
    const people = await anAudience('Codes', 3);
    const subject = 'Code 471{{ contact.firstName | slice: 6 }} for {{ contact.firstName }}';
    const { id } = await aCampaign({ audienceId: people, subject });
    expect((await service.live.post(`/v1/campaigns/${id}/send`, {})).status).toBe(200);
    await untilStatus(id, 'sent');
    const get = async (path: string): Promise<Email> => (await service.live.get(path)).body.data;
    const ofAll = [0, 1, 2].map((n) => [`codes-${n}@people.example`, `Code 471${n} for Person${n}`]);
    const pairs = (items: Email[], to: (item: Email) => string) =>
      items.map((item) => [to(item), item.subject]).toSorted();
    const listed = await get(`/v1/emails?campaignId=${id}`);
    expect(pairs(listed, (email) => email.to[0].replace(/^.*<|>$/g, ''))).toEqual(ofAll);
    const found = await get(`/v1/emails?campaignId=${id}&subject=FOR%20person1`);
    expect(found.map((email: Email) => email.subject)).toEqual(['Code 4711 for Person1']);
    expect((await get(`/v1/emails/${found[0].id}`)).subject).toBe('Code 4711 for Person1');

    const asked = 'to=codes-1@people.example&subject=Person1&timeout=30';
    const waited = await get(`/v1/emails/wait?${asked}`);
    expect([waited.id, waited.subject, waited.codes]).toEqual([
      found[0].id,
      'Code 4711 for Person1',
      ['4711'],
    ]);
    const captured = await get(`/v1/captured/wait?${asked}`);
    expect([captured.emailId, captured.subject]).toEqual([found[0].id, 'Code 4711 for Person1']);
    const whole = await get(`/v1/captured/${captured.id}`);
    const header = whole.headers.find(({ name }: Email) => name === 'Subject');
    expect([whole.subject, header.value]).toEqual(['Code 4711 for Person1', 'Code 4711 for Person1']);
    const [item] = await get(`/v1/captured?emailId=${found[0].id}`);
    expect(item.subject).toBe('Code 4711 for Person1');
  });

  test('is changed, copied and removed only where its state allows it', async () => {
    const { live, test: other } = service;
    const { id } = await aCampaign();
    const path = `/v1/campaigns/${id}`;
    expect((await live.patch(path, { subject: 'New', canary: null })).body.data.subject).toBe('New');
    expect((await live.patch(path, { sbject: 'New' })).status).toBe(422);
    expect((await live.patch(path, {})).status).toBe(422);
    expect((await live.patch(path, { markdown: '# Two bodies' })).body.error.details[0].path).toBe(
      '/body/markdown',
    );
    expect((await live.patch(path, { html: '{{ broken' })).body.error.details[0].path).toBe('/body/html');
    const mjml =
      '<mjml><mj-body><mj-section><mj-column><mj-text>Hi</mj-text></mj-column></mj-section></mj-body></mjml>';
    const refused = await live.patch(path, { mjml });
    expect(refused.body.error.details[0].path).toBe('/body/mjml');
    expect((await live.patch(path, { html: null, mjml: '<mjml>' })).body.error.details[0].path).toBe(
      '/body/mjml',
    );
    const asMjml = await live.patch(path, { html: null, mjml });
    expect(asMjml.body.data).toMatchObject({ html: null, markdown: null, mjml });
    expect((await live.get(`${path}/preview`)).body.data.html).toContain('>Hi</div>');
    expect((await live.get('/v1/campaigns')).body.data[0]).not.toHaveProperty('mjml');
    await live.patch(path, { html: '<p>Hi</p>', mjml: null });
    const copy = (await live.post(`${path}/duplicate`)).body.data;
    expect([copy.name, copy.status, copy.subject]).toEqual(['Copy of July', 'draft', 'New']);
    for (const act of ['pause', 'unschedule'])
      expect((await live.post(`${path}/${act}`, {})).status).toBe(409);

    const at = new Date(Date.now() + 3_600_000).toISOString();
    const scheduled = await live.post(`${path}/send`, { scheduledAt: at });
    expect([scheduled.status, scheduled.body.data.status, scheduled.body.data.scheduledAt]).toEqual([
      200,
      'scheduled',
      at,
    ]);
    expect((await live.patch(path, { subject: 'Late' })).status).toBe(409);
    expect((await live.delete(path)).status).toBe(409);
    expect((await live.post(`${path}/send`, {})).status).toBe(409);
    // Another environment's campaign is not there, and nothing happens to it.
    for (const act of ['pause', 'unschedule', 'cancel', 'duplicate'])
      expect((await other.post(`${path}/${act}`, {})).status).toBe(404);
    for (const ask of ['', '/stats', '/links', '/recipients', '/preview'])
      expect((await other.get(`${path}${ask}`)).status).toBe(404);
    expect((await other.patch(path, { name: 'Taken' })).status).toBe(404);
    expect((await other.delete(path)).status).toBe(404);
    for (const act of ['send', 'test-send']) {
      const refused = await other.post(`${path}/${act}`, act === 'send' ? {} : { to: ['a@sender.example'] });
      expect([refused.status, refused.body.error.code]).toEqual([403, 'TEST_MODE_NOT_SUPPORTED']);
    }
    expect((await live.get(path)).body.data.status).toBe('scheduled');
    const key = { authorization: `Bearer ${service.keys.live}`, 'content-type': 'application/json' };
    const empty = await fetch(`${service.url}${path}/unschedule`, { method: 'POST', headers: key });
    expect([empty.status, ((await empty.json()) as Email).data.status]).toEqual([200, 'draft']);
    expect((await live.post(`${path}/cancel`, {})).body.data.status).toBe('cancelled');
    expect((await live.post(`${path}/cancel`, {})).status).toBe(200);
    expect((await live.post(`${path}/send`, {})).status).toBe(409);
    expect((await live.delete(path)).status).toBe(204);
    expect((await live.get(path)).status).toBe(404);
    expect((await live.delete(path)).status).toBe(404);
  });

  test('keeps the audiences that it needs, until it is over', async () => {
    const { live } = service;
    const [list, besides] = [await anAudience('Kept', 2), await anAudience('Apart', 1)];
    const { id } = await aCampaign({ audienceId: list, excludeAudienceIds: [besides], ratePerHour: 1 });
    const refusals = async () => {
      const told = [list, besides].map(async (each) => (await live.delete(`/v1/audiences/${each}`)).body);
      return (await Promise.all(told)).map(({ error }) => [error.code, error.message, error.suggestion]);
    };
    const used = [
      'CONFLICT',
      'The audience is used by a campaign that is scheduled or running.',
      'Pause and cancel the campaign first, or wait until it is sent.',
    ];
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
    await live.post(`/v1/campaigns/${id}/send`, { scheduledAt });
    expect(await refusals()).toEqual([used, used]);
    await live.post(`/v1/campaigns/${id}/unschedule`, {});
    await live.post(`/v1/campaigns/${id}/send`, {});
    await eventually('one is given out', async () => ((await statsOf(id)).sent === 1 ? true : undefined));
    expect(await refusals()).toEqual([used, used]);
    // The rest of a resumed campaign would reach no recipient.
    expect((await live.post(`/v1/campaigns/${id}/pause`, {})).body.data.status).toBe('paused');
    expect(await refusals()).toEqual([used, used]);
    expect((await live.get(`/v1/audiences/${list}`)).body.data.contactCount).toBe(2);
    expect((await live.post(`/v1/campaigns/${id}/cancel`, {})).body.data.status).toBe('cancelled');
    for (const each of [list, besides]) expect((await live.delete(`/v1/audiences/${each}`)).status).toBe(204);
  });

  test('tells at once what keeps it from being started', async () => {
    const { live } = service;
    const send = async (more: object) => {
      const { id } = await aCampaign(more);
      const refused = await live.post(`/v1/campaigns/${id}/send`, {});
      expect((await live.get(`/v1/campaigns/${id}`)).body.data.status).toBe('draft');
      return [refused.status, refused.body.error.code, refused.body.error.details?.length];
    };
    expect(await send({ from: 'a@elsewhere.example' })).toEqual([403, 'FORBIDDEN', undefined]);
    expect(await send({ from: null, subject: null, html: null })).toEqual([422, 'VALIDATION_ERROR', 3]);
    const nobody = (await live.post('/v1/audiences', { name: 'Nobody' })).body.data.id;
    expect(await send({ audienceId: nobody })).toEqual([422, 'VALIDATION_ERROR', 1]);
    const unknown = { name: 'x', audienceId, templateId: 'no-such-template' };
    expect((await live.post('/v1/campaigns', unknown)).status).toBe(404);
    expect((await live.post('/v1/campaigns', { name: 'x', audienceId: 'aud_none' })).status).toBe(404);
  });

  test('takes a template by its alias, and a preview has no recipient', async () => {
    const { live } = service;
    const html =
      '<p>{{ campaign.name }} {{ contact.firstName }}</p><a href="{{ preferencesUrl }}">Choose</a>';
    const template = { name: 'Letter', alias: 'letter', subject: 'S', html, from: SAID.from };
    const { id: templateId } = (await live.post('/v1/templates', template)).body.data;
    const body = { name: 'By alias', audienceId, templateId: 'letter' };
    const { id, templateId: named } = (await live.post('/v1/campaigns', body)).body.data;
    expect(named).toBe(templateId);
    const contact = { email: 'Reader@People.example', firstName: 'Zoë' };
    const contactId = (await live.post('/v1/contacts', contact)).body.data.id;
    const shown = (await live.get(`/v1/campaigns/${id}/preview?contactId=${contactId}`)).body.data;
    expect(shown.html).toContain('<p>By alias Zoë</p>');
    const permissions = ['campaigns:read', 'campaigns:write', 'emails:send'];
    const { key } = (await live.post('/v1/api-keys', { name: 'R', env: 'live', permissions })).body.data;
    const reader = createClient(service.url, key);
    const test = { to: ['ada@sender.example'], contactId };
    for (const refused of [
      await reader.get(`/v1/campaigns/${id}/preview?contactId=${contactId}`),
      await reader.post(`/v1/campaigns/${id}/test-send`, test),
    ])
      expect([refused.status, refused.body.error.message]).toEqual([
        403,
        expect.stringContaining('lacks the permission contacts:read'),
      ]);
    expect((await reader.get(`/v1/campaigns/${id}/preview`)).status).toBe(200);
    const path = new URL(/href="([^"]*\/p\/[^"]*)"/.exec(shown.html)?.[1] ?? '').pathname;
    const off = { method: 'POST', body: new URLSearchParams({ action: 'off' }) };
    expect((await fetch(service.url + path, off)).status).toBe(400);
    expect((await live.get(`/v1/contacts/${contactId}`)).body.data.status).toBe('subscribed');

    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
    expect((await live.post(`/v1/campaigns/${id}/send`, { scheduledAt })).status).toBe(200);
    expect((await live.delete('/v1/templates/letter')).body.error.code).toBe('CONFLICT');
    expect((await live.post(`/v1/campaigns/${id}/unschedule`, {})).status).toBe(200);
    expect((await live.delete('/v1/templates/letter')).status).toBe(204);
  });

  test('leaves out who may not get it, and skips who has left since', async () => {
    const { live } = service;
    const list = await anAudience('Leaving', 6);
    const besides = await anAudience('Besides', 1);
    const people = (await live.get(`/v1/audiences/${list}/contacts`)).body.data;
    const [gone, blocked, excluded, leaves] = people;
    await live.patch(`/v1/contacts/${gone.id}`, { status: 'unsubscribed' });
    await live.post('/v1/suppressions', { address: blocked.email });
    await live.post(`/v1/audiences/${besides}/contacts`, { contactIds: [excluded.id] });
    const { id } = await aCampaign({ audienceId: list, excludeAudienceIds: [besides], ratePerHour: 1 });
    await live.post(`/v1/campaigns/${id}/send`, {});
    // One is given out at once; the next one an hour later, and that one has left by then.
    const first = await eventually('one is given out', async () => {
      const now = await statsOf(id);
      return now.sent === 1 ? now : undefined;
    });
    expect(first).toMatchObject({ total: 6, sent: 1, remaining: 2, skipped: 3, failed: 0 });
    const waiting = (await live.get(`/v1/campaigns/${id}/recipients?outcome=remaining`)).body.data;
    expect(waiting).toHaveLength(2);
    const left = waiting[0] ?? leaves;
    expect((await live.delete(`/v1/audiences/${list}/contacts/${left.contactId}`)).status).toBe(204);
    await service.pass(3_700_000);
    await service.pass(3_700_000);
    await untilStatus(id, 'sent');
    expect(await statsOf(id)).toMatchObject({ total: 6, sent: 2, remaining: 0, skipped: 4, failed: 0 });
    const skipped = (await live.get(`/v1/campaigns/${id}/recipients?outcome=skipped`)).body.data;
    expect(skipped.map(({ reason }: Email) => reason).toSorted()).toEqual([
      'excluded',
      'removed',
      'suppressed',
      'unsubscribed',
    ]);
  });
});
