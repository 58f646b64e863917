import { afterAll, beforeAll, expect, test } from 'bun:test';
import { eraseFromEmails } from '../../src/audience/contacts/forgetting/erase-emails.ts';
import { freePort } from '../../src/ops/torture/free-port.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { feedbackRecorder } from '../../src/sending/emails/feedback/record-feedback.ts';
import { eventually } from '../support/eventually.ts';
import { type Email, type LiveService, relayTo, startLiveService } from '../support/live-service.ts';
import { arf, dsn } from '../unit/transport/reports.ts';
import { aMail, handIn } from './received-door.ts';
import { type Sink, startSink } from './transport/smtp-sink.ts';

// Reports about emails whose recipient was forgotten since: the address is gone, the person's will counts all
// the same.

let sink: Sink;
let service: LiveService;
let port: number;

beforeAll(async () => {
  sink = await startSink();
  port = await freePort();
  service = await startLiveService({
    transport: relayTo(sink.port),
    environment: { INBOUND_SMTP_PORT: String(port) },
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});

const leaveByMail = async (): Promise<boolean> => true;

const get = async (path: string): Promise<Email> => (await service.live.get(path)).body.data;
const suppressed = async (address: string): Promise<Email> =>
  (await get(`/v1/suppressions?address=${address}`))[0];

/** An email to a person who was forgotten since: its id, and what left. */
async function forgotten(address: string, to: readonly string[] = [address]) {
  await service.live.post('/v1/contacts', { email: address });
  const id = await service.send({ to, text: 'News. Leave: {{unsubscribeUrl}}' });
  await service.until(id, ({ status }) => status === 'sent');
  expect((await service.live.delete(`/v1/contacts/${address}`)).status).toBe(204);
  await eventually('the email names no one', async () =>
    (await get(`/v1/emails/${id}`)).to.some((one: string) => one.includes('forgotten')) ? true : undefined,
  );
  const copy = sink.received.find(({ raw, to: [one] }) => raw.includes(id) && one === address);
  if (!copy) throw new Error('No copy has left.');
  return { id, path: copy.from, raw: copy.raw.toString() };
}

const report = async (path: string, raw: Buffer): Promise<string | undefined> =>
  (await handIn(port, '', [path], raw)).at(-1);

/** Nothing that is stored of the email names the person. */
async function isClean(id: string, address: string): Promise<void> {
  const rows = await service.service.database.query<{ row: string }>(
    `select row_to_json(e)::text as row from emails e where id = $1
    union all select row_to_json(t)::text from email_turns t where email_id = $1
    union all select row_to_json(s)::text from suppressions s`,
    [id],
  );
  expect(rows.map(({ row }) => row).join('\n')).not.toContain(address);
}

const bounce = (address: string): Buffer =>
  dsn({
    status: `Reporting-MTA: dns; mx.receiver.example\n\nFinal-Recipient: rfc822; ${address}\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 <${address}> no such user\n`,
  });

test('a complaint of a forgotten person suppresses them by their hash', async () => {
  const address = 'complains@gone.example';
  const { id, path } = await forgotten(address);
  expect(await report(path, arf('Feedback-Type: abuse\nUser-Agent: FBL/1.0\nVersion: 1\n'))).toStartWith(
    '250',
  );
  expect(await suppressed(address)).toMatchObject({ address: null, reason: 'complained', emailId: null });
  await isClean(id, address);
  await service.live.post('/v1/contacts', { email: address });
  expect((await get(`/v1/contacts/${address}`)).status).toBe('complained');
  expect((await get(`/v1/emails/${id}`)).events.at(-1)).toMatchObject({ type: 'complained' });
});

test('a bounce of a forgotten address suppresses it, and brings no address back', async () => {
  const address = 'bounces@gone.example';
  const { id, path } = await forgotten(address);
  expect(await report(path, bounce(address))).toStartWith('250');
  expect(await suppressed(address)).toMatchObject({ address: null, reason: 'bounced' });
  await isClean(id, address);
  // A repeated report changes nothing that a member has changed since.
  await service.live.delete(`/v1/suppressions/${address}`);
  expect(await report(path, bounce(address))).toStartWith('250');
  expect(await suppressed(address)).toBeUndefined();
});

test('a bounce of the target of a forgotten alias suppresses nothing', async () => {
  const { path } = await forgotten('alias@gone.example');
  expect(await report(path, bounce('target@elsewhere.example'))).toStartWith('250');
  expect(await suppressed('alias@gone.example')).toBeUndefined();
});

test('a notification of a provider finds the forgotten person among several recipients', async () => {
  const address = 'provider@gone.example';
  const { id } = await forgotten(address, ['stays@here.example', address]);
  const { database, engine } = service.service;
  const clock = { now: Date.now, monotonic: () => performance.now() };
  const record = feedbackRecorder({ database, engine, clock, signer: service.signer, leaveByMail });
  const reference = { token: null, emailId: id, providerId: null, messageId: null };
  const complaint = { kind: 'complained', feedbackType: 'abuse', userAgent: null } as const;
  await record([{ ...complaint, reference, recipient: 'Provider@GONE.example' }], true);
  expect(await suppressed(address)).toMatchObject({ address: null, reason: 'complained' });
  expect(await suppressed('stays@here.example')).toBeUndefined();
});

test('a forgotten person leaves by mail', async () => {
  const address = 'leaves@gone.example';
  const { id, raw } = await forgotten(address);
  const [, mailbox = ''] = /<mailto:([^>]+)>/.exec(raw.replace(/\r\n[ \t]+/g, ' ')) ?? [];
  const reply = (await handIn(port, address, [mailbox], aMail({ Subject: 'unsubscribe' }))).at(-1);
  expect(reply).toStartWith('250');
  expect(await suppressed(address)).toMatchObject({ address: null, reason: 'unsubscribed' });
  await isClean(id, address);
});

test('two people who are taken out of one email by two instances at once are both gone from it', async () => {
  const people = ['first@gone.example', 'second@gone.example'] as const;
  const id = await service.send({ to: people, text: 'News.' });
  await service.until(id, ({ status }) => status === 'sent');
  const { database } = service.service;
  const [email] = await database.query<{ of: string }>(
    'select workspace_id as of from emails where id = $1',
    [id],
  );
  const erase = (key: string, on: Pick<Database, 'query'>) =>
    eraseFromEmails(
      { database: on as Database, signer: service.signer, commonSubjects: async () => new Map() },
      email?.of ?? '',
      { address: key, key },
      [id],
    );
  let isRead = false;
  const query: Database['query'] = async (...asked) => {
    const rows = await database.query(...asked);
    if (!isRead) {
      isRead = true;
      await erase(people[1], database);
    }
    return rows as never;
  };
  await erase(people[0], { query });
  for (const address of people) await isClean(id, address);
  const [row] = await database.query<{ keys: readonly string[] }>(
    'select recipient_keys as keys from emails where id = $1',
    [id],
  );
  expect(row?.keys.every((key) => key.startsWith('forgotten-'))).toBe(true);
});

test('mail to the return path of a forgotten person that is no report stores none of its words', async () => {
  const address = 'unread@gone.example';
  const { id } = await forgotten(address);
  const { database, engine } = service.service;
  const clock = { now: Date.now, monotonic: () => performance.now() };
  const record = feedbackRecorder({ database, engine, clock, signer: service.signer, leaveByMail });
  const reference = { token: null, emailId: id, providerId: null, messageId: null };
  await record([{ kind: 'unread', subject: `Re: News for ${address}`, reference, recipient: address }], true);
  await isClean(id, address);
});

test('a complaint that comes while its recipient is being taken out of the email suppresses them', async () => {
  const address = 'meanwhile@gone.example';
  await service.live.post('/v1/contacts', { email: address });
  const emailId = await service.send({ to: [address], text: 'News.' });
  await service.until(emailId, ({ status }) => status === 'sent');
  const { database, engine } = service.service;
  const tell: typeof engine.tell = async (...event) => {
    await service.live.delete(`/v1/contacts/${address}`);
    await eventually('the email names no one', async () =>
      (await get(`/v1/emails/${emailId}`)).to[0].includes('forgotten') ? true : undefined,
    );
    return engine.tell(...event);
  };
  const clock = { now: Date.now, monotonic: () => performance.now() };
  const record = feedbackRecorder({ database, engine: { tell }, clock, signer: service.signer, leaveByMail });
  const reference = { token: null, emailId, providerId: null, messageId: null };
  const complaint = { kind: 'complained', feedbackType: 'abuse', userAgent: null } as const;
  await record([{ ...complaint, reference, recipient: address }], true);
  expect(await suppressed(address)).toMatchObject({ address: null, reason: 'complained' });
});

const LIST_MAIL = 'News. Leave: {{unsubscribeUrl}}';

async function outcomeOf(address: string, text: string): Promise<string> {
  const id = await service.send({ to: [address], text });
  return (await service.until(id, ({ status }) => status === 'sent' || status === 'failed')).status;
}

const LATE_REPORTS = {
  complained: (path: string) => report(path, arf('Feedback-Type: abuse\nUser-Agent: FBL/1.0\nVersion: 1\n')),
  bounced: (path: string, address: string) => report(path, bounce(address)),
  unsubscribed: async (_: string, address: string, raw: string) => {
    const [, mailbox = ''] = /<mailto:([^>]+)>/.exec(raw.replace(/\r\n[ \t]+/g, ' ')) ?? [];
    return (await handIn(port, address, [mailbox], aMail({ Subject: 'unsubscribe' }))).at(-1);
  },
};

test.each(Object.entries(LATE_REPORTS))(
  'a person who is a contact again is %s by a late report, which outlives the removal of the suppression',
  async (status, tell) => {
    const address = `${status}@late.example`;
    const { path, raw } = await forgotten(address);
    const others = [`other-${status}@late.example`, `second-${status}@late.example`];
    for (const email of [others[0], address, others[1]]) await service.live.post('/v1/contacts', { email });
    await service.test.post('/v1/contacts', { email: address });
    expect(await tell(path, address, raw)).toStartWith('250');
    expect((await get(`/v1/contacts/${address}`)).status).toBe(status);
    expect(await suppressed(address)).toMatchObject({ address, reason: status });
    for (const email of others) expect((await get(`/v1/contacts/${email}`)).status).toBe('subscribed');
    expect((await service.test.get(`/v1/contacts/${address}`)).body.data.status).toBe('subscribed');
    expect((await service.live.delete(`/v1/suppressions/${address}`)).status).toBe(204);
    expect((await get(`/v1/contacts/${address}`)).status).toBe(status);
    expect(await outcomeOf(address, LIST_MAIL)).toBe('failed');
    expect(await outcomeOf(address, 'Your receipt.')).toBe('sent');
  },
);

test('a report that a recipient opts out unsubscribes them, also one who was forgotten, and keeps no receipt away', async () => {
  const optOut = arf('Feedback-Type: opt-out\nUser-Agent: FBL/1.0\nVersion: 1\n');
  const address = 'opts-out@gone.example';
  const { path } = await forgotten(address);
  expect(await report(path, optOut)).toStartWith('250');
  expect(await suppressed(address)).toMatchObject({ address: null, reason: 'unsubscribed' });
  const known = 'opts-out@here.example';
  await service.live.post('/v1/contacts', { email: known });
  expect(await outcomeOf(known, LIST_MAIL)).toBe('sent');
  const copy = sink.received.find(({ to: [one] }) => one === known);
  expect(await report(copy?.from ?? '', optOut)).toStartWith('250');
  expect((await get(`/v1/contacts/${known}`)).status).toBe('unsubscribed');
  expect(await outcomeOf(known, LIST_MAIL)).toBe('failed');
  expect(await outcomeOf(known, 'Your receipt.')).toBe('sent');
});

test.each(['unsubscribed', 'bounced'])(
  'a contact of an address that is %s by an email from before it was forgotten is back by a later consent',
  async (reason) => {
    const address = `${reason}@again.example`;
    const { path, raw } = await forgotten(address);
    await service.live.post('/v1/contacts', { email: address });
    const [, mailbox = ''] = /<mailto:([^>]+)>/.exec(raw.replace(/\r\n[ \t]+/g, ' ')) ?? [];
    if (reason === 'bounced') await report(path, bounce(address));
    else await handIn(port, address, [mailbox], aMail({ Subject: 'unsubscribe' }));
    expect(await suppressed(address)).toMatchObject({ address, reason });
    const outcome = () => outcomeOf(address, LIST_MAIL);
    expect(await outcome()).toBe('failed');
    const agreeing = (at: string) =>
      service.live.patch(`/v1/contacts/${address}`, {
        status: 'subscribed',
        consent: { source: 'form', at },
      });
    if (reason === 'unsubscribed') expect((await agreeing('2026-01-01T00:00:00Z')).status).toBe(422);
    expect((await agreeing(new Date().toISOString())).status).toBe(200);
    expect(await suppressed(address)).toBeUndefined();
    expect(await outcome()).toBe('sent');
    const activity = await get(`/v1/contacts/${address}/activity?type=subscribed`);
    expect(activity).toHaveLength(1);
  },
);
