import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { activityPruner } from '../../src/audience/contacts/activity/activity-pruner.ts';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { LONGEST_RETENTION } from '../../src/platform/config/settings/settings.ts';
import { manyPeople } from '../support/campaign-people.ts';
import { ManualClock } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { type Email, type LiveService, relayTo, startLiveService } from '../support/live-service.ts';
import { dsn } from '../unit/transport/reports.ts';
import { aMail, handIn, receiving } from './received-door.ts';
import { type Sink, startSink } from './transport/smtp-sink.ts';

// Unsubscribing by mail: the address in List-Unsubscribe, and what a mail to it does.

let sink: Sink;
let service: LiveService;
let port: number;
let workspaceId: string;

beforeAll(async () => {
  sink = await startSink();
  port = await freePort();
  service = await startLiveService({
    transport: relayTo(sink.port),
    environment: { INBOUND_SMTP_PORT: String(port) },
  });
  const [row] = await service.service.database.query<{ id: string }>('select id from workspaces');
  workspaceId = row?.id ?? '';
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});

const BULK = { text: 'News. Leave: {{unsubscribeUrl}}' };
const get = async (path: string): Promise<Email> => (await service.live.get(path)).body.data;
const suppressed = async (address: string): Promise<Email> =>
  (await get(`/v1/suppressions?address=${address}`))[0];
const leavings = async (id: string): Promise<Email> =>
  (await get(`/v1/emails/${id}`)).events.filter(({ type }: Email) => type === 'unsubscribed');

/** The addresses in the List-Unsubscribe fields of what left for a person. */
const offered = (to: string): readonly string[] =>
  sink.received
    .filter((copy) => copy.to.includes(to))
    .map(({ raw }) => {
      const [header = ''] = raw.toString().split('\r\n\r\n');
      const field = /^List-Unsubscribe: (.*)$/im.exec(header.replace(/\r\n[ \t]+/g, ' '))?.[1] ?? '';
      expect(field).toMatch(/^<https?:\/\/[^>]+\/t\/u\/[^>]+>, <mailto:[^>]+>$/);
      return /<mailto:([^>]+)>/.exec(field)?.[1] ?? '';
    });

/** An email that has left, and the address by which its recipient unsubscribes. */
async function left(to: string, more: object = {}) {
  const id = await service.send({ to, ...BULK, ...more });
  await service.until(id, ({ status }) => status === 'sent');
  return { id, address: offered(to).at(-1) ?? '' };
}

/** The mail of Apple's programs, with personal details replaced. */
const APPLE = {
  Subject: 'unsubscribe',
  'Auto-Submitted': 'auto-replied',
  'X-Apple-Unsubscribe': 'true',
};

describe('mail to the address in List-Unsubscribe', () => {
  test('unsubscribes its recipient, though a program wrote it, once however often it comes', async () => {
    const { id, address } = await left('ada@customer.example');
    expect(address).toMatch(/^u\+[0-9a-z.]{30,62}@send\.sender\.example$/);
    for (let n = 0; n < 2; n++) {
      const replies = await handIn(port, 'ada@customer.example', [address], aMail(APPLE));
      expect(replies.map((reply) => reply.slice(0, 3))).toEqual(['250', '250', '250']);
    }
    expect((await leavings(id)).map(({ data }: Email) => data)).toEqual([
      { source: 'oneClick', campaignId: null, audienceId: null },
    ]);
    expect(await suppressed('ada@customer.example')).toMatchObject({ reason: 'unsubscribed', emailId: id });
  });

  test('is the act of the person, also where the workspace had unsubscribed them before', async () => {
    const path = '/v1/contacts/both@customer.example';
    expect((await service.live.post('/v1/contacts', { email: 'both@customer.example' })).status).toBe(201);
    const { id, address } = await left('both@customer.example');
    expect((await service.live.patch(path, { status: 'unsubscribed' })).status).toBe(200);
    await handIn(port, 'both@customer.example', [address], aMail(APPLE));
    const again = (at: string) =>
      service.live.patch(path, { status: 'subscribed', consent: { source: 'form', at } });
    expect((await again('2026-01-01T00:00:00Z')).status).toBe(422);
    const { database } = service.service;
    await database.query(`update contact_activity set at = at - interval '200 days' where email_id = $1`, [
      id,
    ]);
    await activityPruner({
      database,
      clock: new ManualClock(Date.now()),
      config: LONGEST_RETENTION,
    }).run();
    expect((await again('2026-01-01T00:00:00Z')).status).toBe(422);
    expect((await again(new Date().toISOString())).status).toBe(200);
  });

  test('counts once more after a consent, which does not undo it however soon it came before', async () => {
    const path = '/v1/contacts/twice@customer.example';
    expect((await service.live.post('/v1/contacts', { email: 'twice@customer.example' })).status).toBe(201);
    const { address } = await left('twice@customer.example');
    const leave = () => handIn(port, 'twice@customer.example', [address], aMail(APPLE));
    const agree = async (at: number) => {
      const consent = { source: 'form', at: new Date(at).toISOString() };
      return (await service.live.patch(path, { status: 'subscribed', consent })).status;
    };
    const at = Date.now();
    await leave();
    expect(await agree(at)).toBe(200);
    for (let times = 0; times < 3; times++) await leave();
    expect(await agree(at)).toBe(422);
    expect(await get(`${path}/activity?type=unsubscribed`)).toHaveLength(2);
    expect(await agree(at + 1_000)).toBe(200);
  });

  test('from another address of the person, with a null sender and in capital letters', async () => {
    const { id, address } = await left('bob@customer.example');
    const mail = aMail({ From: 'Bob <bob@elsewhere.example>' });
    expect((await handIn(port, '', [address.toUpperCase()], mail)).at(-1)).toStartWith('250');
    expect((await leavings(id)).length).toBe(1);
    expect(await suppressed('bob@customer.example')).toMatchObject({ reason: 'unsubscribed' });
    expect(await suppressed('bob@elsewhere.example')).toBeUndefined();
  });

  test('names one of several recipients', async () => {
    const people = ['carl@customer.example', 'dora@customer.example'];
    const { id } = await left('carl@customer.example', { to: people });
    const [address = ''] = offered('dora@customer.example');
    await handIn(port, 'dora@customer.example', [address], aMail(APPLE));
    expect((await leavings(id)).map(({ recipient }: Email) => recipient)).toEqual(['dora@customer.example']);
    expect(await suppressed('carl@customer.example')).toBeUndefined();
  });

  test('is not offered by mail without a way to unsubscribe, and is one way of a raw message', async () => {
    const id = await service.send({ to: 'eve@customer.example' });
    await service.until(id, ({ status }) => status === 'sent');
    const [plain] = sink.received.filter(({ to }) => to.includes('eve@customer.example'));
    expect(plain?.raw.toString()).not.toMatch(/^List-Unsubscribe/im);
    const raw = [
      'From: shop@sender.example',
      'To: fay@customer.example',
      'Subject: News',
      'Content-Type: text/html',
      '',
      '<a href="{{unsubscribeUrl}}">Leave</a>',
      '',
    ];
    const answer = await fetch(`${service.url}/v1/emails/raw`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.keys.live}`, 'content-type': 'message/rfc822' },
      body: raw.join('\r\n'),
    });
    const { data } = (await answer.json()) as Email;
    await service.until(data.id, ({ status }) => status === 'sent');
    const [address = ''] = offered('fay@customer.example');
    await handIn(port, 'fay@customer.example', [address], aMail(APPLE));
    expect(await suppressed('fay@customer.example')).toMatchObject({ reason: 'unsubscribed' });
  });

  test('with a token that was not made here is refused at RCPT, and no route takes one that was', async () => {
    const { address } = await left('gil@customer.example');
    const forged = address.replace(/.@/, (end) => `${end[0] === '0' ? '1' : '0'}@`);
    expect((await handIn(port, '', [forged], aMail()))[1]).toStartWith('550 5.1.1 ');
    const all = await receiving(service).routed({ type: 'catchAll' });
    const atDomain = address.replace('@send.sender.example', '@sender.example');
    expect((await handIn(port, 'gil@customer.example', [atDomain], aMail(APPLE))).at(-1)).toStartWith('250');
    expect(await receiving(service).receivedBy(all.id)).toEqual([]);
    expect(await suppressed('gil@customer.example')).toMatchObject({ reason: 'unsubscribed' });
  });

  test('tells the sender where the email is not kept any more', async () => {
    const { id, address } = await left('hal@customer.example');
    await service.service.database.query('delete from emails where id = $1', [id]);
    const reply = (await handIn(port, 'hal@customer.example', [address], aMail(APPLE))).at(-1);
    expect(reply).toMatch(/^550 5\.1\.1 .*use the link/);
    expect(await suppressed('hal@customer.example')).toBeUndefined();
  });

  test('unsubscribes a person who was forgotten, and tells the sender of the link where nothing of them is left', async () => {
    await service.live.post('/v1/contacts', { email: 'ivy@customer.example' });
    const { id, address } = await left('ivy@customer.example');
    expect((await service.live.delete('/v1/contacts/ivy@customer.example')).status).toBe(204);
    await eventually('the email names no one', async () =>
      (await get(`/v1/emails/${id}`)).to[0].includes('forgotten') ? true : undefined,
    );
    const leave = async () => (await handIn(port, 'ivy@customer.example', [address], aMail(APPLE))).at(-1);
    expect(await leave()).toStartWith('250');
    expect(await leave()).toStartWith('250');
    expect(await suppressed('ivy@customer.example')).toMatchObject({ address: null, reason: 'unsubscribed' });
    expect(await leavings(id)).toHaveLength(1);
    // As an earlier version has left it, and as one whose SECRET_KEY was lost reads it.
    const named = ['forgotten-0@forgotten.invalid'];
    await service.service.database.query('update emails set recipient_keys = $2 where id = $1', [id, named]);
    expect(await leave()).toMatch(/^550 5\.1\.1 .*use the link/);
  });

  test('is no act of the person where it is a bounce', async () => {
    const { id, address } = await left('jan@customer.example');
    const bounce = dsn({
      status:
        'Reporting-MTA: dns; mx.example\n\nFinal-Recipient: rfc822; jan@customer.example\nAction: failed\nStatus: 5.1.1\n',
    });
    expect((await handIn(port, '', [address], bounce)).at(-1)).toMatch(/^550 5\.7\.1 .*use the link/);
    expect(await leavings(id)).toEqual([]);
    expect(await suppressed('jan@customer.example')).toBeUndefined();
  });

  /** A campaign to one person that has left, and the address by which they leave it. */
  async function campaignToOne() {
    const audienceId = await manyPeople(service.service.database, workspaceId, 1);
    const campaign = {
      name: 'News',
      audienceId,
      from: 'news@sender.example',
      subject: 'Hello',
      html: '<p>Hi</p>',
    };
    const { id } = (await service.live.post('/v1/campaigns', campaign)).body.data;
    expect((await service.live.post(`/v1/campaigns/${id}/send`, {})).status).toBe(200);
    const [recipient] = await eventually('the campaign has left', async () => {
      const rows = await get(`/v1/campaigns/${id}/recipients?outcome=sent`);
      return rows.length > 0 && offered(rows[0].email).length > 0 ? rows : undefined;
    });
    // An email that still has to leave keeps the address of a forgotten person for ten minutes.
    await service.until(recipient.emailId, ({ status }) => status === 'sent');
    return { id, audienceId, recipient, address: offered(recipient.email).at(-1) ?? '' };
  }

  test('leaves the audience of a campaign, as its link does, and no other', async () => {
    const { id, audienceId, recipient, address } = await campaignToOne();
    const taken = await handIn(port, recipient.email, [address], aMail(APPLE));
    expect(taken.at(-1)).toStartWith('250');
    expect((await leavings(recipient.emailId)).map(({ data }: Email) => data)).toEqual([
      { source: 'oneClick', campaignId: id, audienceId },
    ]);
    expect(await get(`/v1/audiences/${audienceId}/contacts`)).toEqual([]);
    expect(await suppressed(recipient.email)).toBeUndefined();
  });

  test('leaves that audience also for a person who was forgotten and is a contact again', async () => {
    const { audienceId, recipient, address } = await campaignToOne();
    const { email, emailId } = recipient;
    expect((await service.live.delete(`/v1/contacts/${email}`)).status).toBe(204);
    await eventually('the email names no one', async () =>
      (await get(`/v1/emails/${emailId}`)).to[0].includes('forgotten') ? true : undefined,
    );
    await service.live.post('/v1/contacts', { email });
    await service.live.post(`/v1/audiences/${audienceId}/contacts`, { emails: [email] });
    expect((await handIn(port, email, [address], aMail(APPLE))).at(-1)).toStartWith('250');
    expect(await get(`/v1/contacts/${email}`)).toMatchObject({ status: 'subscribed', audienceIds: [] });
    expect(await suppressed(email)).toBeUndefined();
  });
});

describe('the preference page that a campaign links', () => {
  const link = (raw: string): string =>
    /(\/p\/[\w.-]+)/.exec(raw.replaceAll('=\r\n', '').replaceAll('=3D', '='))?.[1] ?? '';

  /** A campaign to two people that has left, and the path of each one's page. */
  async function linked() {
    const audienceId = await manyPeople(service.service.database, workspaceId, 2);
    await service.live.patch(`/v1/audiences/${audienceId}`, { public: true });
    const { data } = (
      await service.live.post('/v1/campaigns', {
        name: 'News',
        audienceId,
        from: 'news@sender.example',
        subject: 'Hello',
        html: '<a href="{{ preferencesUrl }}">Choose</a>',
      })
    ).body;
    expect((await service.live.post(`/v1/campaigns/${data.id}/send`, {})).status).toBe(200);
    const people = await eventually('the campaign has left', async () => {
      const rows = await get(`/v1/campaigns/${data.id}/recipients?outcome=sent`);
      const found = rows.map(({ email, emailId }: Email) => {
        const copy = sink.received.find(({ to }) => to.includes(email));
        return { email, emailId, path: link(copy?.raw.toString() ?? '') };
      });
      return found.length === 2 && found.every((one: Email) => one.path !== '') ? found : undefined;
    });
    return { campaignId: data.id, audienceId, people };
  }
  const choose = (path: string, fields: [string, string][]) =>
    fetch(service.url + path, { method: 'POST', body: new URLSearchParams(fields) });
  const counted = async (id: string) => (await get(`/v1/campaigns/${id}/stats`)).unsubscribed;

  test('counts who leaves its audience there or everything, each once, and no one who leaves another', async () => {
    const { campaignId, audienceId, people } = await linked();
    const [one, other] = people;
    const besides = (await service.live.post('/v1/audiences', { name: 'Besides', public: true })).body.data
      .id;
    await service.live.post(`/v1/audiences/${besides}/contacts`, { emails: [one.email] });
    await choose(one.path, [
      ['action', 'save'],
      ...[audienceId, besides].map((id): [string, string] => ['shown', id]),
      ['audience', audienceId],
    ]);
    expect(await leavings(one.emailId)).toEqual([]);
    for (let times = 0; times < 2; times++)
      await choose(one.path, [
        ['action', 'save'],
        ['shown', audienceId],
      ]);
    expect((await leavings(one.emailId)).map(({ data }: Email) => data)).toEqual([
      { source: 'page', campaignId, audienceId },
    ]);
    expect(await suppressed(one.email)).toBeUndefined();
    for (let times = 0; times < 2; times++) await choose(other.path, [['action', 'off']]);
    expect((await leavings(other.emailId)).map(({ data }: Email) => data)).toEqual([
      { source: 'page', campaignId, audienceId: null },
    ]);
    expect(await suppressed(other.email)).toMatchObject({ reason: 'unsubscribed' });
    await eventually('both are counted', async () => ((await counted(campaignId)) === 2 ? true : undefined));
    const left = await get(`/v1/contacts/${one.email}/activity?type=left`);
    expect(left.map((entry: Email) => entry.audienceId)).toEqual([audienceId, besides]);
  });
});
