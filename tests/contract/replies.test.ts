import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { type Browser, setUpOwner } from './a-browser.ts';
import { pathsOf } from './ask.ts';
import { type RealService, startRealService } from './real-service.ts';

let service: RealService;
let live: string;
let inTest: string;
let owner: Browser;

beforeAll(async () => {
  service = await startRealService({ HOST: '127.0.0.1' });
  owner = await setUpOwner(service);
  live = await service.keyWith('live', ['*']);
  inTest = await service.keyWith('test', ['*']);
  const { id } = (await send('POST', '/v1/domains', { name: 'acme.example' }, live)).body.data;
  const action = { type: 'keep' };
  await send('POST', '/v1/inbound-routes', {
    domainId: id,
    match: { type: 'exact', localPart: 'support' },
    action,
  });
});
afterAll(() => service[Symbol.asyncDispose]());

const send = (method: string, path: string, body?: unknown, key = inTest, headers = {}) =>
  service.ask({ method, path, key, headers, ...(body !== undefined && { body }) });

const ADA = 'ada@customer.example';
const letter = { from: 'Acme <hello@acme.example>', subject: 'News', text: 'Hello' };

/** Sends an email; its id, its Message-ID and its reply address. */
async function sent(more: object = {}, key = inTest) {
  const made = await send('POST', '/v1/emails', { ...letter, to: ADA, replyTo: 'auto', ...more }, key);
  expect(made.status).toBe(202);
  const { id } = made.body.data as { id: string };
  const { replyTo } = (await send('GET', `/v1/emails/${id}`, undefined, key)).body.data;
  return { id, messageId: `<${id}@acme.example>`, replyTo: replyTo[0] as string };
}

/** Receives a raw message, and answers what is shown of it. */
async function received(fields: Readonly<Record<string, string>>, key = inTest) {
  const header = {
    From: `Ada <${ADA}>`,
    To: 'support@acme.example',
    Subject: 'Re: News',
    'Message-ID': `<${crypto.randomUUID()}@customer.example>`,
    ...fields,
  };
  const lines = Object.entries(header).map(([name, value]) => `${name}: ${value}\r\n`);
  const made = await send('POST', '/v1/received/test', `${lines.join('')}\r\nThanks\r\n`, key, {
    'content-type': 'message/rfc822',
  });
  expect(made.status).toBe(201);
  return made.body.data;
}

const contact = async (email: string): Promise<string> =>
  (await send('POST', '/v1/contacts', { email })).body.data.id;
const activityOf = async (id: string) =>
  (await send('GET', `/v1/contacts/${id}/activity?type=replied`)).body.data;

describe('replyTo: "auto"', () => {
  test('writes an address of the receiving domain, which takes mail without a route of that name', async () => {
    const email = await sent();
    expect(email.replyTo).toMatch(/^r\+[0-9a-z]{48}@acme\.example$/);
    const reply = await received({ To: email.replyTo });
    expect(reply).toMatchObject({
      routeId: null,
      status: 'kept',
      inReplyToEmail: { emailId: email.id, contactId: null, campaignId: null, flowRunId: null },
    });
  });

  test('is written by a batch and by a template, beside other addresses', async () => {
    const template = await send('POST', '/v1/templates', {
      name: 'Auto',
      subject: 'News',
      html: '<p>Hi</p>',
      replyTo: ['auto', 'sales@acme.example'],
    });
    expect(template.body.data.replyTo).toEqual(['auto', 'sales@acme.example']);
    const batch = await send('POST', '/v1/emails/batch', {
      emails: [
        { ...letter, to: ADA, replyTo: ['auto'] },
        { from: letter.from, to: ADA, templateId: template.body.data.id },
      ],
    });
    const shown = await Promise.all(
      batch.body.data.map(({ id }: { id: string }) => send('GET', `/v1/emails/${id}`)),
    );
    const [first, second] = shown.map(({ body }) => body.data.replyTo);
    expect(first).toEqual([expect.stringMatching(/^r\+\w{48}@acme\.example$/)]);
    expect(second).toEqual([expect.stringMatching(/^r\+\w{48}@acme\.example$/), 'sales@acme.example']);
    expect(first[0]).not.toBe(second[0]);
  });

  test('is refused where no domain of the environment receives', async () => {
    const refused = await send('POST', '/v1/emails', { ...letter, to: ADA, replyTo: 'auto' }, live);
    expect([refused.status, pathsOf(refused)]).toEqual([422, ['/body/replyTo']]);
    const { id } = (await send('GET', '/v1/inbound-routes')).body.data[0];
    const route = (await send('GET', `/v1/inbound-routes/${id}`)).body.data;
    await send('DELETE', `/v1/inbound-routes/${id}`);
    const without = await send('POST', '/v1/emails', { ...letter, to: ADA, replyTo: 'auto' });
    expect([without.status, pathsOf(without)]).toEqual([422, ['/body/replyTo']]);
    expect(without.body.error.details[0].message).toContain('POST /v1/inbound-routes');
    const { domainId, match } = route;
    await send('POST', '/v1/inbound-routes', { domainId, match, action: { type: 'keep' } });
    await sent();
  });

  test('an address that was not made here is no address', async () => {
    const { replyTo } = await sent();
    const forged = replyTo.replace(/^r\+(.)/, (_, first) => `r+${first === '0' ? '1' : '0'}`);
    const refused = await send('POST', '/v1/received/test', { from: ADA, to: forged });
    expect([refused.status, pathsOf(refused)]).toEqual([422, ['/body/to']]);
  });
});

describe('inReplyToEmail', () => {
  test('is found by the Message-ID that In-Reply-To or References names, where the sender was a recipient', async () => {
    const email = await sent({ to: [ADA, 'bob@customer.example'] });
    const found = { emailId: email.id };
    expect((await received({ 'In-Reply-To': email.messageId })).inReplyToEmail).toMatchObject(found);
    const later = await received({ References: `${email.messageId} <other@elsewhere.example>` });
    expect(later.inReplyToEmail).toMatchObject(found);
    const bob = await received({ From: 'BOB@customer.example', 'In-Reply-To': email.messageId });
    expect(bob.inReplyToEmail).toMatchObject(found);
    const eve = await received({ From: 'eve@customer.example', 'In-Reply-To': email.messageId });
    expect(eve.inReplyToEmail).toBeNull();
    const byToken = await received({ From: 'eve@customer.example', To: email.replyTo });
    expect(byToken.inReplyToEmail).toMatchObject({ ...found, contactId: null });
  });

  test('is found by a Message-ID that the client chose', async () => {
    const messageId = `<order-${crypto.randomUUID()}@acme.example>`;
    const email = await sent({ messageId });
    expect((await received({ 'In-Reply-To': messageId })).inReplyToEmail).toMatchObject({
      emailId: email.id,
    });
  });

  test('is found before the email is sent', async () => {
    const email = await sent({ scheduledAt: new Date(Date.now() + 3_600_000).toISOString() });
    expect((await received({ To: email.replyTo })).inReplyToEmail).toMatchObject({ emailId: email.id });
  });

  test('is null for automatic mail, and for an email that is not there any more', async () => {
    const email = await sent();
    const away = await received({ To: email.replyTo, 'Auto-Submitted': 'auto-replied' });
    expect(away).toMatchObject({ isAutomatic: true, inReplyToEmail: null });
    const { database } = service.service;
    await database.query('delete from emails where id = $1', [email.id]);
    const late = await received({ To: email.replyTo });
    expect(late).toMatchObject({ status: 'kept', inReplyToEmail: null });
  });

  test('keeps a thread that the client has begun by its own fields', async () => {
    const began = await received({ 'Message-ID': '<ticket-7@customer.example>' });
    const email = await sent({ headers: { References: began.messageId, 'In-Reply-To': began.messageId } });
    const byFields = await received({
      'In-Reply-To': email.messageId,
      References: `${began.messageId} ${email.messageId}`,
    });
    const byToken = await received({ To: email.replyTo });
    expect([byFields.inReplyToEmail.emailId, byToken.inReplyToEmail.emailId]).toEqual([email.id, email.id]);
    expect([byFields.threadId, byToken.threadId]).toEqual([began.threadId, began.threadId]);
  });

  test('lists the answers to an email, and those without a route', async () => {
    const email = await sent();
    const { id } = await received({ To: email.replyTo });
    await received({ To: 'support@acme.example' });
    const list = await send('GET', `/v1/received?emailId=${email.id}`);
    expect(list.body.data.map((each: { id: string }) => each.id)).toEqual([id]);
  });
});

describe('a reply of a contact', () => {
  test('is an entry of the time line, once for all addresses that the message was sent to', async () => {
    const id = await contact('time@line.example');
    const email = await sent({ to: 'time@line.example' });
    const fields = {
      From: 'time@line.example',
      'In-Reply-To': email.messageId,
      'Message-ID': `<${crypto.randomUUID()}@line.example>`,
    };
    const reply = await received({ ...fields, To: email.replyTo });
    await received({ ...fields, To: email.replyTo });
    expect(reply.inReplyToEmail.contactId).toBe(id);
    expect(await activityOf(id)).toEqual([
      expect.objectContaining({
        type: 'replied',
        emailId: email.id,
        campaignId: null,
        data: { receivedId: reply.id, emailId: email.id },
      }),
    ]);
    expect((await send('GET', `/v1/received/${reply.id}`)).body.data.inReplyToEmail.contactId).toBe(id);
  });

  test('is a condition of audiences', async () => {
    const id = await contact('filtered@line.example');
    const filter = { field: 'activity.replied', operator: 'exists', value: true };
    const named = { and: [filter, { field: 'email', operator: 'eq', value: 'filtered@line.example' }] };
    const count = async () =>
      (await send('POST', '/v1/audiences/preview', { filter: named })).body.data.count as number;
    expect(await count()).toBe(0);
    const email = await sent({ to: 'filtered@line.example' });
    await received({ From: 'other@line.example', To: email.replyTo });
    expect(await count()).toBe(1);
    expect(await activityOf(id)).toHaveLength(1);
  });

  test('subscribes no one again', async () => {
    const id = await contact('left@line.example');
    await send('PATCH', `/v1/contacts/${id}`, { status: 'unsubscribed' });
    const email = await sent({ to: 'left@line.example' });
    await received({ From: 'left@line.example', To: email.replyTo });
    expect((await send('GET', `/v1/contacts/${id}`)).body.data.status).toBe('unsubscribed');
    expect(await activityOf(id)).toHaveLength(1);
  });

  test('goes when the contact is forgotten', async () => {
    const id = await contact('gone@line.example');
    const email = await sent({ to: 'gone@line.example' });
    const reply = await received({ From: 'gone@line.example', To: email.replyTo });
    const elsewhere = await received({ From: 'other@line.example', To: email.replyTo });
    expect(elsewhere.inReplyToEmail.contactId).toBe(id);
    await send('DELETE', `/v1/contacts/${id}`);
    await eventually('the end of the one from another address', async () =>
      (await send('GET', `/v1/received/${elsewhere.id}`)).status === 404 ? true : undefined,
    );
    await eventually('the end of the message', async () =>
      (await send('GET', `/v1/received/${reply.id}`)).status === 404 ? true : undefined,
    );
    expect((await received({ From: 'other@line.example', To: email.replyTo })).inReplyToEmail).toMatchObject({
      contactId: null,
    });
  });

  test('begins the runs of a flow, and ends those whose goal it is', async () => {
    const id = await contact('flow@line.example');
    const steps = [{ key: 'wait', type: 'delay', config: { amount: 30, unit: 'days' } }];
    const flowOf = async (more: object): Promise<string> => {
      const made = await send('POST', '/v1/flows', { name: 'Replies', steps, ...more });
      expect(made.status).toBe(201);
      const path = `/v1/flows/${made.body.data.id}`;
      expect((await owner.ask(`/test/flows/${made.body.data.id}/activate`, {})).status).toBe(200);
      return path;
    };
    const begun = await flowOf({ trigger: { type: 'replied' } });
    const ended = await flowOf({
      trigger: { type: 'manual' },
      exitWhen: { field: 'activity.replied', operator: 'exists', value: true },
    });
    expect((await send('POST', `${ended}/runs`, { contactId: id })).status).toBeLessThan(300);
    const email = await sent({ to: 'flow@line.example' });
    await received({ From: 'flow@line.example', To: email.replyTo });
    const runOf = (path: string, status: string) =>
      eventually(`a run that is ${status}`, async () => {
        const runs = (await send('GET', `${path}/runs`)).body.data as { contactId: string; status: string }[];
        return runs.find((run) => run.contactId === id && run.status === status);
      });
    await runOf(begun, 'waiting');
    await runOf(ended, 'exited');
  });
});

test('a reply to an email on a test clock begins runs by that clock', async () => {
  const started = '2026-12-01T09:00:00.000Z';
  const { id: clock } = (await send('POST', '/v1/test-clocks', { startAt: started })).body.data;
  const flow = {
    name: 'By the clock',
    trigger: { type: 'replied' },
    steps: [{ key: 'wait', type: 'delay', config: { amount: 14, unit: 'days' } }],
  };
  const { id: flowId } = (await send('POST', '/v1/flows', flow)).body.data;
  await owner.ask(`/test/flows/${flowId}/activate`, {});
  const id = await contact('clocked@line.example');
  const email = await sent({ to: 'clocked@line.example', testClockId: clock });
  await received({ From: 'clocked@line.example', To: email.replyTo });
  const run = await eventually(
    'the run waits',
    async () => (await send('GET', `/v1/flows/${flowId}/runs`)).body.data[0],
  );
  expect(run).toMatchObject({ contactId: id, testClockId: clock });
  const [entry] = await activityOf(id);
  expect(entry.at).toBe(started);
});

describe('POST /v1/received/{id}/reply', () => {
  const answer = (id: string, more: object = {}, key = inTest, headers = {}) =>
    send('POST', `/v1/received/${id}/reply`, { from: letter.from, text: 'Gladly', ...more }, key, headers);
  const detail = async (id: string) => (await send('GET', `/v1/emails/${id}`)).body.data;

  test('writes to the author in the thread of the message', async () => {
    const email = await sent();
    const first = await received({
      To: email.replyTo,
      'In-Reply-To': email.messageId,
      Subject: 'RE: re: News',
      References: `<first@acme.example> ${email.messageId}`,
    });
    const answered = await answer(first.id, { replyTo: 'auto', headers: { 'X-Ticket': '7' } });
    expect(answered.status).toBe(202);
    const { id } = answered.body.data;
    const shown = await detail(id);
    expect(shown).toMatchObject({
      to: [`Ada <${ADA}>`],
      subject: 'Re: News',
      headers: {
        'X-Ticket': '7',
        'In-Reply-To': first.messageId,
        References: `<first@acme.example> ${email.messageId} ${first.messageId}`,
      },
    });
    expect((await send('GET', `/v1/received/${first.id}`)).body.data.answers).toEqual([id]);
    const second = await received({ To: shown.replyTo[0] });
    expect(second).toMatchObject({ threadId: first.threadId, inReplyToEmail: { emailId: id } });
    const list = await send('GET', `/v1/received?threadId=${first.threadId}`);
    expect(list.body.data.map((each: { id: string }) => each.id)).toEqual([second.id, first.id]);
  });

  test('writes to Reply-To where there is one', async () => {
    const { id } = await received({
      'Reply-To': 'Desk <desk@customer.example>, "A, B" <b@customer.example>',
    });
    const { to } = await detail((await answer(id)).body.data.id);
    expect(to).toEqual(['Desk <desk@customer.example>', '"A, B" <b@customer.example>']);
  });

  test('writes to at most five addresses of Reply-To, which a stranger chooses', async () => {
    const naming = async (count: number) => {
      const all = Array.from({ length: count }, (_, at) => `d${at}@customer.example`);
      return answer((await received({ 'Reply-To': all.join(', ') })).id);
    };
    expect((await naming(5)).status).toBe(202);
    const refused = await naming(6);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'CONFLICT']);
    expect(refused.body.error.suggestion).toContain('POST /v1/emails');
  });

  test('a message that no route took is delivered again to none', async () => {
    const email = await sent();
    const { id } = await received({ To: email.replyTo });
    const again = await send('POST', `/v1/received/${id}/redeliver`);
    expect([again.status, again.body.error.message]).toEqual([
      409,
      'No route took this message: it is kept because it answers an email.',
    ]);
  });

  test('answers no automatic mail, no null sender, and none without an address', async () => {
    const list = await received({ 'List-Id': '<news.customer.example>' });
    expect((await answer(list.id)).status).toBe(409);
    const nameless = await received({ From: 'nobody' });
    expect((await answer(nameless.id)).status).toBe(409);
  });

  test('is one email for one idempotency key, also when the message is deleted since', async () => {
    const { id } = await received({});
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const first = await answer(id, {}, inTest, headers);
    await send('DELETE', `/v1/received/${id}`);
    const again = await answer(id, {}, inTest, headers);
    expect([again.status, again.body.data.id]).toEqual([202, first.body.data.id]);
    expect((await answer(id)).status).toBe(404);
  });

  test('refuses what the message says, and a message of the other environment', async () => {
    const { id } = await received({});
    const taken = await answer(id, { headers: { references: '<a@b.example>' } });
    expect([taken.status, pathsOf(taken)]).toEqual([422, ['/body/headers/references']]);
    const to = await answer(id, { to: ADA });
    expect([to.status, pathsOf(to)]).toEqual([422, ['/body/to']]);
    expect((await answer(id, {}, live)).status).toBe(404);
    const reader = await service.keyWith('test', ['emails:read']);
    expect((await answer(id, {}, reader)).status).toBe(403);
  });
});
