import { afterAll, beforeAll, expect, test } from 'bun:test';
import { LARGEST_HEADER } from '../../src/mail/raw/header-editor.ts';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { eventually } from '../support/eventually.ts';
import { type LiveService, startLiveService } from '../support/live-service.ts';
import { aMail, handIn, receiving } from './received-door.ts';
import { SmtpClient } from './transport/smtp-client.ts';

let service: LiveService;
let port: number;
type Receiving = ReturnType<typeof receiving>;
let routed: Receiving['routed'];
let exactly: Receiving['exactly'];
let receivedBy: Receiving['receivedBy'];
let detail: Receiving['detail'];

beforeAll(async () => {
  port = await freePort();
  service = await startLiveService({ environment: { INBOUND_SMTP_PORT: String(port) } });
  ({ routed, exactly, receivedBy, detail } = receiving(service));
});
afterAll(() => service[Symbol.asyncDispose]());

test('a message whose lines end with CR CR LF is stored with CRLF, and ends at CRLF, dot, CRLF alone', async () => {
  const { id } = await exactly('returns');
  const client = await SmtpClient.open(port);
  for (const line of [
    'EHLO b.example',
    'MAIL FROM:<a@b.example>',
    'RCPT TO:<returns@sender.example>',
    'DATA',
  ])
    await client.say(line);
  const raw = aMail({}, 'one\r\n.\r\nMAIL FROM:<evil@b.example>\r\ntwo').replaceAll('\r\n', '\r\r\n');
  const answer = client.read();
  client.sendOctets(Buffer.from(`${raw}.\r\n`));
  expect((await answer)[0]).toStartWith('250 ');
  expect((await client.say('NOOP'))[0]).toStartWith('250 ');
  client.end();
  const items = await receivedBy(id);
  expect(items).toMatchObject([{ size: raw.replaceAll('\r\r', '\r').length }]);
  expect((await detail(items[0].id)).text).toBe('one\n.\nMAIL FROM:<evil@b.example>\ntwo\n');
});

test('a long message whose lines end with CR CR LF has no header beyond its empty line', async () => {
  const { id } = await exactly('returns-long');
  const raw = aMail({}, 'A line of a long text\r\n'.repeat(LARGEST_HEADER / 16));
  const replies = await handIn(port, '', ['returns-long@sender.example'], raw.replaceAll('\r\n', '\r\r\n'));
  expect(replies.at(-1)).toStartWith('250 ');
  expect(await receivedBy(id)).toMatchObject([{ size: raw.length }]);
  // A header that is too large is so with each of the two.
  const header = aMail({ 'X-Long': 'a b\r\n '.repeat(LARGEST_HEADER / 5) });
  for (const end of ['\r\n', '\r\r\n'])
    expect(
      (await handIn(port, '', ['returns-long@sender.example'], header.replaceAll('\r\n', end))).at(-1),
    ).toStartWith('552 5.3.4 The header is too large');
});

test('a message is deleted with its content, and that of others stays', async () => {
  const route = await routed({ type: 'prefix', localPart: 'deleted' });
  await handIn(port, '', ['deleted1@sender.example', 'deleted2@sender.example'], aMail());
  const [one, two] = await receivedBy(route.id);
  expect((await service.live.delete(`/v1/received/${one.id}`)).status).toBe(204);
  expect((await service.live.get(`/v1/received/${one.id}`)).status).toBe(404);
  expect((await detail(two.id)).text).toBe('Where is my order?\n');
  await service.live.delete(`/v1/received/${two.id}`);
  const [left] = await service.service.database.query<{ rows: number }>(
    `select (select count(*) from received_journal j where j.actor_id = any($1::text[]))::integer
      + (select count(*) from received_contents c where not exists (select from received r where r.content_id = c.id))::integer as rows`,
    [[one.id, two.id]],
  );
  expect(left?.rows).toBe(0);
});

test('a contact who is forgotten is in no received message any more', async () => {
  const route = await exactly('forgets');
  await service.live.post('/v1/contacts', { email: 'leaver@customer.example' });
  await handIn(port, 'Leaver@customer.example', ['forgets@sender.example'], aMail());
  await handIn(port, '', ['forgets@sender.example'], aMail({ Cc: 'leaver@customer.example' }));
  await handIn(port, '', ['forgets@sender.example'], aMail());
  expect(await receivedBy(route.id)).toHaveLength(3);
  await service.live.delete('/v1/contacts/leaver@customer.example');
  await eventually('the erasure', async () => ((await receivedBy(route.id)).length === 1 ? true : undefined));
});

test.each([
  ['in Sender', aMail({ Sender: 'LEAVER@left.example' })],
  ['in a field of Resent', aMail({ 'Resent-To': 'x@y.example, "Lee" <leaver@left.example>' })],
  ['behind hundreds of others', aMail({ Cc: `${'u@v.example, '.repeat(300)}leaver@left.example` })],
  [
    'behind hundreds of different ones',
    aMail({
      Cc: `${Array.from({ length: 900 }, (_, n) => `u${n}@v.example,\r\n `).join('')}leaver@left.example`,
    }),
  ],
  [
    'in a message that no parser can read',
    `From: leaver@left.example\r\n${Array.from(
      { length: 200 },
      (_, level) => `Content-Type: multipart/mixed; boundary=b${level}\r\n\r\n--b${level}\r\n`,
    ).join('')}`,
  ],
])('a person is found and forgotten by an address %s', async (_, raw) => {
  const route = await exactly(`forgets-${crypto.randomUUID().slice(0, 8)}`);
  const to = `${route.match.localPart}@sender.example`;
  await handIn(port, 'a@b.example', [to], raw);
  const found = await service.live.get(`/v1/received?address=leaver@left.example&routeId=${route.id}`);
  expect(found.body.data).toHaveLength(1);
  await service.live.post('/v1/contacts', { email: 'leaver@left.example' });
  await service.live.delete('/v1/contacts/leaver@left.example');
  await eventually('the erasure', async () => ((await receivedBy(route.id)).length === 0 ? true : undefined));
});

test('the rows of a message hold little of a large header, and its detail all of it', async () => {
  const route = await routed({ type: 'prefix', localPart: 'large-' });
  const cc = Array.from({ length: 90 }, (_, n) => `"${'N'.repeat(200)}" <cc${n}@v.example>`);
  const raw = aMail({ Cc: cc.join(',\r\n '), Subject: 'S'.repeat(900) });
  const to = Array.from({ length: 100 }, (_, number) => `large-${number}@sender.example`);
  expect((await handIn(port, '', to, raw)).at(-1)).toStartWith('250 ');
  const [size] = await service.service.database.query<{ most: number; rows: number }>(
    `select max(octet_length(summary::text) + octet_length(address_keys::text))::integer as most, count(*)::integer as rows
     from received where route_id = $1`,
    [route.id],
  );
  expect(size?.rows).toBe(100);
  expect(size?.most).toBeLessThan(8_600);
  const [item] = await receivedBy(route.id);
  expect(item.cc.length).toBeGreaterThan(10);
  expect((await detail(item.id)).cc).toHaveLength(90);
});

test('two recipients who are deleted at the same time leave no content', async () => {
  const route = await routed({ type: 'prefix', localPart: 'both' });
  for (let round = 0; round < 10; round++) {
    await handIn(port, '', ['both1@sender.example', 'both2@sender.example'], aMail());
    const both = await receivedBy(route.id);
    await Promise.all(both.map(({ id }) => service.live.delete(`/v1/received/${id}`)));
  }
  const [left] = await service.service.database.query<{ rows: number }>(
    'select count(*)::integer as rows from received_contents c where not exists (select from received r where r.content_id = c.id)',
  );
  expect(left?.rows).toBe(0);
});

test('a message that was deleted and comes again is stored again, once', async () => {
  const route = await exactly('comesagain');
  const raw = aMail();
  const come = async () => {
    expect((await handIn(port, '', ['comesagain@sender.example'], raw)).at(-1)).toStartWith('250 ');
    return receivedBy(route.id);
  };
  for (let round = 0; round < 3; round++) {
    const [first] = await come();
    const again = await come();
    expect(again.map(({ id }) => id)).toEqual([first.id]);
    await service.live.delete(`/v1/received/${first.id}`);
    expect(await receivedBy(route.id)).toEqual([]);
  }
});

test('a message that comes while its workspace is erased is not stored', async () => {
  const route = await exactly('erased');
  const { database } = service.service;
  const to = ['erased@sender.example'];
  // RCPT has been answered before the workspace is archived.
  const client = await SmtpClient.open(port);
  await client.say('EHLO client.example');
  await client.say('MAIL FROM:<a@b.example>');
  expect((await client.say(`RCPT TO:<${to[0]}>`))[0]).toStartWith('250 ');
  await database.query('update workspaces set erase_at = now() + interval $$1 day$$');
  try {
    await client.say('DATA');
    const answer = client.read();
    client.sendOctets(Buffer.from(`${aMail()}.\r\n`));
    expect((await answer)[0]).toStartWith('452 4.3.1 ');
  } finally {
    await database.query('update workspaces set erase_at = null');
    client.end();
  }
  expect(await receivedBy(route.id)).toEqual([]);
});

test('a database that takes no writes has the sender come again', async () => {
  const route = await exactly('full');
  await service.service.database.query(
    'alter table received_contents add constraint refuses check (false) not valid',
  );
  const raw = aMail();
  const refused = await handIn(port, '', ['full@sender.example'], raw);
  await service.service.database.query('alter table received_contents drop constraint refuses');
  expect(refused.at(-1)).toStartWith('452 4.3.1 ');
  expect((await handIn(port, '', ['full@sender.example'], raw)).at(-1)).toStartWith('250 ');
  expect(await receivedBy(route.id)).toHaveLength(1);
});
