import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { issueKey } from '../../src/accounts/api-keys/issue.ts';
import { createWorkspace } from '../../src/accounts/workspace/commands.ts';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { verify } from '../../src/sending/webhooks/http/signature.ts';
import { type Client, createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { type LiveService, startLiveService } from '../support/live-service.ts';
import { openReceiver } from '../support/webhook-world.ts';
import { addresses, aMail, handIn, handOver, receiving } from './received-door.ts';
import { SmtpClient } from './transport/smtp-client.ts';

let service: LiveService;
let port: number;
let other: Client;
type Receiving = ReturnType<typeof receiving>;
let routed: Receiving['routed'];
let exactly: Receiving['exactly'];
let receivedBy: Receiving['receivedBy'];
let detail: Receiving['detail'];
const receiver = openReceiver();

beforeAll(async () => {
  port = await freePort();
  service = await startLiveService({ environment: { INBOUND_SMTP_PORT: String(port) } });
  ({ routed, exactly, receivedBy, detail } = receiving(service));
  const { database, engine } = service.service;
  const named = { name: 'Other', plan: 'growth', owner: null } as const;
  const workspaceId = await createWorkspace(database, named, Date.now());
  const key = { workspaceId, livemode: true, name: 'Other', permissions: ['*'] as const };
  other = createClient(service.url, await issueKey(engine, key, Date.now()));
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  receiver[Symbol.dispose]();
});

describe('the port answers RCPT by the routes', () => {
  test('an address without a route is unknown, also of a domain that has others', async () => {
    await exactly('known');
    const replies = await handIn(port, 'ada@customer.example', ['unknown@sender.example'], aMail());
    expect(replies[1]).toStartWith('550 5.1.1 ');
    expect((await handIn(port, '', ['known@elsewhere.example'], aMail()))[1]).toStartWith('550 5.1.1 ');
    expect((await handIn(port, '', ['known@sender.example'], aMail()))[1]).toStartWith('250 ');
  });

  test('a route that is deleted takes nothing from then on', async () => {
    const route = await exactly('shortlived');
    expect((await handIn(port, '', ['shortlived@sender.example'], aMail()))[1]).toStartWith('250 ');
    await service.live.delete(`/v1/inbound-routes/${route.id}`);
    expect((await handIn(port, '', ['shortlived@sender.example'], aMail()))[1]).toStartWith('550 5.1.1 ');
  });

  test('a route of the test environment takes nothing from outside', async () => {
    const { id: domainId } = (await service.live.get('/v1/domains')).body.data[0];
    await routed({ type: 'exact', localPart: 'testonly' }, {}, service.test, domainId);
    expect((await handIn(port, '', ['testonly@sender.example'], aMail()))[1]).toStartWith('550 5.1.1 ');
  });

  test('a domain that is not verified yet asks to come again, and its workspace can still prepare routes', async () => {
    const domain = await other.post('/v1/domains', { name: 'unproven-domain.net' });
    expect(domain.body.data.status).toBe('pending');
    await routed({ type: 'catchAll' }, {}, other, domain.body.data.id);
    expect((await handIn(port, '', ['a@unproven-domain.net'], aMail()))[1]).toStartWith('451 4.3.0 ');
  });
});

test('a domain that was verified and is not now asks the sender to come again', async () => {
  await exactly('fell');
  const { database } = service.service;
  const rcpt = async (local: string) =>
    (await handIn(port, '', [`${local}@sender.example`], aMail()))[1]?.slice(0, 10);
  await database.query(`update domains set state = 'failed' where id = $1`, [service.domainId]);
  try {
    await eventually('451', async () => ((await rcpt('fell')) === '451 4.3.0 ' ? true : undefined));
    expect(await rcpt('no-such-name')).toBe('550 5.1.1 ');
  } finally {
    await database.query(`update domains set state = 'verified' where id = $1`, [service.domainId]);
  }
  await eventually('250', async () => ((await rcpt('fell'))?.startsWith('250 ') ? true : undefined));
});

test('a workspace that has not proven a domain has no say about the addresses of another', async () => {
  await exactly('mine');
  const claim = await other.post('/v1/domains', { name: 'sender.example' });
  const claimed = claim.body.data?.id ?? (await other.get('/v1/domains')).body.data[0].id;
  const { database } = service.service;
  await database.query(`update domains set state = 'pending' where id = $1`, [claimed]);
  await routed({ type: 'catchAll' }, {}, other, claimed);
  const replies = await handIn(port, '', ['not-mine@sender.example', 'mine@sender.example'], aMail());
  expect(replies[1]).toStartWith('550 5.1.1 ');
  expect(replies[2]).toStartWith('250 ');
  await other.delete(`/v1/domains/${claimed}`);
});

test('of two workspaces that have proven a domain, the one that added it last has all of its mail', async () => {
  const mine = await exactly('ours');
  await exactly('only-mine');
  const { database } = service.service;
  const { id: domainId } = (await other.post('/v1/domains', { name: 'sender.example' })).body.data;
  const rcpt = async (local: string) =>
    (await handIn(port, 'ada@customer.example', [`${local}@sender.example`], aMail())).at(1)?.slice(0, 9);
  const state = (id: string, is: string) =>
    database.query('update domains set state = $2 where id = $1', [id, is]);
  const comes = (local: string, reply: string) =>
    eventually(`${reply} for ${local}`, async () => ((await rcpt(local)) === reply ? true : undefined));
  try {
    // Without a route it takes nothing from the one before it.
    expect(await rcpt('only-mine')).toStartWith('250 ');
    const theirs = await routed({ type: 'exact', localPart: 'ours' }, {}, other, domainId);
    expect((await handIn(port, 'ada@customer.example', ['ours@sender.example'], aMail())).at(-1)).toStartWith(
      '250 ',
    );
    expect([await receivedBy(mine.id), await receivedBy(theirs.id)]).toEqual([[], []]);
    const [message] = await receivedBy(theirs.id, other);
    expect((await service.live.get(`/v1/received/${message.id}`)).status).toBe(404);
    expect(await rcpt('only-mine')).toBe('550 5.1.1');
    // A hiccup of DNS hands no mail over: it waits until the grace of the owner is over.
    await state(domainId, 'temporaryFailure');
    await comes('only-mine', '451 4.3.0');
    await comes('ours', '451 4.3.0');
    expect(await rcpt('no-one')).toBe('550 5.1.1');
    await state(service.domainId, 'temporaryFailure');
    await comes('only-mine', '550 5.1.1');
    await comes('ours', '250 2.1.5');
    await state(service.domainId, 'verified');
    await state(domainId, 'failed');
    await comes('only-mine', '250 2.1.5');
  } finally {
    await state(service.domainId, 'verified');
    await state(domainId, 'verified');
    await other.delete(`/v1/domains/${domainId}`);
  }
  await comes('only-mine', '250 2.1.5');
});

describe('a message is stored as it came', () => {
  test('with its envelope, tag, header and octets', async () => {
    const route = await exactly('support');
    const raw = aMail(
      { To: 'support+order-1@sender.example', 'In-Reply-To': '<q@a.example>' },
      '.dot\r\n..dots',
    );
    const replies = await handIn(port, 'Ada@customer.example', ['Support+Order-1@sender.example'], raw);
    expect(replies.at(-1)).toStartWith('250 2.0.0 ');
    const [item] = await receivedBy(route.id);
    expect(item).toMatchObject({
      livemode: true,
      status: 'kept',
      envelope: { from: 'Ada@customer.example', to: 'Support+Order-1@sender.example', tag: 'Order-1' },
      from: 'Ada <ada@customer.example>',
      subject: 'A question',
      inReplyTo: '<q@a.example>',
      isAutomatic: false,
      size: raw.length,
    });
    expect(await detail(item.id)).toMatchObject({ text: '.dot\n..dots\n', attempts: [], stopReason: null });
    const octets = await fetch(`${service.url}/v1/received/${item.id}/raw`, {
      headers: { authorization: `Bearer ${service.keys.live}` },
    });
    expect(octets.headers.get('content-type')).toBe('message/rfc822');
    expect(await octets.text()).toBe(raw);
  });

  test('a null sender is accepted, and the message is automatic', async () => {
    const route = await exactly('null');
    expect((await handIn(port, '', ['null@sender.example'], aMail())).at(-1)).toStartWith('250 ');
    const [item] = await receivedBy(route.id);
    expect([item.envelope.from, item.isAutomatic]).toEqual(['', true]);
  });

  test('with a header that no table could hold as it is', async () => {
    const route = await routed({ type: 'prefix', localPart: 'odd' });
    const raw = aMail({ 'Message-ID': '<a\0b@c.example>', From: '"\0" <a\0@b.example>', Subject: '\0 \xff' });
    const replies = await handIn(port, 'a@c.example', ['odd\0@sender.example', 'odd@sender.example'], raw);
    expect(replies[1]).toMatch(/^5\d\d 5\.1\.[13] /);
    expect(replies.at(-1)).toStartWith('250 ');
    const [item] = await receivedBy(route.id);
    expect(item.messageId).toBeNull();
    expect((await detail(item.id)).text).toBe('Where is my order?\n');
  });

  test('a message that no parser can read is stored all the same', async () => {
    const route = await exactly('hostile');
    const deep = Array.from(
      { length: 200 },
      (_, level) => `Content-Type: multipart/mixed; boundary=b${level}\r\n\r\n--b${level}\r\n`,
    ).join('');
    const raw = `Message-ID: <deep@customer.example>\r\n${deep}`;
    expect((await handIn(port, '', ['hostile@sender.example'], raw)).at(-1)).toStartWith('250 ');
    const [item] = await receivedBy(route.id);
    expect(item).toMatchObject({ messageId: '<deep@customer.example>', from: null, subject: null });
  });

  test('answers of one thread have its id, and are found by it', async () => {
    const route = await exactly('thread');
    const first = aMail({ 'Message-ID': '<first@customer.example>' });
    const second = aMail({ References: '<first@customer.example> <between@a.example>' });
    for (const raw of [first, second, aMail()]) await handIn(port, '', ['thread@sender.example'], raw);
    const [, newer, older] = await receivedBy(route.id);
    expect(newer.threadId).toBe(older.threadId);
    const found = await service.live.get(`/v1/received?threadId=${older.threadId}`);
    expect(found.body.data).toHaveLength(2);
  });

  test('messages are found by any address that they name', async () => {
    await exactly('named');
    await handIn(
      port,
      'bounces@list.example',
      ['named@sender.example'],
      aMail({ Cc: 'Eve <eve@named.example>' }),
    );
    for (const address of ['Eve@named.example', 'bounces@list.example', 'named@sender.example'])
      expect((await service.live.get(`/v1/received?address=${address}`)).body.data).toHaveLength(1);
  });
});

describe('several recipients in one transaction', () => {
  test('each has a message, in one commit', async () => {
    const [a, b] = [await exactly('first'), await exactly('second')];
    const to = [
      'first@sender.example',
      'nobody@sender.example',
      'second@sender.example',
      'first@SENDER.example',
    ];
    const replies = await handIn(port, 'ada@customer.example', to, aMail());
    expect(replies.map((line) => line.slice(0, 3))).toEqual(['250', '250', '550', '250', '250', '250']);
    expect(await receivedBy(a.id)).toHaveLength(1);
    expect(await receivedBy(b.id)).toHaveLength(1);
    const rows = await service.service.database.query<{ commits: number }>(
      `select count(distinct commit_tag)::integer as commits from received_journal j join received r on r.id = j.actor_id
       where r.route_id = any($1::text[])`,
      [[a.id, b.id]],
    );
    expect(rows).toEqual([{ commits: 1 }]);
  });

  test('a hundred are taken, and the next one is asked to come again', async () => {
    const route = await routed({ type: 'prefix', localPart: 'many-' });
    const to = Array.from({ length: 101 }, (_, number) => `many-${number}@sender.example`);
    const replies = await handIn(port, '', to, aMail());
    expect(replies[100]).toStartWith('250 ');
    expect(replies[101]).toStartWith('452 4.5.3 ');
    expect(replies.at(-1)).toStartWith('250 ');
    const { body } = await service.live.get(`/v1/received?routeId=${route.id}&limit=100`);
    expect([body.data.length, body.pagination.hasMore]).toEqual([100, false]);
  });
});

describe('a message that comes again', () => {
  test('is stored once within a day, by whichever way, and once more for another recipient', async () => {
    const route = await routed({ type: 'prefix', localPart: 'again' });
    const raw = aMail();
    const replies = [
      await handIn(port, 'a@b.example', ['again@sender.example'], raw),
      await handIn(port, 'a@b.example', ['Again@sender.example'], `Received: by backup.example\r\n${raw}`),
      await handIn(port, 'a@b.example', ['again+tag@sender.example', 'again@sender.example'], raw),
    ];
    for (const reply of replies) expect(reply.at(-1)).toStartWith('250 ');
    expect((await receivedBy(route.id)).map(({ envelope }) => envelope.to)).toEqual([
      'again+tag@sender.example',
      'again@sender.example',
    ]);
    const [left] = await service.service.database.query<{ unused: number }>(
      'select count(*)::integer as unused from received_contents c where not exists (select from received r where r.content_id = c.id)',
    );
    expect(left?.unused).toBe(0);
  });
});

describe('what the port refuses', () => {
  beforeAll(() => routed({ type: 'exact', localPart: 'refusing' }));
  const to = ['refusing@sender.example'];

  test('a size beyond 32 MiB before the data where SIZE tells it', async () => {
    const client = await SmtpClient.open(port);
    const [, ...extensions] = await client.say('EHLO client.example');
    expect(extensions.join()).toContain('SIZE 33554432');
    expect((await client.say('MAIL FROM:<a@b.example> SIZE=33554433'))[0]).toStartWith('552 5.3.4 ');
    expect((await client.say('MAIL FROM:<a@b.example> SIZE=33554432'))[0]).toStartWith('250 ');
    client.end();
  });

  test('a header beyond 256 KiB, before anything else is done with it', async () => {
    const raw = (octets: number) => `${'a:\r\n'.repeat(octets / 4)}\r\nHello\r\n`;
    expect((await handIn(port, '', to, raw(262_148))).at(-1)).toStartWith('552 5.3.4 ');
    expect((await handIn(port, '', to, raw(262_144))).at(-1)).toStartWith('250 ');
  });

  test('a header that names more than 5,000 addresses, that in From among them', async () => {
    const answer = async (named: string) => (await handIn(port, '', to, aMail({ To: named }))).at(-1);
    expect(await answer(addresses(5_000))).toStartWith('552 5.3.4 ');
    expect(await answer(addresses(4_999))).toStartWith('250 ');
  });

  test('a loop: more than 50 Received fields', async () => {
    const hops = (count: number) => 'Received: from a by b\r\n'.repeat(count) + aMail();
    expect((await handIn(port, '', to, hops(50))).at(-1)).toStartWith('250 ');
    expect((await handIn(port, '', to, hops(51))).at(-1)).toStartWith('554 5.4.6 ');
  });

  test.each([
    ['LF alone', 'Hello\nworld\r\n'],
    ['CR alone', 'Hello\rworld\r\n'],
    ['an end between LF alone', 'Hello\n.\nMAIL FROM:<evil@b.example>\r\n'],
    ['an end between LF and CRLF', 'Hello\n.\r\nMAIL FROM:<evil@b.example>\r\n'],
    ['CR CR alone', 'Hello\r\rworld\r\n'],
    ['an end between CR alone', 'Hello\r.\rMAIL FROM:<evil@b.example>\r\n'],
  ])('a line end that hides a second message: %s', async (_, text) => {
    const client = await SmtpClient.open(port);
    await client.say('EHLO client.example');
    const replies = await handOver(client, 'a@b.example', to, aMail({}, text));
    expect(replies.at(-1)).toStartWith('550 5.5.2 ');
    // The session goes on where the message has ended.
    expect((await client.say('NOOP'))[0]).toStartWith('250 ');
    client.end();
  });
});

describe('the webhook of a route', () => {
  test('gets the message signed, and again with the same id when it is asked for', async () => {
    const route = await exactly('hook', { action: { type: 'webhook', url: receiver.url } });
    expect(route.secret).toMatch(/^whsec_/);
    let answers = 0;
    receiver.answer = () => new Response('no', { status: ++answers === 1 ? 500 : 200 });
    await handIn(port, 'ada@customer.example', ['hook@sender.example'], aMail());
    await receiver.until(1);
    const [item] = await receivedBy(route.id);
    const retrying = await eventually('a scheduled retry', async () => {
      const found = await detail(item.id);
      return found.nextAttemptAt === null ? undefined : found;
    });
    expect([retrying.status, retrying.attempts[0].httpStatus]).toEqual(['posting', 500]);
    await service.pass(5_000);
    const [first, second] = await receiver.until(2);
    expect(first?.body).toBe(second?.body as string);
    const { body = '', signature = '', webhookId } = second ?? {};
    expect(verify(route.secret, signature, body, Math.floor(Date.parse(service.today()) / 1000))).toBe(true);
    expect(webhookId).toBe(route.id);
    const posted = JSON.parse(body);
    expect(posted).toMatchObject({
      id: item.id.replace('rcv_', 'evt_'),
      type: 'received',
      livemode: true,
      occurredAt: item.createdAt,
      received: {
        id: item.id,
        subject: 'A question',
        text: 'Where is my order?\n',
        replyText: 'Where is my order?',
      },
    });
    const done = await eventually('the post', async () => {
      const found = await detail(item.id);
      return found.status === 'posted' ? found : undefined;
    });
    expect(done.attempts).toHaveLength(2);
    const again = await service.live.post(`/v1/received/${item.id}/redeliver`);
    expect([again.status, again.body.data.status]).toEqual([200, 'posting']);
    const third = (await receiver.until(3))[2];
    expect(JSON.parse(third?.body ?? '').id).toBe(posted.id);
  });

  test('a message whose route was deleted fails, and one that is only kept cannot be posted', async () => {
    const kept = await exactly('keeps');
    await handIn(port, '', ['keeps@sender.example'], aMail());
    const [item] = await receivedBy(kept.id);
    expect((await service.live.post(`/v1/received/${item.id}/redeliver`)).status).toBe(409);
    const patched = await service.live.patch(`/v1/inbound-routes/${kept.id}`, {
      action: { type: 'webhook', url: receiver.url },
    });
    expect(patched.body.data.secret).toMatch(/^whsec_/);
    expect((await service.live.post(`/v1/received/${item.id}/redeliver`)).status).toBe(200);
    await eventually('the post', async () =>
      (await detail(item.id)).status === 'posted' ? true : undefined,
    );
    await service.live.delete(`/v1/inbound-routes/${kept.id}`);
    expect((await service.live.post(`/v1/received/${item.id}/redeliver`)).status).toBe(409);
  });
});
