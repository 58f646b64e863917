import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { issueKey } from '../../src/accounts/api-keys/issue.ts';
import { createWorkspace } from '../../src/accounts/workspace/commands.ts';
import { readReplyToken, replyAddress } from '../../src/mail/received/reply-address.ts';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { findReplied } from '../../src/sending/received/replied.ts';
import { manyPeople } from '../support/campaign-people.ts';
import { type Client, createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { type Email, type LiveService, startLiveService } from '../support/live-service.ts';
import { openReceiver } from '../support/webhook-world.ts';
import { aMail, handIn, receiving } from './received-door.ts';
import { startNameServer, type TestNameServer, txt } from './transport/name-server.ts';

let dns: TestNameServer;
let service: LiveService;
let port: number;
let workspaceId: string;
let other: Client;
let otherId: string;
const receiver = openReceiver();

beforeAll(async () => {
  dns = await startNameServer({
    'customer.example TXT': [txt('v=spf1 ip4:127.0.0.1 -all')],
    '_dmarc.customer.example TXT': [txt('v=DMARC1; p=reject')],
    'forger.example TXT': [txt('v=spf1 -all')],
  });
  port = await freePort();
  service = await startLiveService({
    environment: { INBOUND_SMTP_PORT: String(port), DNS_SERVERS: `127.0.0.1:${dns.server.port}` },
  });
  const { database, engine } = service.service;
  const [row] = await database.query<{ id: string }>('select id from workspaces');
  workspaceId = row?.id ?? '';
  otherId = await createWorkspace(database, { name: 'Other', plan: 'growth', owner: null }, Date.now());
  const key = { workspaceId: otherId, livemode: true, name: 'Other', permissions: ['*'] as const };
  other = createClient(service.url, await issueKey(engine, key, Date.now()));
  await receiving(service).routed({ type: 'exact', localPart: 'support' });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await dns[Symbol.asyncDispose]();
  receiver[Symbol.dispose]();
});

const get = async (path: string): Promise<Email> => (await service.live.get(path)).body.data;

/** An email with a reply address; its id, its Message-ID and that address. */
async function sent(more: object = {}) {
  const id = await service.send({ to: 'ada@customer.example', replyTo: 'auto', ...more });
  const { replyTo } = await get(`/v1/emails/${id}`);
  return { id, messageId: `<${id}@sender.example>`, replyTo: replyTo[0] as string };
}

/** The message that answers an email, as it is shown. */
async function answerTo(emailId: string): Promise<Email> {
  return eventually('the answer is stored', async () => (await get(`/v1/received?emailId=${emailId}`))[0]);
}

describe('the port', () => {
  test('gives a reply to the workspace that has sent the email, though another has the mail of the domain', async () => {
    const email = await sent();
    const { id: domainId } = (await other.post('/v1/domains', { name: 'sender.example' })).body.data;
    const { database } = service.service;
    const state = (is: string) =>
      database.query('update domains set state = $2 where id = $1', [service.domainId, is]);
    const theirs = await receiving(service).routed({ type: 'catchAll' }, {}, other, domainId);
    const rcpt = async (to: string) =>
      (await handIn(port, 'ada@customer.example', [to], aMail())).at(1)?.slice(0, 9);
    const replied = (reply: string) =>
      eventually(reply, async () => ((await rcpt(email.replyTo)) === reply ? true : undefined));
    try {
      const letter = { from: 'hello@sender.example', to: 'ada@customer.example', subject: 'Hi', text: 'Hi' };
      const promising = await service.live.post('/v1/emails', { ...letter, replyTo: 'auto' });
      expect([promising.status, promising.body.error?.details[0].path]).toEqual([422, '/body/replyTo']);
      expect(await rcpt('support@sender.example')).toBe('250 2.1.5');
      await replied('250 2.1.5');
      expect(await answerTo(email.id)).toMatchObject({ inReplyToEmail: { emailId: email.id } });
      // Without a proof its replies wait, and once it receives nothing at the domain they are for no one.
      await state('failed');
      await replied('451 4.3.0');
      await database.query('update inbound_routes set domain_name = $2 where domain_id = $1', [
        service.domainId,
        'moved.example',
      ]);
      await replied('550 5.1.1');
      const got = await receiving(service).receivedBy(theirs.id, other);
      expect(got.map(({ envelope }) => envelope.to)).toEqual(['support@sender.example']);
    } finally {
      await state('verified');
      await database.query('update inbound_routes set domain_name = $2 where domain_id = $1', [
        service.domainId,
        'sender.example',
      ]);
      await other.delete(`/v1/domains/${domainId}`);
    }
    await replied('250 2.1.5');
  });

  test('takes a reply address without a route of its name, and refuses one that was not made here', async () => {
    const email = await sent();
    const mail = aMail({ 'In-Reply-To': email.messageId });
    const taken = await handIn(port, 'ada@customer.example', [email.replyTo.toUpperCase()], mail);
    expect(taken.map((each) => each.slice(0, 3))).toEqual(['250', '250', '250']);
    expect(await answerTo(email.id)).toMatchObject({ routeId: null, status: 'kept' });
    const forged = email.replyTo.replace(/.@/, (end) => `${end[0] === '0' ? '1' : '0'}@`);
    expect((await handIn(port, '', [forged], mail))[1]).toStartWith('550 5.1.1 ');
  });

  test('takes none of another workspace, of the test environment, or at a domain without a route', async () => {
    const email = await sent();
    const token = email.replyTo.slice(2, email.replyTo.indexOf('@'));
    expect(readReplyToken(token, service.signer)?.isOf({ workspaceId, livemode: true })).toBe(true);
    for (const owner of [
      { workspaceId: otherId, livemode: true },
      { workspaceId, livemode: false },
    ]) {
      const address = replyAddress(email.id, owner, 'sender.example', service.signer);
      expect((await handIn(port, '', [address], aMail()))[1]).toStartWith('550 5.1.1 ');
    }
    const elsewhere = email.replyTo.replace('@sender.example', '@elsewhere.example');
    expect((await handIn(port, '', [elsewhere], aMail()))[1]).toStartWith('550 5.1.1 ');
  });

  test('a Message-ID of another workspace answers nothing', async () => {
    const email = await sent();
    const { database } = service.service;
    await database.query('update emails set workspace_id = $1 where id = $2', [otherId, email.id]);
    const mail = aMail({ 'In-Reply-To': email.messageId, Subject: 'wall' });
    await handIn(port, 'ada@customer.example', ['support@sender.example'], mail);
    const [last] = await get('/v1/received?limit=1');
    expect(last).toMatchObject({ subject: 'wall', inReplyToEmail: null });
    expect((await other.get(`/v1/received?emailId=${email.id}`)).body.data).toEqual([]);
  });

  test('a sender whom DMARC refuses is no recipient, and a token needs no proof', async () => {
    const email = await sent();
    const mail = aMail({ From: '<ada@customer.example>', 'In-Reply-To': email.messageId, Subject: 'forged' });
    await handIn(port, 'x@forger.example', ['support@sender.example'], mail);
    const [forged] = await get('/v1/received?limit=1');
    expect(forged).toMatchObject({ authentication: { dmarc: 'fail' }, inReplyToEmail: null });
    await handIn(port, 'x@forger.example', [email.replyTo], mail);
    expect(await answerTo(email.id)).toMatchObject({ authentication: { dmarc: 'fail' } });
  });
});

test('a Message-ID counts only where DMARC passes or the domain asks for none', async () => {
  const email = await sent();
  const { database } = service.service;
  const { signer } = service;
  const answered = async (dmarc: string) => {
    const [one] = await findReplied(
      { database, signer },
      { workspaceId, livemode: true },
      {
        isNull: false,
        recipients: [{ name: 'support', tag: null }],
        mail: {
          from: { name: null, address: 'ada@customer.example' },
          inReplyTo: email.messageId,
          references: [],
          isAutomatic: false,
        },
        authentication: { spf: 'none', dkim: 'none', dmarc: dmarc as 'pass' },
      },
    );
    return one ?? null;
  };
  for (const dmarc of ['pass', 'none']) expect((await answered(dmarc))?.emailId).toBe(email.id);
  for (const dmarc of ['fail', 'temperror', 'permerror']) expect(await answered(dmarc)).toBeNull();
});

test('one reply that comes for two recipients counts once, in one transaction or in two', async () => {
  const { id: contactId } = (await service.live.post('/v1/contacts', { email: 'twice@customer.example' }))
    .body.data;
  const from = 'twice@customer.example';
  const replies = async (): Promise<number> =>
    ((await get(`/v1/contacts/${contactId}/activity`)) as Email[]).filter(({ type }) => type === 'replied')
      .length;
  const email = await sent({ to: from });
  const mail = aMail({ From: from, 'In-Reply-To': email.messageId });
  await handIn(port, from, [email.replyTo], mail);
  await handIn(port, from, ['support@sender.example'], mail);
  await handIn(port, from, ['support+again@sender.example'], mail);
  expect(await replies()).toBe(1);
  await handIn(
    port,
    from,
    ['support@sender.example', 'support@sender.example'],
    aMail({ From: from, 'In-Reply-To': email.messageId }),
  );
  expect(await replies()).toBe(2);
});

test('a message for a hundred reply addresses is looked up with the statements of one', async () => {
  const { database } = service.service;
  const count = 25;
  const emails = await Promise.all(Array.from({ length: count }, () => sent()));
  const texts: string[] = [];
  const query: typeof database.query = (text, parameters) => {
    texts.push(text);
    return database.query(text, parameters);
  };
  const names = emails.map(({ replyTo }) => ({ name: 'r', tag: replyTo.slice(2, replyTo.indexOf('@')) }));
  const replied = await findReplied(
    { database: { ...database, query } as never, signer: service.signer },
    { workspaceId, livemode: true },
    {
      isNull: false,
      recipients: names,
      authentication: null,
      mail: {
        from: { name: null, address: 'ada@customer.example' },
        inReplyTo: '<elsewhere@customer.example>',
        references: [],
        isAutomatic: false,
      },
    },
  );
  expect(replied.map((one) => one?.emailId)).toEqual(emails.map(({ id }) => id));
  expect(texts).toHaveLength(3);
});

test('the route that matches takes a reply, and its webhook learns of the email', async () => {
  const { routed } = receiving(service);
  const action = { type: 'webhook', url: receiver.url };
  const route = await routed({ type: 'prefix', localPart: 'r' }, { action });
  const email = await sent();
  await handIn(port, 'ada@customer.example', [email.replyTo], aMail());
  const [post] = await receiver.until(1);
  const named = { emailId: email.id, contactId: null, campaignId: null, flowRunId: null };
  expect(post?.event).toMatchObject({ received: { routeId: route.id, inReplyToEmail: named } });
  await service.live.delete(`/v1/inbound-routes/${route.id}`);
});

test('a campaign counts each recipient who replies once, and names contact and campaign', async () => {
  const audienceId = await manyPeople(service.service.database, workspaceId, 3);
  const campaign = {
    name: 'News',
    audienceId,
    from: 'news@sender.example',
    subject: 'News',
    html: '<p>x</p>',
  };
  const { id } = (await service.live.post('/v1/campaigns', { ...campaign, replyTo: 'auto' })).body.data;
  expect((await service.live.post(`/v1/campaigns/${id}/send`, {})).status).toBe(200);
  const stats = () => get(`/v1/campaigns/${id}/stats`);
  await eventually('all are delivered', async () =>
    (await stats()).delivered.count === 3 ? true : undefined,
  );
  const [first, second] = (await get(`/v1/campaigns/${id}/recipients`)) as Email[];
  const addresses: string[] = await Promise.all(
    [first, second].map(async ({ emailId }) => (await get(`/v1/emails/${emailId}`)).replyTo[0]),
  );
  expect(new Set(addresses).size).toBe(2);
  const reply = (address = '', person: Email, more = {}) =>
    handIn(port, person.email, [address], aMail({ From: person.email, ...more }));
  await reply(addresses[0], first);
  await reply(addresses[0], first);
  await reply(addresses[1], second, { 'Auto-Submitted': 'auto-replied' });
  expect((await stats()).replied).toBe(1);
  await handIn(
    port,
    second.email,
    ['support@sender.example'],
    aMail({ From: second.email, References: `<${second.emailId}@sender.example>` }),
  );
  expect((await stats()).replied).toBe(2);
  const replied = (await get(`/v1/campaigns/${id}/recipients?outcome=replied`)) as Email[];
  expect(replied.map(({ contactId }) => contactId)).toEqual([first.contactId, second.contactId]);
  expect(replied.every(({ repliedAt }) => repliedAt !== null)).toBe(true);
  expect((await answerTo(first.emailId)).inReplyToEmail).toEqual({
    emailId: first.emailId,
    contactId: first.contactId,
    campaignId: id,
    flowRunId: null,
  });
  const filter = { field: 'activity.replied', operator: 'eq', value: id };
  const preview = await service.live.post('/v1/audiences/preview', { filter: { and: [filter] } });
  expect(preview.body.data.count).toBe(2);
});

test('a reply to an email of a flow names the run', async () => {
  const template = { name: 'Hi', subject: 'Hi', html: '<p>x</p>', from: 'a@sender.example', replyTo: 'auto' };
  const templateId = (await service.live.post('/v1/templates', template)).body.data.id;
  const flow = {
    name: 'Asks',
    trigger: { type: 'manual' },
    steps: [
      { key: 'asks', type: 'sendEmail', config: { templateId } },
      { key: 'waits', type: 'delay', config: { amount: 30, unit: 'days' } },
    ],
    edges: [{ from: 'asks', to: 'waits', when: 'default' }],
  };
  const { id: flowId } = (await service.live.post('/v1/flows', flow)).body.data;
  await service.live.post(`/v1/flows/${flowId}/activate`, {});
  const { id: contactId } = (await service.live.post('/v1/contacts', { email: 'run@customer.example' })).body
    .data;
  await service.live.post(`/v1/flows/${flowId}/runs`, { contactId });
  const [run, emailId] = await eventually('the email of the run', async () => {
    const [begun] = await get(`/v1/flows/${flowId}/runs`);
    const shown = begun && (await get(`/v1/flows/runs/${begun.id}`));
    const email = shown?.log.find((each: Email) => each.emailId)?.emailId;
    return email ? ([begun.id, email] as const) : undefined;
  });
  const { replyTo } = await get(`/v1/emails/${emailId}`);
  await handIn(port, 'run@customer.example', [replyTo[0]], aMail({ From: 'run@customer.example' }));
  expect((await answerTo(emailId)).inReplyToEmail).toEqual({
    emailId,
    contactId,
    campaignId: null,
    flowRunId: run,
  });
});

test('an answer leaves in the thread of the message', async () => {
  const mail = aMail({ Subject: 'Broken', 'Message-ID': '<broken-1@customer.example>' });
  await handIn(port, 'ada@customer.example', ['support@sender.example'], mail);
  const [{ id }] = await get('/v1/received?limit=1');
  const body = { from: 'Support <support@sender.example>', text: 'We look into it.' };
  const answered = await service.live.post(`/v1/received/${id}/reply`, body);
  expect(answered.status).toBe(202);
  const copy = await eventually(
    'it has left',
    async () => (await get(`/v1/captured?emailId=${answered.body.data.id}`))[0],
  );
  const { headers, subject, recipient } = await get(`/v1/captured/${copy.id}`);
  expect([subject, recipient]).toEqual(['Re: Broken', 'ada@customer.example']);
  const fields = JSON.stringify(headers);
  expect(fields).toContain('<broken-1@customer.example>');
  expect(fields.toLowerCase()).toContain('in-reply-to');
});
