import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { generateKeyPairSync } from 'node:crypto';
import { sealMessage } from 'mailauth/lib/arc/index.js';
import { dkimSign } from 'mailauth/lib/dkim/sign.js';
import { checkSender } from '../../src/mail/authentication/check-sender.ts';
import { createResolver } from '../../src/mail/dns/resolver.ts';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { eventually } from '../support/eventually.ts';
import { type Email, type LiveService, relayTo, startLiveService } from '../support/live-service.ts';
import { dsn } from '../unit/transport/reports.ts';
import { aMail, handIn, receiving } from './received-door.ts';
import { startNameServer, type TestNameServer, txt, type Zone } from './transport/name-server.ts';
import { type Received, type Sink, startSink } from './transport/smtp-sink.ts';

let dns: TestNameServer;
let sink: Sink;
let service: LiveService;
let port: number;
let receivedBy: ReturnType<typeof receiving>['receivedBy'];
let detail: ReturnType<typeof receiving>['detail'];

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PRIVATE = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
const KEY = `v=DKIM1; k=rsa; p=${publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`;
const record = (value: string) => txt(...(value.match(/.{1,255}/gs) ?? []));

/** The zone of the world, with the keys of the service's domain. */
const zoneOf = (domain: Email): Zone => ({
  'customer.example TXT': [txt('v=spf1 ip4:127.0.0.1 -all')],
  '_dmarc.customer.example TXT': [txt('v=DMARC1; p=reject')],
  's1._domainkey.customer.example TXT': [record(KEY)],
  's1._domainkey.list.example TXT': [record(KEY)],
  ...Object.fromEntries(
    domain.dnsRecords
      .filter(({ type, name }: Email) => type === 'TXT' && name.includes('_domainkey'))
      .map(({ name, value }: Email) => [`${name} TXT`, [record(value)]]),
  ),
});

beforeAll(async () => {
  dns = await startNameServer({ 'customer.example TXT': [txt('v=spf1 ip4:127.0.0.1 -all')] });
  sink = await startSink();
  port = await freePort();
  service = await startLiveService({
    transport: relayTo(sink.port),
    environment: { INBOUND_SMTP_PORT: String(port), DNS_SERVERS: `127.0.0.1:${dns.server.port}` },
  });
  dns.zone = zoneOf((await service.live.get(`/v1/domains/${service.domainId}`)).body.data);
  ({ receivedBy, detail } = receiving(service));
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
  await dns[Symbol.asyncDispose]();
});

const forwarding = (localPart: string, to: readonly string[], by: LiveService = service) =>
  receiving(by).exactly(localPart, { action: { type: 'forward', to } });

/** A message of a customer with a signature of their domain. */
async function signed(more: Readonly<Record<string, string>> = {}): Promise<string> {
  const message = aMail(
    { From: 'Ada <ada@customer.example>', ...more },
    'A line with  two spaces \r\nand more',
  );
  const key = { signingDomain: 'customer.example', selector: 's1', privateKey: PRIVATE };
  const { signatures } = await dkimSign(message, { ...key, signatureData: [key] });
  return signatures + message;
}

/** Hands a message in for an address that forwards, and waits for the copies that leave. */
async function passed(localPart: string, from: string, raw: string, copies = 1) {
  const before = sink.received.length;
  const replies = await handIn(port, from, [`${localPart}@sender.example`], raw);
  expect(replies.at(-1)).toStartWith('250 ');
  return eventually('the copies', async () =>
    sink.received.length >= before + copies ? sink.received.slice(before) : undefined,
  );
}

const atTarget = ({ raw, from }: Received) =>
  checkSender(
    { client: '127.0.0.1', helo: 'posthorn.test', from, raw },
    createResolver([dns.server], { timeoutMs: 60_000, rounds: 1 }),
  );

/** The forwarded message, as soon as its email is in that state. */
const fateOf = (routeId: string, status: string): Promise<Email> =>
  eventually(`a message that is ${status}`, async () => {
    const [item] = await receivedBy(routeId);
    const found = item && (await detail(item.id));
    return found?.forward?.status === status ? found : undefined;
  });

describe('a forwarded message', () => {
  test('keeps every octet, so that the signature of its author holds, and passes ARC', async () => {
    const route = await forwarding('signed', ['team@sender.example']);
    const raw = await signed();
    const [copy] = await passed('signed', 'ada@customer.example', raw);
    if (!copy) throw new Error('No copy.');
    expect(copy.raw.toString('latin1')).toEndWith(raw);
    expect(copy.to).toEqual(['team@sender.example']);
    const { arc, dkim } = await atTarget(copy);
    expect([arc.result, dkim]).toEqual(['pass', { result: 'pass', domains: ['customer.example'] }]);
    const head = copy.raw.toString('latin1').slice(0, -raw.length);
    expect(head.replace(/\r\n /g, ' ')).toMatch(
      /ARC-Authentication-Results: i=1; [^;]+; spf=pass smtp.mailfrom=customer.example; dkim=pass header.d=customer.example; dmarc=pass header.from=customer.example; arc=none/,
    );
    expect(head).toStartWith('Received: from client.example ([127.0.0.1])');
    const found = await fateOf(route.id, 'sent');
    expect([found.status, found.forward.recipients]).toEqual([
      'forwarded',
      [{ address: 'team@sender.example', status: 'sent' }],
    ]);
  });

  test('continues the chain of those that have sealed it before', async () => {
    await forwarding('listed', ['team@sender.example']);
    const message = await signed({ Subject: 'From a list' });
    const seal = { signingDomain: 'list.example', selector: 's1', privateKey: PRIVATE };
    const set = await sealMessage(Buffer.from(message), {
      ...seal,
      cv: 'none',
      authResults: 'list.example; spf=pass',
    } as never);
    const [copy] = await passed('listed', 'bounces@customer.example', set.toString() + message);
    if (!copy) throw new Error('No copy.');
    expect(copy.raw.toString().replace(/\r\n /g, ' ')).toContain('ARC-Seal: i=2;');
    expect((await atTarget(copy)).arc.result).toBe('pass');
  });

  test('does not hide that the chain before it is broken', async () => {
    await forwarding('broken', ['team@sender.example']);
    const message = await signed({ Subject: 'From a list' });
    const seal = { signingDomain: 'list.example', selector: 's1', privateKey: PRIVATE };
    const set = await sealMessage(Buffer.from(message), {
      ...seal,
      cv: 'none',
      authResults: 'list.example; spf=pass',
    } as never);
    const changed = message.replace('From a list', 'From a lost');
    const [copy] = await passed('broken', 'bounces@customer.example', set.toString() + changed);
    if (!copy) throw new Error('No copy.');
    expect(copy.raw.toString().replace(/\r\n /g, ' ')).toMatch(/ARC-Seal: i=2; a=rsa-sha256; t=\d+; cv=fail/);
    expect((await atTarget(copy)).arc.result).toBe('fail');
  });

  test('goes to each target as a separate copy, from a return path that names it', async () => {
    const to = ['one@sender.example', 'two@sender.example'];
    const route = await forwarding('both', to);
    const copies = await passed('both', 'ada@customer.example', aMail(), 2);
    expect(copies.flatMap((copy) => copy.to).sort()).toEqual(to);
    for (const { from } of copies) expect(from).toMatch(/^SRS0=[0-9a-z]{16}=[0-9a-z]{2}=[01]=[0-9a-z]{24}@/);
    await fateOf(route.id, 'sent');
    // The bounce of one is the fate of that one, and leaves for no one.
    const path = copies.find((copy) => copy.to[0] === 'two@sender.example')?.from ?? '';
    const sentBefore = sink.received.length;
    const bounce = dsn({
      status:
        'Reporting-MTA: dns; mx.receiver.example\n\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 no such user\n',
    });
    expect((await handIn(port, '', [path], bounce)).at(-1)).toStartWith('250 ');
    const [item] = await receivedBy(route.id);
    expect((await detail(item.id)).forward.recipients).toEqual([
      { address: 'one@sender.example', status: 'sent' },
      { address: 'two@sender.example', status: 'failed' },
    ]);
    expect(sink.received).toHaveLength(sentBefore);
    // A path that was not signed here is unknown.
    const forged = path.replace(/=([01])=/, (_, at) => `=${1 - at}=`);
    expect((await handIn(port, '', [forged], bounce))[1]).toStartWith('550 5.1.1 ');
  });

  test('that is a report keeps its null sender, so that no one answers it', async () => {
    await forwarding('reports-of-all', ['team@sender.example']);
    const [copy] = await passed('reports-of-all', '', aMail({ 'Auto-Submitted': 'auto-replied' }));
    expect(copy?.from).toBe('');
  });

  test('whose author is forgotten is in no email any more', async () => {
    const route = await forwarding('forgets', ['team@sender.example']);
    await service.live.post('/v1/contacts', { email: 'leaver@customer.example' });
    const raw = aMail(
      { From: 'Lee <leaver@customer.example>', Subject: 'A secret' },
      'leaver@customer.example wrote this',
    );
    await passed('forgets', 'leaver@customer.example', raw);
    const { emailId } = (await fateOf(route.id, 'sent')).forward;
    await service.live.delete('/v1/contacts/leaver@customer.example');
    await eventually('the erasure', async () =>
      (await receivedBy(route.id)).length === 0 ? true : undefined,
    );
    const [row] = await service.service.database.query<{ text: string }>(
      'select row_to_json(e)::text as text from emails e where id = $1',
      [emailId],
    );
    expect(row?.text).not.toMatch(/leaver|A secret/i);
    const left = await fetch(`${service.url}/v1/emails/${emailId}/raw`, {
      headers: { authorization: `Bearer ${service.keys.live}` },
    });
    expect(await left.text()).not.toMatch(/leaver/);
  });

  test('whose author is forgotten is in none of its rounds, also once it is deleted', async () => {
    const route = await forwarding('rounds', ['team@sender.example']);
    await service.live.post('/v1/contacts', { email: 'rounds@customer.example' });
    const raw = aMail({ From: 'Ro <rounds@customer.example>', Subject: 'Each round' });
    await passed('rounds', 'rounds@customer.example', raw);
    const first = await fateOf(route.id, 'sent');
    const before = sink.received.length;
    await service.live.post(`/v1/received/${first.id}/redeliver`, {});
    await eventually('the copy', async () => (sink.received.length > before ? true : undefined));
    expect((await service.live.delete(`/v1/received/${first.id}`)).status).toBe(204);
    const naming = (): Promise<readonly object[]> =>
      service.service.database.query(
        `select id from emails e where row_to_json(e)::text ~ 'rounds@customer|Each round'`,
      );
    expect(await naming()).toHaveLength(2);
    await service.live.delete('/v1/contacts/rounds@customer.example');
    await eventually('the erasure', async () => ((await naming()).length === 0 ? true : undefined));
  });

  test('is forwarded again when it is asked for', async () => {
    const route = await forwarding('again', ['team@sender.example']);
    await passed('again', 'ada@customer.example', aMail());
    const first = await fateOf(route.id, 'sent');
    const before = sink.received.length;
    expect((await service.live.post(`/v1/received/${first.id}/redeliver`, {})).status).toBe(200);
    const second = await eventually('another email', async () => {
      const found = await detail(first.id);
      return found.forward.emailId !== first.forward.emailId ? found : undefined;
    });
    expect(second.status).toBe('forwarded');
    await eventually('the copy', async () => (sink.received.length > before ? true : undefined));
    const acts = await service.live.get('/v1/audit-log?action=received.redelivered');
    expect(acts.body.data[0]).toMatchObject({ target: { id: first.id } });
  });
});

describe('a message that comes back', () => {
  test('to the address that has forwarded it is refused as a loop', async () => {
    await forwarding('circle', ['team@sender.example']);
    const [copy] = await passed('circle', 'ada@customer.example', aMail());
    if (!copy) throw new Error('No copy.');
    const replies = await handIn(port, copy.from, ['circle@sender.example'], copy.raw);
    expect(replies.at(-1)).toStartWith('554 5.4.6 ');
    // A tag makes no other address of it; another address takes it.
    expect((await handIn(port, copy.from, ['circle+x@sender.example'], copy.raw)).at(-1)).toStartWith(
      '554 5.4.6 ',
    );
    const other = await receiving(service).exactly('no-circle');
    expect((await handIn(port, copy.from, ['no-circle@sender.example'], copy.raw)).at(-1)).toStartWith(
      '250 ',
    );
    expect(await receivedBy(other.id)).toHaveLength(1);
  });

  test('between two installations that forward to each other ends', async () => {
    const [here, there] = [await freePort(), await freePort()];
    const one = await startLiveService({
      transport: relayTo(there),
      environment: { INBOUND_SMTP_PORT: String(here), SECRET_KEY: 'one-for-tests-one-for-tests-one-1' },
    });
    await using _one = one;
    const two = await startLiveService({
      transport: relayTo(here),
      environment: { INBOUND_SMTP_PORT: String(there), SECRET_KEY: 'two-for-tests-two-for-tests-two-2' },
    });
    await using _two = two;
    const a = await forwarding('a', ['b@sender.example'], one);
    const b = await forwarding('b', ['a@sender.example'], two);
    const replies = await handIn(here, 'ada@customer.example', ['a@sender.example'], aMail());
    expect(replies.at(-1)).toStartWith('250 ');
    const end = await eventually('the end', async () => {
      const [item] = await receiving(two).receivedBy(b.id);
      const found = item && (await receiving(two).detail(item.id));
      return found?.forward?.status === 'failed' ? found : undefined;
    });
    expect(end.forward.recipients).toEqual([{ address: 'a@sender.example', status: 'failed' }]);
    expect(await receiving(one).receivedBy(a.id)).toHaveLength(1);
    expect(await receiving(two).receivedBy(b.id)).toHaveLength(1);
    const { events } = (await two.live.get(`/v1/emails/${end.forward.emailId}`)).body.data;
    expect(events.at(-1).data).toMatchObject({ smtpCode: 554, enhancedCode: '5.4.6' });
    // The loop is no fault of the address.
    expect((await two.live.get('/v1/suppressions')).body.data).toEqual([]);
  });
});

describe('the targets of a forward', () => {
  const route = (to: unknown, client = service.live, action: object = { type: 'forward', to }) =>
    client.post('/v1/inbound-routes', {
      domainId: service.domainId,
      match: { type: 'exact', localPart: crypto.randomUUID().slice(0, 8) },
      action,
    });

  test('are people of the workspace', async () => {
    const stranger = await route(['team@sender.example', 'someone@elsewhere.example']);
    expect([stranger.status, stranger.body.error.details]).toEqual([
      422,
      [expect.objectContaining({ path: '/body/action/to/1' })],
    ]);
    expect((await route(['team@sender.example'])).body.data.action).toEqual({
      type: 'forward',
      url: null,
      to: ['team@sender.example'],
    });
  });

  test('are one to five different addresses, of a forward alone', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, at) => `t${at}@sender.example`);
    expect((await route(many(5))).status).toBe(201);
    expect((await route(many(6))).status).toBe(422);
    expect((await route([])).status).toBe(422);
    expect((await route(undefined)).status).toBe(422);
    expect((await route(['a@sender.example', 'A@sender.example'])).status).toBe(422);
    expect((await route([], service.live, { type: 'keep', to: many(1) })).status).toBe(422);
  });

  test('get nothing once their domain is none of the workspace any more', async () => {
    const made = await service.live.post('/v1/domains', { name: 'left.example' });
    const left = await forwarding('left', ['bob@left.example']);
    expect((await service.live.delete(`/v1/domains/${made.body.data.id}`)).status).toBe(204);
    const before = sink.received.length;
    expect((await handIn(port, 'x@customer.example', ['left@sender.example'], aMail())).at(-1)).toStartWith(
      '250 ',
    );
    const found = await eventually('the end', async () => {
      const [item] = await receivedBy(left.id);
      return item?.status === 'failed' ? detail(item.id) : undefined;
    });
    expect([found.stopReason, found.forward, sink.received.length]).toEqual(['no_target', null, before]);
  });

  /** The status in the list, the detail and the email that carries it. */
  const statusesOf = async (routeId: string): Promise<readonly string[]> => {
    const [item] = await receivedBy(routeId);
    const found = await detail(item.id);
    return [item.status, found.status, found.forward.status];
  };

  test('that get no mail any more make the message fail', async () => {
    await service.live.post('/v1/suppressions', { address: 'gone@sender.example', reason: 'manual' });
    const route = await forwarding('to-gone', ['gone@sender.example']);
    await handIn(port, 'ada@customer.example', ['to-gone@sender.example'], aMail());
    await fateOf(route.id, 'failed');
    expect(await statusesOf(route.id)).toEqual(['failed', 'failed', 'failed']);
  });

  test('make the message fail once all have bounced, and not before', async () => {
    const route = await forwarding('to-two', ['left@sender.example', 'right@sender.example']);
    const copies = await passed('to-two', 'ada@customer.example', aMail(), 2);
    await fateOf(route.id, 'sent');
    const bounce = dsn({
      status:
        'Reporting-MTA: dns; mx.receiver.example\n\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 no such user\n',
    });
    const seen = [await statusesOf(route.id)];
    for (const { from } of copies) {
      expect((await handIn(port, '', [from], bounce)).at(-1)).toStartWith('250 ');
      seen.push(await statusesOf(route.id));
    }
    expect(seen).toEqual([
      ['forwarded', 'forwarded', 'sent'],
      ['forwarded', 'forwarded', 'sent'],
      ['failed', 'failed', 'failed'],
    ]);
  });

  test('of the test environment are simulated', async () => {
    const made = await receiving(service).routed(
      { type: 'exact', localPart: 'simulated' },
      { action: { type: 'forward', to: ['someone@elsewhere.example'] } },
      service.test,
    );
    const before = sink.received.length;
    const came = await service.test.post('/v1/received/test', {
      from: 'ada@customer.example',
      to: 'simulated@sender.example',
      text: 'Hello',
    });
    expect(came.status).toBe(201);
    const found = await eventually('the fate', async () => {
      const [item] = await receivedBy(made.id, service.test);
      const one = item && (await service.test.get(`/v1/received/${item.id}`)).body.data;
      return one?.forward?.status === 'delivered' ? one : undefined;
    });
    expect(found.status).toBe('forwarded');
    expect(sink.received).toHaveLength(before);
  });
});
