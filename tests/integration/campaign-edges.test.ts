import { afterAll, beforeAll, expect, test } from 'bun:test';
import { withoutReply } from '../../src/mail/transport/smtp/outcome.ts';
import type { OutboundMessage, Transport } from '../../src/mail/transport/transport.ts';
import { manyPeople } from '../support/campaign-people.ts';
import { eventually } from '../support/eventually.ts';
import { type Email, type LiveService, startLiveService } from '../support/live-service.ts';

// Disturbances of a campaign between its draft and its last email.

/** A transport that defers the recipients that the test names. */
const way = {
  name: 'smtp',
  confirmsDelivery: true,
  sent: [] as OutboundMessage[],
  defers: (_address: string): boolean => false,
  async send(message: OutboundMessage, { begin }: Parameters<Transport['send']>[1]) {
    const [to = ''] = message.recipients;
    if ((await begin?.()) === false) throw new Error('It was not to begin.');
    const reply = withoutReply(to, 'deferred', 'later', 'General');
    if (this.defers(to)) return [reply];
    this.sent.push(message);
    return [{ ...reply, outcome: 'accepted' as const, fault: null, subType: null }];
  },
  verify: async () => [],
  close: async () => {},
};

let service: LiveService;
let workspaceId: string;

const query = (text: string, parameters: readonly (string | null)[] = []) =>
  service.service.database.query<{ id: string }>(text, parameters);

beforeAll(async () => {
  service = await startLiveService({ transport: way as unknown as Transport, atNoon: true });
  const [row] = await query('select id from workspaces');
  workspaceId = row?.id ?? '';
});
afterAll(() => service[Symbol.asyncDispose]());

const SAID = {
  name: 'News',
  from: 'News <news@sender.example>',
  subject: 'Hello',
  html: '<p>Hello <a href="{{ preferencesUrl }}">Choose</a></p>',
};
const OPTED_OUT = { field: 'properties.optOut', operator: 'eq', value: true };
const people = (count: number) => manyPeople(service.service.database, workspaceId, count);
async function aCampaign(more: object): Promise<string> {
  const made = await service.live.post('/v1/campaigns', { ...SAID, ...more });
  expect(made.status).toBe(201);
  return made.body.data.id;
}
const get = async (path: string): Promise<Email> => (await service.live.get(path)).body.data;
const send = async (id: string, body: object = {}) => {
  const { status } = await service.live.post(`/v1/campaigns/${id}/send`, body);
  expect(status).toBe(200);
};
const until = (id: string, status: string): Promise<Email> =>
  eventually(
    `the campaign is ${status}`,
    async () => {
      const campaign = await get(`/v1/campaigns/${id}`);
      return campaign.status === status
        ? { ...campaign, ...(await get(`/v1/campaigns/${id}/stats`)) }
        : undefined;
    },
    { withinMs: 20_000 },
  );

test('whose recipient has an address that nothing can be written to skips that one, and ends', async () => {
  const audienceId = await people(3);
  await query(
    `update contacts set email = 'p1 at people.example' where id = (
       select min(contact_id) from audience_members where audience_id = $1)`,
    [audienceId],
  );
  const id = await aCampaign({ audienceId });
  await send(id);
  expect(await until(id, 'sent')).toMatchObject({ total: 3, sent: 2, skipped: 1, remaining: 0 });
  const [skipped] = await get(`/v1/campaigns/${id}/recipients?outcome=skipped`);
  expect(skipped).toMatchObject({ outcome: 'skipped', reason: 'invalid', emailId: null });
});

test('that was sent and then removed still sends what servers have put off', async () => {
  way.defers = () => true;
  const id = await aCampaign({ audienceId: await people(2) });
  await send(id);
  await until(id, 'sent');
  const emails = await eventually('they are put off', async () => {
    const found = await get(`/v1/emails?campaignId=${id}`);
    return found.every(({ status }: Email) => status === 'deferred') ? found : undefined;
  });
  expect((await service.live.delete(`/v1/campaigns/${id}`)).status).toBe(204);
  way.defers = () => false;
  await service.pass(3_600_000);
  for (const email of emails)
    expect(
      (await service.until(email.id, ({ status }) => !['deferred', 'queued', 'sending'].includes(status)))
        .status,
    ).toBe('delivered');
});

test('whose rate was counted by a clock that has been put back goes on', async () => {
  const id = await aCampaign({ audienceId: await people(2), ratePerHour: 36_000 });
  await query(`insert into campaign_tallies (campaign_id, next_at) values ($1, now() + interval '30 days')`, [
    id,
  ]);
  await send(id);
  expect(await until(id, 'sent')).toMatchObject({ total: 2, sent: 2 });
});

test('does not start without the audience that it leaves out, and then has frozen no recipient', async () => {
  const [audienceId, besides] = [await people(2), await people(1)];
  const id = await aCampaign({ audienceId, excludeAudienceIds: [besides] });
  await send(id, { scheduledAt: new Date(Date.parse(service.today()) + 7_200_000).toISOString() });
  // As a turn leaves it that came half way.
  await query(
    `with frozen as (
       insert into campaign_recipients (campaign_id, contact_id, address_hash, state)
       select $1, m.contact_id, md5(c.email_key)::uuid, 'waiting' from audience_members m join contacts c on c.id = m.contact_id
       where m.audience_id = $2 limit 1 returning 1
     ) insert into campaign_tallies (campaign_id, total, remaining) select $1, 1, 1 from frozen`,
    [id, audienceId],
  );
  // The API keeps one that is used; this one went just when the campaign was scheduled.
  for (const used of [audienceId, besides])
    expect((await service.live.delete(`/v1/audiences/${used}`)).status).toBe(409);
  await query('delete from audiences where id = $1', [besides]);
  await service.pass(7_300_000);
  expect(await until(id, 'failed')).toMatchObject({ failureReason: 'audience_gone', total: 0, remaining: 0 });
  expect(
    await query('select contact_id as id from campaign_recipients where campaign_id = $1', [id]),
  ).toEqual([]);
  const again = await service.live.post(`/v1/campaigns/${id}/send`, {});
  expect([again.status, again.body.error.details[0].message]).toEqual([
    422,
    expect.stringContaining('excludes was deleted'),
  ]);
});

test.each(['excluded', 'own'])(
  'does not start where the filter of its %s audience names a deleted one',
  async (which) => {
    const [many, named] = [await people(2), await people(1)];
    const filter = { or: [{ field: 'audiences', operator: 'eq', value: named }, OPTED_OUT] };
    const made = await service.live.post('/v1/audiences', { name: 'Made of it', type: 'dynamic', filter });
    const broken: string = made.body.data.id;
    const id = await aCampaign(
      which === 'excluded'
        ? { audienceId: many, excludeAudienceIds: [broken] }
        : { audienceId: broken, excludeAudienceIds: [] },
    );
    await send(id, { scheduledAt: new Date(Date.parse(service.today()) + 7_200_000).toISOString() });
    expect((await service.live.delete(`/v1/audiences/${named}`)).status).toBe(409);
    // The API keeps one that is named; this one went just when the other was made.
    await query('delete from audiences where id = $1', [named]);
    await service.pass(7_300_000);
    expect(await until(id, 'failed')).toMatchObject({
      failureReason: 'audience_gone',
      total: 0,
      remaining: 0,
    });
    expect((await service.live.post(`/v1/campaigns/${id}/send`, {})).status).toBe(422);
  },
);

test('whose content cannot be rendered for one recipient says so of that one, who stays subscribed', async () => {
  const endless = '{% if contact.firstName == "Person2" %}{% for i in (1..100000) %}x{% endfor %}{% endif %}';
  const id = await aCampaign({ audienceId: await people(3), html: `<p>Hello ${endless}</p>` });
  await send(id);
  await until(id, 'sent');
  const [failed] = await eventually('one has failed', async () => {
    const found = await get(`/v1/campaigns/${id}/recipients?outcome=failed`);
    return found.length > 0 ? found : undefined;
  });
  const { events, failureReason } = await get(`/v1/emails/${failed.emailId}`);
  expect(failureReason).toBe('rejected');
  expect(events[0].data.message).toContain('cannot be rendered for this recipient');
  expect((await get(`/v1/contacts/${failed.contactId}`)).status).toBe('subscribed');
});

test('leaves with the subjects that it was given out with, whatever its workspace is called by then', async () => {
  const subject = '{{ workspace.name }} for {{ contact.firstName }}';
  await service.live.patch('/v1/workspace', { name: 'Before' });
  way.defers = () => true;
  const id = await aCampaign({ audienceId: await people(3), subject });
  await send(id);
  const listed = async (): Promise<Email[]> => get(`/v1/emails?campaignId=${id}`);
  await eventually('all are put off', async () => {
    const emails = await listed();
    return emails.length === 3 && emails.every(({ status }) => status === 'deferred') ? true : undefined;
  });
  await service.live.patch('/v1/workspace', { name: 'After' });
  way.defers = () => false;
  const before = way.sent.length;
  await service.pass(30 * 60_000);
  await eventually('all have left', () => way.sent.length === before + 3 || undefined, { withinMs: 20_000 });
  const sent = way.sent.slice(before).map((message) => message.subject);
  expect(sent.toSorted()).toEqual([1, 2, 3].map((n) => `Before for Person${n}`));
  expect((await listed()).map((email) => email.subject).toSorted()).toEqual(sent.toSorted());
});

test('whose subject is too long for one recipient says so of that one, and 998 characters leave', async () => {
  const more = '{% if contact.firstName == "Person2" %}x{% endif %}';
  const subject = `{% for i in (1..998) %}x{% endfor %}${more}`;
  const id = await aCampaign({ audienceId: await people(2), subject });
  await send(id);
  await until(id, 'sent');
  const [failed] = await eventually('one has failed', async () => {
    const found = await get(`/v1/campaigns/${id}/recipients?outcome=failed`);
    return found.length > 0 ? found : undefined;
  });
  const { events } = await get(`/v1/emails/${failed.emailId}`);
  expect(events[0].data.message).toContain('more than 998 characters');
  const emails: Email[] = await get(`/v1/emails?campaignId=${id}`);
  const whole = emails.find(({ to }) => to[0].includes('p1-'));
  expect(whole.subject).toBe('x'.repeat(998));
});

test('with a canary waits for its outcomes to the end, also when it was paused meanwhile', async () => {
  const canary = { percent: 50, holdMinutes: 10, maxBounceRate: 20, maxComplaintRate: 1 };
  const id = await aCampaign({ audienceId: await people(4), canary });
  await send(id);
  const isHolding = () =>
    eventually('it holds', async () => {
      const [row] = await query(`select context ->> 'waitMs' as id from campaigns where id = $1`, [id]);
      return row?.id ? await get(`/v1/campaigns/${id}/stats`) : undefined;
    });
  expect((await isHolding()).sent).toBe(2);
  await service.live.post(`/v1/campaigns/${id}/pause`);
  await send(id);
  expect((await isHolding()).sent).toBe(2);
  await service.pass(11 * 60_000);
  expect(await until(id, 'sent')).toMatchObject({ sent: 4 });
});

test('is shown with links that act for no contact, and listed without its content', async () => {
  const audienceId = await people(1);
  const id = await aCampaign({ audienceId });
  const [contact] = await get(`/v1/audiences/${audienceId}/contacts`);
  await send(id);
  await until(id, 'sent');
  const [email] = await get(`/v1/emails?campaignId=${id}`);
  // It is given out before it leaves.
  const left = await eventually('it has left', () =>
    way.sent.find(({ recipients }) => recipients.includes(contact.email)),
  );
  const real = left.html ?? '';
  const shown = [
    (await get(`/v1/campaigns/${id}/preview?contactId=${contact.id}`)).html,
    (await get(`/v1/emails/${email.id}`)).html,
  ];
  const visit = async (html: string) => {
    const [, path] = /href="[^"]*(\/p\/[^"]+)"/.exec(html) ?? [];
    return (await fetch(`${service.url}${path}`)).status;
  };
  expect(await Promise.all([real, ...shown].map(visit))).toEqual([200, 400, 400]);
  const [item] = await get('/v1/campaigns?limit=1');
  expect([item.id, item.subject, item.html, item.variables]).toEqual([id, 'Hello', undefined, undefined]);
});

test('is shown and tested as it leaves once it has started, whatever its template says by then', async () => {
  const { live } = service;
  const template = { name: 'Letter', subject: 'Old', html: '<p>OLD words</p>' };
  const templateId = (await live.post('/v1/templates', template)).body.data.id;
  const more = { subject: null, html: null, templateId, ratePerHour: 1 };
  const id = await aCampaign({ audienceId: await people(2), ...more });
  const path = `/v1/campaigns/${id}`;
  const before = way.sent.length;
  expect((await get(`${path}/preview`)).subject).toBe('Old');
  await send(id);
  const real = await eventually('one has left', async () => way.sent[before]);
  expect(
    (await live.patch(`/v1/templates/${templateId}`, { subject: 'New', html: '<p>NEW words</p>' })).status,
  ).toBe(200);
  const shown = await get(`${path}/preview`);
  const tested = await live.post(`${path}/test-send`, { to: ['colleague@sender.example'] });
  expect(tested.status).toBe(200);
  const test = await eventually('the test has left', async () =>
    way.sent.find(({ recipients }) => recipients.includes('colleague@sender.example')),
  );
  const [email] = await get(`/v1/emails?campaignId=${id}`);
  const stored = await get(`/v1/emails/${email.id}`);
  // The link differs: only that of the real one acts.
  const wordsOf = (text: string | null | undefined) =>
    text?.trim().replace(/(?:\{\{unsubscribeUrl\}\}|https?:\S+)$/, 'LINK');
  const words = 'OLD words\n\nUnsubscribe: LINK';
  expect([real, shown, test, stored].map(({ text }) => wordsOf(text))).toEqual(Array(4).fill(words));
  expect([real.subject, shown.subject, test.subject]).toEqual(['Old', 'Old', '[Test] Old']);
  expect(test.html).toContain('OLD words');
  expect((await live.post(`${path}/pause`)).status).toBe(200);
  expect((await get(`${path}/preview`)).subject).toBe('Old');
});

test('that stops by itself tells the admins', async () => {
  const { live } = service;
  await live.patch('/v1/workspace', { defaultFrom: 'Acme <hello@sender.example>' });
  await query(
    `insert into accounts (id, email, email_key, name, created_at) values ('acc_1', 'ada@people.example', 'ada@people.example', 'Ada', now())`,
  );
  await query(
    `insert into members (id, workspace_id, account_id, role, joined_at) values ('mem_1', $1, 'acc_1', 'owner', now())`,
    [workspaceId],
  );
  const id = await aCampaign({ audienceId: await people(4), ratePerHour: 1 });
  await send(id);
  await eventually(
    'one is given out',
    async () => (await get(`/v1/campaigns/${id}/stats`)).sent === 1 || undefined,
  );
  expect((await live.delete(`/v1/domains/${service.domainId}`)).status).toBe(204);
  const used = await live.post('/v1/domains', { name: 'sender2.example' });
  await live.patch('/v1/workspace', { defaultFrom: 'Acme <hello@sender2.example>' });
  expect(used.body.data.status).toBe('verified');
  await service.pass(3_700_000);
  expect((await until(id, 'paused')).pausedReason).toBe('sender_unverified');
  const warning = await eventually(
    'the email',
    async () => way.sent.find(({ recipients }) => recipients.includes('ada@people.example')),
    { withinMs: 20_000 },
  );
  expect(warning.subject).toBe('The campaign “News” is paused');
  expect(warning.text).toContain('3 recipients have not received it');
});

test('whose domain is removed and added again sends what waited for it', async () => {
  const added = await service.live.post('/v1/domains', { name: 'moved.example' });
  expect(added.body.data.status).toBe('verified');
  way.defers = () => true;
  const id = await aCampaign({ audienceId: await people(3), from: 'News <news@moved.example>' });
  await send(id);
  await until(id, 'sent');
  const ofStatus = async (status: string): Promise<Email[]> =>
    (await get(`/v1/emails?campaignId=${id}&status=${status}`)) as never;
  await eventually('all are put off', async () => (await ofStatus('deferred')).length === 3 || undefined);
  expect((await service.live.delete(`/v1/domains/${added.body.data.id}`)).status).toBe(204);
  way.defers = () => false;
  const before = way.sent.length;
  await service.pass(3_600_000);
  const evidence = async ({ id: email }: Email) => (await get(`/v1/emails/${email}/explain`)).evidence;
  await eventually('they wait for the domain', async () => {
    const waiting = await Promise.all((await ofStatus('deferred')).map(evidence));
    const say = waiting.map((one) => one.some(({ text }: Email) => text.includes('not verified any more')));
    return (say.length === 3 && say.every(Boolean)) || undefined;
  });
  expect(way.sent).toHaveLength(before);
  const { status, body } = await service.live.post('/v1/domains', { name: 'moved.example' });
  expect(status).toBe(201);
  const warmUp = { provider: 'smtp', startedAt: service.today(), perDay: Array(30).fill(1) };
  await query('insert into domain_transports (domain_id, warm_ups) values ($1, $2::text::json)', [
    body.data.id,
    JSON.stringify([warmUp]),
  ]);
  await service.pass(4 * 3_600_000);
  await eventually('one arrives, and two wait for another day', async () => {
    const found = await Promise.all(['delivered', 'queued'].map(ofStatus));
    return found.map(({ length }) => length).join() === '1,2' || undefined;
  });
  expect((await service.live.patch(`/v1/domains/${body.data.id}`, { warmUps: [] })).status).toBe(200);
  await service.pass(10_000);
  await eventually('they arrive', async () => (await ofStatus('delivered')).length === 3 || undefined);
  // The day of the domain that they leave by.
  expect(await query('select domain_id as id from warm_up_days')).toEqual([{ id: body.data.id }]);
  expect(await get(`/v1/campaigns/${id}/stats`)).toMatchObject({ total: 3, sent: 3, failed: 0 });
});

test('that was paused goes on once its domain is verified, and is refused before', async () => {
  const domain = { name: 'resumed.example' };
  const added = await service.live.post('/v1/domains', domain);
  const id = await aCampaign({
    audienceId: await people(3),
    from: 'News <news@resumed.example>',
    ratePerHour: 1,
  });
  await send(id);
  await until(id, 'sending');
  expect((await service.live.post(`/v1/campaigns/${id}/pause`)).status).toBe(200);
  await service.live.delete(`/v1/domains/${added.body.data.id}`);
  const refused = await service.live.post(`/v1/campaigns/${id}/send`, {});
  expect([refused.status, refused.body.error.code]).toEqual([403, 'FORBIDDEN']);
  expect((await get(`/v1/campaigns/${id}`)).status).toBe('paused');
  await service.live.post('/v1/domains', domain);
  await send(id);
  expect((await service.live.post(`/v1/campaigns/${id}/pause`)).status).toBe(200);
  expect((await service.live.post(`/v1/campaigns/${id}/cancel`)).status).toBe(200);
});
