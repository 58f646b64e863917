import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { issueKey } from '../../src/accounts/api-keys/issue.ts';
import { createWorkspace } from '../../src/accounts/workspace/commands.ts';
import { returnPathFor } from '../../src/mail/inbound/verp.ts';
import { LARGEST_INBOUND } from '../../src/mail/received/inbound-server.ts';
import { returnToken } from '../../src/sending/emails/send/return-token.ts';
import { leaveAddress } from '../../src/sending/tracking/api.ts';
import { type Client, createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { type Email, type LiveService, startLiveService } from '../support/live-service.ts';
import { type S3, startS3 } from '../support/s3.ts';
import { inline, received, stored, TOPIC } from '../support/ses-receipt.ts';
import { snsBody, startSns } from '../support/sns.ts';
import { arf, dsn } from '../unit/transport/reports.ts';
import { addresses, aMail, receiving } from './received-door.ts';

const THEIRS = 'arn:aws:sns:eu-west-1:123456789012:theirs';
const STRANGE = 'arn:aws:sns:eu-west-1:999999999999:inbound';

let sns: ReturnType<typeof startSns>;
let s3: S3;
let service: LiveService;
let other: Client;
const otherId = `ws_${'0'.repeat(23)}1`;
let otherDomain: string;
const rooms = new AsyncDisposableStack();

beforeAll(async () => {
  sns = rooms.use(startSns());
  s3 = rooms.use(await startS3());
  // The setting names the second workspace, which is made afterwards.
  service = rooms.use(await startLiveService({ environment: environment() }));
  const { database } = service.service;
  const made = await createWorkspace(database, { name: 'Other', plan: 'growth', owner: null }, Date.now());
  await database.query(
    `insert into workspaces select (jsonb_populate_record(w, jsonb_build_object('id', $1::text))).* from workspaces w where id = $2`,
    [otherId, made],
  );
  const key = { workspaceId: otherId, livemode: true, name: 'Other', permissions: ['*'] as const };
  other = createClient(service.url, await issueKey(service.service.engine, key, Date.now()));
  otherDomain = (await other.post('/v1/domains', { name: 'theirs.example' })).body.data.id;
});
afterAll(() => rooms.disposeAsync());

const environment = (more: Readonly<Record<string, string>> = {}) => ({
  SES_INBOUND_TOPICS: `${TOPIC}, ${THEIRS}=${otherId}`,
  SES_INBOUND_BUCKET: 's3://bodies/mail/in',
  SES_INBOUND_ENDPOINT: s3.environment.BODY_STORE_ENDPOINT as string,
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  ...more,
});

async function post(body: string, at = service): Promise<number> {
  const response = await fetch(`${at.url}/callbacks/ses/inbound`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain; charset=UTF-8' },
    body,
  });
  await response.text();
  return response.status;
}

const tell = (message: object | string, topic = TOPIC, at = service): Promise<number> =>
  post(
    snsBody('Notification', topic, {
      Message: typeof message === 'string' ? message : JSON.stringify(message),
    }),
    at,
  );

const latest = async (address: string, client = service.live): Promise<Email> => {
  const [item] = (await client.get(`/v1/received?address=${encodeURIComponent(address)}`)).body.data;
  return item && (await client.get(`/v1/received/${item.id}`)).body.data;
};
const countOf = async (address: string, client = service.live): Promise<number> =>
  (await client.get(`/v1/received?address=${encodeURIComponent(address)}`)).body.data.length;

describe('a subscription', () => {
  test('is confirmed for a topic of the setting, and for no other', async () => {
    const confirmation = { Message: 'Confirm', SubscribeURL: sns.confirmUrl, Token: 't' };
    expect(await post(snsBody('SubscriptionConfirmation', TOPIC, confirmation))).toBe(204);
    expect(sns.asked.filter((url) => url === sns.confirmUrl)).toHaveLength(1);
    expect(await post(snsBody('SubscriptionConfirmation', STRANGE, confirmation))).toBe(403);
    const elsewhere = { ...confirmation, SubscribeURL: 'https://sns.eu-west-1.amazonaws.com.evil.example/' };
    expect(await post(snsBody('SubscriptionConfirmation', TOPIC, elsewhere))).toBe(204);
    expect(sns.asked.filter((url) => url === sns.confirmUrl)).toHaveLength(1);
    expect(sns.asked.some((url) => url.includes('evil'))).toBe(false);
  });
});

describe('a message in a notification', () => {
  test('goes through the routes octet for octet, once however often SNS repeats it, with the verdicts of SES', async () => {
    const route = await receiving(service).exactly('inline');
    const raw = Buffer.from(aMail({ To: 'inline@sender.example' }, 'Gr\xfc\xdfe'), 'latin1');
    for (let times = 0; times < 3; times++)
      expect(await tell(inline(raw, 'inline+tag@sender.example'))).toBe(204);
    expect(await countOf('inline+tag@sender.example')).toBe(1);
    const one = await latest('inline+tag@sender.example');
    expect(one).toMatchObject({
      routeId: route.id,
      status: 'kept',
      envelope: { from: 'ada@customer.example', to: 'inline+tag@sender.example', tag: 'tag' },
      authentication: { spf: 'pass', dkim: 'pass', dmarc: 'pass' },
      spam: { verdict: 'ham', score: null },
    });
    const octets = await fetch(`${service.url}/v1/received/${one.id}/raw`, {
      headers: { authorization: `Bearer ${service.keys.live}` },
    }).then((response) => response.arrayBuffer());
    expect(Buffer.from(octets).equals(raw)).toBe(true);
  });

  test('has the verdict of each check in the words of the port', async () => {
    await receiving(service).exactly('verdicts');
    const to = 'verdicts@sender.example';
    const status = (word: string) => ({ status: word });
    const of = async (more: object) => {
      expect(await tell(inline(aMail(), to, more))).toBe(204);
      const { authentication, spam } = await latest(to);
      return [authentication.spf, authentication.dkim, authentication.dmarc, spam.verdict];
    };
    const all = (word: string) => ({
      spfVerdict: status(word),
      dkimVerdict: status(word),
      dmarcVerdict: status(word),
      spamVerdict: status(word),
    });
    expect(await of(all('FAIL'))).toEqual(['fail', 'fail', 'fail', 'spam']);
    expect(await of(all('GRAY'))).toEqual(['none', 'none', 'none', 'unknown']);
    for (const word of ['PROCESSING_FAILED', 'constructor'])
      expect(await of(all(word))).toEqual(['temperror', 'temperror', 'temperror', 'unknown']);
    expect((await of({ virusVerdict: status('FAIL') })).at(-1)).toBe('virus');
    expect((await of({ spamVerdict: undefined, virusVerdict: undefined })).at(-1)).toBe('unknown');
  });

  test('of a person to an address for reports is not stored without a route, and the log says so', async () => {
    const told = () => service.logged().split('A message of SES was not stored').length;
    const before = told();
    expect(await tell(inline(aMail(), 'postmaster@sender.example'))).toBe(204);
    expect(told()).toBe(before + 1);
  });

  test('is not stored where the route refuses what SES takes for spam or finds a virus in', async () => {
    await receiving(service).exactly('strict', { spam: 'refuse' });
    const to = 'strict@sender.example';
    expect(await tell(inline(aMail(), to, { spamVerdict: { status: 'FAIL' } }))).toBe(204);
    expect(await tell(inline(aMail(), to, { virusVerdict: { status: 'FAIL' } }))).toBe(204);
    expect(await countOf(to)).toBe(0);
    expect(await tell(inline(aMail(), to))).toBe(204);
    expect(await countOf(to)).toBe(1);
  });

  test('answers the email that it names only where DMARC of SES passes', async () => {
    await receiving(service).exactly('answers');
    const to = 'answers@sender.example';
    const id = await service.send({ to: 'ada@customer.example' });
    const fields = { From: 'ada@customer.example', 'In-Reply-To': `<${id}@sender.example>` };
    await tell(inline(aMail(fields), to, { dmarcVerdict: { status: 'FAIL' } }));
    expect((await latest(to)).inReplyToEmail).toBeNull();
    await tell(inline(aMail(fields), to));
    expect((await latest(to)).inReplyToEmail).toMatchObject({ emailId: id });
  });

  test('for no route, in circles, with a large header, with thousands of addresses, or that is none is passed, since SES cannot refuse it any more', async () => {
    await receiving(service).exactly('odd');
    const to = 'odd@sender.example';
    const before = await service.service.database.query('select id from received');
    expect(await tell(inline(aMail(), 'unknown@sender.example'))).toBe(204);
    expect(await tell(inline(aMail(), 'a@elsewhere.example'))).toBe(204);
    const hop = 'Received: from a by b; Fri, 20 Nov 2026 22:43:17 +0000\r\n';
    expect(await tell(inline(hop.repeat(51) + aMail(), to))).toBe(204);
    expect(await tell(inline(aMail({ Cc: addresses(5_000) }), to))).toBe(204);
    expect(await tell('Successfully validated SNS topic for Amazon SES event publishing.')).toBe(204);
    expect(await tell(received(to, {}, { type: 'Lambda' }))).toBe(204);
    expect(await tell({ notificationType: 'Received', receipt: { recipients: 'x', action: 7 } })).toBe(204);
    expect(await service.service.database.query('select id from received')).toEqual(before);
  });

  test('that is a bounce, a complaint or unsubscribes counts for its email, without a route', async () => {
    const id = await service.send({ to: 'gone@customer.example' });
    await service.until(id, ({ status }) => status === 'delivered');
    const token = returnToken({ emailId: id, recipient: 0 }, service.signer);
    const path = returnPathFor(token, 'send.sender.example');
    expect(await tell(inline(arf('Feedback-Type: abuse\nUser-Agent: test/1\nVersion: 1\n'), path))).toBe(204);
    const { events } = (await service.live.get(`/v1/emails/${id}`)).body.data;
    expect(events.at(-1)).toMatchObject({ type: 'complained', recipient: 'gone@customer.example' });
    expect(await tell(inline(dsn({ status: '' }), path))).toBe(204);
    const address = leaveAddress({ emailId: id, recipient: 0 }, 'sender.example', service.signer);
    expect(await tell(inline(aMail(), address))).toBe(204);
    const after = (await service.live.get(`/v1/emails/${id}`)).body.data.events;
    expect(after.at(-1)).toMatchObject({ type: 'unsubscribed', recipient: 'gone@customer.example' });
  });

  test('waits at SNS while its domain is not verified', async () => {
    await receiving(service).exactly('waits');
    const to = 'waits@sender.example';
    const { database } = service.service;
    const state = (is: string) =>
      database.query('update domains set state = $2 where id = $1', [service.domainId, is]);
    // Routes are known for a second.
    const answers = (status: number, message: object) =>
      eventually(`an answer ${status}`, async () => ((await tell(message)) === status ? true : undefined));
    await state('failed');
    try {
      await answers(503, inline(aMail(), to));
    } finally {
      await state('verified');
    }
    const last = inline(aMail({ Subject: 'At last' }), to);
    await answers(204, last);
    expect((await latest(to)).subject).toBe('At last');
  });
});

describe('a message to several, of whom one has a domain that is not verified', () => {
  const state = (is: string) =>
    service.service.database.query('update domains set state = $2 where id = $1', [otherDomain, is]);

  test('is stored for the others at once, and once when it comes again for that one', async () => {
    await receiving(service).exactly('settled');
    await receiving(service).routed({ type: 'exact', localPart: 'lapsed' }, {}, other, otherDomain);
    const [ours, theirs] = ['settled@sender.example', 'lapsed@theirs.example'];
    const message = inline(aMail(), [theirs, ours]);
    // Routes are known for a second.
    const answers = (status: number, topic = TOPIC) =>
      eventually(`an answer ${status}`, async () =>
        (await tell(message, topic)) === status ? true : undefined,
      );
    await state('failed');
    try {
      const waiting = inline(aMail(), theirs);
      await eventually('it waits', async () => ((await tell(waiting)) === 503 ? true : undefined));
      expect(await tell(message)).toBe(503);
      expect([await countOf(ours), await countOf(theirs, other)]).toEqual([1, 0]);
      // A topic of that workspace waits as well.
      expect(await tell(message, THEIRS)).toBe(503);
    } finally {
      await state('verified');
    }
    await answers(204);
    expect([await countOf(ours), await countOf(theirs, other)]).toEqual([1, 1]);
  });

  test('is not held up at a topic of a workspace, nor told of, where that one is of another', async () => {
    await receiving(service).exactly('waiting');
    await receiving(service).routed({ type: 'exact', localPart: 'prompt' }, {}, other, otherDomain);
    const { database } = service.service;
    const own = (is: string) =>
      database.query('update domains set state = $2 where id = $1', [service.domainId, is]);
    await own('failed');
    try {
      const to = 'waiting@sender.example';
      await eventually('it waits', async () =>
        (await tell(inline(aMail(), to))) === 503 ? true : undefined,
      );
      expect(await tell(inline(aMail(), [to, 'prompt@theirs.example']), THEIRS)).toBe(204);
      expect(await tell(inline(aMail(), to), THEIRS)).toBe(204);
      expect(await countOf('prompt@theirs.example', other)).toBe(1);
    } finally {
      await own('verified');
    }
    await eventually('it goes on', async () =>
      (await tell(inline(aMail(), 'waiting@sender.example'))) === 204 ? true : undefined,
    );
  });
});

describe('a message in the bucket', () => {
  const put = (key: string, raw: string | Buffer) => s3.overwrite(key.replace(/^mail\//, ''), raw as string);

  test('is fetched and goes through the routes, once', async () => {
    await receiving(service).exactly('bucket');
    const to = 'bucket@sender.example';
    await put('mail/in/one', aMail({ Subject: 'From S3' }));
    for (let times = 0; times < 2; times++) expect(await tell(stored('mail/in/one', to))).toBe(204);
    expect(await countOf(to)).toBe(1);
    expect(await latest(to)).toMatchObject({ subject: 'From S3', authentication: { spf: 'pass' } });
  });

  test('is asked for again by SNS while it is missing or S3 is away, and is stored then', async () => {
    await receiving(service).exactly('late');
    const to = 'late@sender.example';
    expect(await tell(stored('mail/in/late', to))).toBe(503);
    await put('mail/in/late', aMail());
    s3.relay.freeze();
    expect(await tell(stored('mail/in/late', to))).toBe(503);
    s3.relay.thaw();
    expect(await tell(stored('mail/in/late', to))).toBe(204);
    expect(await countOf(to)).toBe(1);
  });

  test.each([
    ['another bucket', 'mail/in/one', 'private'],
    ['another prefix', 'mail/live/2026-11-24/x', 'bodies'],
    ['a way out of the prefix', 'mail/in/../live/x', 'bodies'],
    ['a way out of the bucket', 'mail/in/../../../private/x', 'bodies'],
    ['a query', 'mail/in/one?versionId=2', 'bodies'],
    ['an encoded way out', 'mail/in/%2e%2e/x', 'bodies'],
    ['a key with a plus, which some servers read as a space', 'mail/in/a+b', 'bodies'],
    ['the prefix as a name', 'mail/inner/x', 'bodies'],
    ['a long key', `mail/in/${'x'.repeat(1_025)}`, 'bodies'],
  ])('is refused in %s', async (_, key, bucket) => {
    await put('mail/inner/x', aMail());
    await put('mail/live/x', aMail());
    const before = await service.service.database.query('select id from received');
    expect(await tell(stored(key, 'bucket@sender.example', bucket))).toBe(403);
    expect(await service.service.database.query('select id from received')).toEqual(before);
  });

  test('is skipped above 32 MiB', async () => {
    const to = 'heavy@sender.example';
    const short = Buffer.from(aMail({}, ''));
    const filling = Buffer.alloc(LARGEST_INBOUND - short.length - 2, 'x');
    const most = Buffer.concat([short, filling, Buffer.from('\r\n')]);
    // The server of the other tests takes no object of that size.
    using bucket = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: ({ url }) =>
        new Response(url.endsWith('/most') ? most : Buffer.concat([most, Buffer.from('\r\n')])),
    });
    const more = { SES_INBOUND_ENDPOINT: bucket.url.origin };
    await using heavy = await startLiveService({ environment: environment(more) });
    await receiving(heavy).exactly('heavy');
    const messages = async () => (await heavy.live.get('/v1/received')).body.data as Email[];
    expect(await tell(stored('mail/in/more', to), TOPIC, heavy)).toBe(204);
    expect(await messages()).toEqual([]);
    expect(heavy.logged()).toContain('too large');
    expect(await tell(stored('mail/in/most', to), TOPIC, heavy)).toBe(204);
    expect((await messages()).map(({ size }) => size)).toEqual([LARGEST_INBOUND]);
  });
});

describe('a topic', () => {
  test('of a workspace reaches the routes and the folder of that workspace alone', async () => {
    await receiving(service).exactly('ours');
    await receiving(service).routed({ type: 'exact', localPart: 'box' }, {}, other, otherDomain);
    await tell(inline(aMail(), ['ours@sender.example', 'box@theirs.example']), THEIRS);
    expect([await countOf('ours@sender.example'), await countOf('box@theirs.example', other)]).toEqual([
      0, 1,
    ]);
    await s3.overwrite('in/shared', aMail());
    await s3.overwrite(`in/${otherId}/own`, aMail());
    expect(await tell(stored('mail/in/shared', 'box@theirs.example'), THEIRS)).toBe(403);
    expect(await tell(stored(`mail/in/${otherId}/own`, 'box@theirs.example'), THEIRS)).toBe(204);
    expect(await countOf('box@theirs.example', other)).toBe(2);
    // A topic without a workspace is the installation's: the owner of the domain gets its mail.
    await tell(inline(aMail(), ['ours@sender.example', 'box@theirs.example']));
    expect([await countOf('ours@sender.example'), await countOf('box@theirs.example', other)]).toEqual([
      1, 3,
    ]);
  });

  test('that is not named, a changed message and an old one are refused', async () => {
    await receiving(service).exactly('forged');
    const to = 'forged@sender.example';
    const message = { Message: JSON.stringify(inline(aMail(), to)) };
    const good = snsBody('Notification', TOPIC, message);
    const old = { ...message, Timestamp: new Date(Date.now() - 16 * 86_400_000).toISOString() };
    const elsewhere = {
      ...message,
      SigningCertURL: 'https://sns.eu-west-1.amazonaws.com.evil.example/SimpleNotificationService-1.pem',
    };
    for (const body of [
      snsBody('Notification', STRANGE, message),
      good.replace('customer.example', 'customer.exampl3').replace(/"Message":"/, '"Message":" '),
      snsBody('Notification', TOPIC, old),
      snsBody('Notification', TOPIC, elsewhere),
      '{}',
      'not json',
    ])
      expect(await post(body)).toBe(403);
    expect(await countOf(to)).toBe(0);
    expect(await post(good)).toBe(204);
    expect(await countOf(to)).toBe(1);
    // As long as a dead-letter queue keeps it, and the operator a day to hand it in.
    const kept = { Timestamp: new Date(Date.now() - 14.5 * 86_400_000).toISOString() };
    const late = { ...message, ...kept, Message: JSON.stringify(inline(aMail({ Subject: 'Late' }), to)) };
    expect(await post(snsBody('Notification', TOPIC, late))).toBe(204);
    expect((await latest(to)).subject).toBe('Late');
  });

  test('is not taken without the setting', async () => {
    await using plain = await startLiveService();
    expect(await tell(inline(aMail(), 'a@sender.example'), TOPIC, plain)).toBe(404);
  });

  test('is asked for again while the certificate of SNS cannot be fetched', async () => {
    await using fresh = await startLiveService({ environment: environment() });
    await receiving(fresh).exactly('calm');
    sns.fail(true);
    try {
      expect(await tell(inline(aMail(), 'calm@sender.example'), TOPIC, fresh)).toBe(503);
    } finally {
      sns.fail(false);
    }
  });
});
