import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { returnPathFor } from '../../src/mail/inbound/verp.ts';
import { returnToken } from '../../src/sending/emails/send/return-token.ts';
import { cyrusMissing, startCyrus } from '../support/cyrus.ts';
import { dovecotMissing, startDovecot } from '../support/dovecot.ts';
import { eventually } from '../support/eventually.ts';
import { type ImapServer, PASSWORD } from '../support/imap-server.ts';
import { type Email, type LiveService, relayTo, startLiveService } from '../support/live-service.ts';
import { dsn } from '../unit/transport/reports.ts';
import { addresses, aMail, receiving } from './received-door.ts';
import { a, startNameServer, type TestNameServer } from './transport/name-server.ts';
import { type Sink, startSink } from './transport/smtp-sink.ts';

// Mailboxes of real servers.

const SERVERS = [
  { name: 'Dovecot', missing: dovecotMissing(), startServer: startDovecot },
  { name: 'Cyrus', missing: cyrusMissing(), startServer: startCyrus },
] as const;
for (const { name, missing } of SERVERS)
  if (missing !== null)
    console.log(`Not shown here, since ${missing}: mailboxes of ${name} that are read by IMAP.`);

describe.each(SERVERS.filter(({ missing }) => missing === null))('a mailbox of $name', ({ startServer }) => {
  let server: ImapServer;
  let service: LiveService;
  let sink: Sink;
  let dns: TestNameServer;
  let environment: Record<string, string>;

  const USERS = ['new', 'renumbered', 'killed', 'restarted', 'reports', 'wrong', 'large', 'folders'];
  const MORE = ['tls', 'changed', 'begun', 'copies', 'unproven', 'busy', 'limits'];
  beforeAll(async () => {
    server = await startServer([...USERS, ...MORE]);
    dns = await startNameServer({ 'imap.customer.example A': [a('127.0.0.1')] });
    const DNS_SERVERS = `127.0.0.1:${dns.server.port}`;
    environment = { TLS_CA_FILE: server.ca, HOST: '127.0.0.1', DNS_SERVERS };
    sink = await startSink();
    service = await startLiveService({ environment, transport: relayTo(sink.port) });
    for (const user of [...USERS, ...MORE]) await receiving(service).exactly(user);
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await sink[Symbol.asyncDispose]();
    await dns[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  const present: string[] = [];
  // An environment has at most ten.
  afterEach(async () => {
    for (const id of present.splice(0)) await service.live.delete(`/v1/mailboxes/${id}`);
  });

  const get = async (path: string): Promise<Email> => (await service.live.get(path)).body.data;
  const created = async (user: string, more: object = {}): Promise<Email> => {
    const settings = { host: 'localhost', port: server.tlsPort, username: user, password: PASSWORD };
    const made = await service.live.post('/v1/mailboxes', { ...settings, ...more });
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    present.push(made.body.data.id);
    return made.body.data;
  };
  const until = (id: string, status: string): Promise<Email> =>
    eventually(`a mailbox that is ${status}`, async () => {
      const found = await get(`/v1/mailboxes/${id}`);
      return found.status === status ? found : undefined;
    });
  const open = async (user: string, more: object = {}): Promise<Email> =>
    until((await created(user, more)).id, 'connected');
  const letter = (user: string, subject: string, more: Record<string, string> = {}) =>
    aMail({ To: `${user}@sender.example`, Subject: subject, ...more });
  const subjectsOf = async (user: string): Promise<string[]> => {
    const found = (await get(`/v1/received?limit=100&address=${user}@sender.example`)) as Email[];
    return found.map(({ subject }) => subject).toSorted();
  };
  const came = (user: string, subjects: readonly string[]): Promise<unknown> =>
    eventually(`the messages of ${user}`, async () =>
      (await subjectsOf(user)).length >= subjects.length ? true : undefined,
    ).then(async () => expect(await subjectsOf(user)).toEqual(subjects.toSorted()));

  test('gives its new messages to the routes, and stays as it is', async () => {
    await server.append('new', [letter('new', 'old')]);
    const { id } = await open('new');
    await server.append('new', [letter('new', 'one'), letter('new', 'two'), letter('unknown', 'for no one')]);
    await came('new', ['one', 'two']);
    const [item] = (await get('/v1/received?limit=1&address=new@sender.example')) as Email[];
    expect(item).toMatchObject({ status: 'kept', authentication: { spf: 'none' } });
    expect(await server.flags('new')).toHaveLength(4);
    for (const flags of await server.flags('new'))
      expect(flags.filter((flag) => flag !== '\\Recent')).toEqual([]);
    const shown = await eventually('all are read', async () => {
      const found = await get(`/v1/mailboxes/${id}`);
      return found.skipped === 1 ? found : undefined;
    });
    expect(shown).toMatchObject({ taken: 2, skipped: 1, reason: null });
    expect(JSON.stringify(shown)).not.toContain(PASSWORD);
    expect(service.logged()).not.toContain(PASSWORD);
  });

  test('is read by STARTTLS as well, and another folder', async () => {
    await server.append('folders', [letter('folders', 'old')], 'Tickets');
    await open('folders', { port: server.port, security: 'starttls', folder: 'Tickets' });
    await server.append('folders', [letter('folders', 'in a folder')], 'Tickets');
    await server.append('folders', [letter('folders', 'in another')]);
    await came('folders', ['in a folder']);
  });

  test('that gives its messages other UIDs is read once all the same', async () => {
    await open('renumbered');
    await server.append('renumbered', [letter('renumbered', 'a'), letter('renumbered', 'b')]);
    await came('renumbered', ['a', 'b']);
    // A day later the port does not know any more which messages have come.
    await service.service.database.query(`delete from idempotency_keys where key like 'received %'`);
    await server.renumber('renumbered');
    await server.append('renumbered', [letter('renumbered', 'c')]);
    await came('renumbered', ['a', 'b', 'c']);
  });

  test('that was begun later than it was created has no new messages from before, whichever UIDs they get', async () => {
    const { id } = await created('begun', { paused: true });
    const { database } = service.service;
    await database.query(`update mailboxes set created_at = created_at - interval '2 hours' where id = $1`, [
      id,
    ]);
    const before = new Date(Date.now() - 3_600_000);
    await server.append('begun', [letter('begun', 'before')], 'INBOX', before);
    await service.live.patch(`/v1/mailboxes/${id}`, { paused: false });
    await until(id, 'connected');
    await server.append('begun', [letter('begun', 'a')]);
    await came('begun', ['a']);
    await server.renumber('begun');
    await server.append('begun', [letter('begun', 'b')]);
    await came('begun', ['a', 'b']);
  });

  test('gets a copy for each of its addresses, and each is stored for its own', async () => {
    await receiving(service).exactly('copies-2');
    await open('copies');
    const copy = letter('copies', 'to both', { Cc: 'copies-2@sender.example' });
    await server.append('copies', [
      `X-Original-To: copies@sender.example\r\n${copy}`,
      `X-Original-To: copies-2@sender.example\r\n${copy}`,
    ]);
    const recipients = await eventually('both copies', async () => {
      const rows = await service.service.database.query<{ recipient: string }>(
        `select recipient from received where summary ->> 'subject' = 'to both' order by recipient`,
      );
      return rows.length === 2 ? rows : undefined;
    });
    expect(recipients.map(({ recipient }) => recipient)).toEqual([
      'copies-2@sender.example',
      'copies@sender.example',
    ]);
  });

  test('skips a message with more than 5,000 addresses or 50 Received fields', async () => {
    const { id } = await open('limits');
    // Beside them, there are From and To.
    const named = (subject: string, count: number) => letter('limits', subject, { Cc: addresses(count - 2) });
    const passed = (subject: string, hops: number) =>
      'Received: from a.example by b.example; Fri, 20 Nov 2026 22:43:17 +0000\r\n'.repeat(hops) +
      letter('limits', subject);
    await server.append('limits', [
      named('5,000', 5_000),
      named('5,001', 5_001),
      passed('50', 50),
      passed('51', 51),
      letter('limits', 'last'),
    ]);
    await came('limits', ['5,000', '50', 'last']);
    expect(await get(`/v1/mailboxes/${id}`)).toMatchObject({ taken: 3, skipped: 2, status: 'connected' });
  });

  test('keeps a message for a domain that is not verified until it is', async () => {
    const domain = (await service.live.post('/v1/domains', { name: 'later.example' })).body.data;
    const { database } = service.service;
    await database.query(`update domains set state = 'failed' where id = $1`, [domain.id]);
    await receiving(service).routed({ type: 'catchAll' }, {}, service.live, domain.id);
    const { id } = await open('unproven');
    await server.append('unproven', [letter('unproven', 'first', { To: 'ada@later.example' })]);
    const failing = await until(id, 'failing');
    expect(failing.reason).toContain('not verified');
    await database.query(`update domains set state = 'verified' where id = $1`, [domain.id]);
    // It is tried again at once.
    await service.live.patch(`/v1/mailboxes/${id}`, { paused: false });
    const found = await eventually('the message', async () => {
      const items = (await get('/v1/received?address=ada@later.example')) as Email[];
      return items.length > 0 ? items : undefined;
    });
    expect(found.map(({ subject }) => subject)).toEqual(['first']);
  });

  test('goes on with a message that could not be stored for a moment', async () => {
    const { id, since } = await open('busy');
    const { database } = service.service;
    await database.script(`create sequence busy_mailboxes;
      create function busy_mailbox() returns trigger language plpgsql as $$
      begin
        if new.mailbox_id = '${id}' and nextval('busy_mailboxes') <= 2 then
          raise exception 'busy' using errcode = 'lock_not_available';
        end if;
        return new;
      end $$;
      create trigger busy_mailbox before insert on mailbox_messages for each row execute function busy_mailbox();`);
    await server.append('busy', [letter('busy', 'in the end')]);
    await came('busy', ['in the end']);
    // It was not given up in between.
    expect(await get(`/v1/mailboxes/${id}`)).toMatchObject({ status: 'connected', since });
    await database.script('drop trigger busy_mailbox on mailbox_messages');
  });

  test('whose connection is cut is opened again', async () => {
    const { id } = await open('killed');
    await server.append('killed', [letter('killed', 'a')]);
    await came('killed', ['a']);
    await server.kick('killed');
    await until(id, 'failing');
    await server.append('killed', [letter('killed', 'b')]);
    await service.pass(10_000);
    await came('killed', ['a', 'b']);
    expect((await until(id, 'connected')).reason).toBeNull();
  });

  test('whose server restarts says so meanwhile, and misses nothing', async () => {
    const { id } = await open('restarted');
    await server.append('restarted', [letter('restarted', 'a')]);
    await came('restarted', ['a']);
    await server.stop();
    const failing = await until(id, 'failing');
    expect(failing.reason).toMatch(/closed the connection|refuses connections/);
    expect(failing.nextAttemptAt).not.toBeNull();
    await server.start();
    await server.append('restarted', [letter('restarted', 'b')]);
    await eventually('it is tried again', async () => {
      await service.pass(60_000);
      return (await subjectsOf('restarted')).length === 2 ? true : undefined;
    });
    await until(id, 'connected');
  });

  test('with a wrong password, certificate or folder says what to do', async () => {
    const wrong = async (more: object) => {
      const { id } = await created('wrong', more);
      const found = await until(id, 'failing');
      await service.live.delete(`/v1/mailboxes/${id}`);
      return found.reason;
    };
    expect(await wrong({ password: 'another' })).toContain('the user or the password');
    expect(await wrong({ folder: 'Nowhere' })).toContain('folder');
    expect(await wrong({ host: '127.0.0.1' })).toContain('certificate');
    // The name leads to the server, and is not that of its certificate.
    const another = { host: 'imap.customer.example' };
    expect(await wrong(another)).toContain('certificate');
    expect(await wrong({ ...another, port: server.port, security: 'starttls' })).toContain('certificate');
    expect(await wrong({ port: server.port })).toContain('encrypted');
    expect(await wrong({ port: 1 })).toContain('refuses connections');
    expect(service.logged()).not.toContain('another');
  });

  test('that is changed or paused follows at once, and another account needs its password', async () => {
    const { id } = await created('changed', { password: 'wrong one' });
    await until(id, 'failing');
    expect((await service.live.patch(`/v1/mailboxes/${id}`, { password: PASSWORD })).status).toBe(200);
    await until(id, 'connected');
    const elsewhere = await service.live.patch(`/v1/mailboxes/${id}`, { username: 'tls' });
    expect([elsewhere.status, elsewhere.body.error.details[0].path]).toEqual([422, '/body/password']);
    await service.live.patch(`/v1/mailboxes/${id}`, { paused: true });
    await server.append('changed', [letter('changed', 'while paused')]);
    expect((await get(`/v1/mailboxes/${id}`)).status).toBe('paused');
    await service.live.patch(`/v1/mailboxes/${id}`, { paused: false });
    await came('changed', ['while paused']);
    expect((await service.live.delete(`/v1/mailboxes/${id}`)).status).toBe(204);
    expect(
      await service.service.database.query('select 1 from mailbox_messages where mailbox_id = $1', [id]),
    ).toEqual([]);
  });

  test('has bounces, which count for their emails', async () => {
    await open('reports');
    const id = await service.send({ to: 'ada@receiver.example', subject: 'Bounces' });
    await service.until(id, ({ status }) => status === 'sent');
    const bounce = dsn({
      status:
        'Reporting-MTA: dns; mx.receiver.example\n\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 no such user\n',
    });
    const path = returnPathFor(returnToken({ emailId: id, recipient: 0 }, service.signer), 'sender.example');
    await server.append('reports', [
      `Return-Path: <>\r\nDelivered-To: ${path}\r\n${Buffer.from(bounce).toString('latin1')}`,
    ]);
    const email = await service.until(id, ({ status }) => status === 'failed');
    expect(email.events.at(-1)).toMatchObject({ type: 'bounced' });
  });

  test('is read message by message, and a message that is too large is passed', async () => {
    const { id } = await open('large');
    const fill = `${'0123456789abcdef'.repeat(4)}\r\n`.repeat(Math.ceil((33 * 1_048_576) / 66));
    await server.append('large', [
      aMail({ To: 'large@sender.example', Subject: 'too large' }, fill),
      letter('large', 'after it'),
    ]);
    await came('large', ['after it']);
    expect(await get(`/v1/mailboxes/${id}`)).toMatchObject({ taken: 1, skipped: 1 });
  });
});
