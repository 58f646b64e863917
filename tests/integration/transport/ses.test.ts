import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { createHash, createHmac } from 'node:crypto';
import { createServer } from 'node:net';
import { simpleParser } from 'mailparser';
import { generateDkimKey } from '../../../src/mail/dkim/key-pair.ts';
import { loadSigningKey } from '../../../src/mail/dkim/signing-key.ts';
import {
  IdentityRefused,
  identityState,
  registerIdentity,
  removeIdentity,
  replaceKey,
} from '../../../src/mail/transport/ses/identity.ts';
import { SesTransport } from '../../../src/mail/transport/ses/ses.ts';
import { createSesApi } from '../../../src/mail/transport/ses/ses-api.ts';
import { freePort } from '../../../src/ops/torture/free-port.ts';
import { aMessage, field } from '../../unit/transport/a-message.ts';

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body: {
    readonly Content?: { readonly Raw: { readonly Data: string } };
    readonly DkimSigningAttributes?: {
      readonly DomainSigningSelector: string;
      readonly DomainSigningPrivateKey: string;
    };
  };
  readonly signed: boolean;
}

let calls: Call[] = [];
let answer: (call: Call) => Response | Promise<Response> = () => Response.json({ MessageId: '0100-ses' });

/** A stand-in for the API that checks each signature by itself. */
const api = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: async (request) => {
    const text = await request.text();
    const { pathname } = new URL(request.url);
    const call = {
      method: request.method,
      path: pathname,
      body: text ? JSON.parse(text) : {},
      signed: isSigned(request, text),
    };
    calls.push(call);
    return answer(call);
  },
});
afterAll(() => api.stop(true));

const account = {
  region: 'eu-west-1',
  accessKeyId: 'AKID',
  secretAccessKey: 'SECRET',
  endpoint: `http://127.0.0.1:${api.port}`,
  configurationSet: null,
  topicArn: null,
  now: Date.now,
};

/** Signature Version 4, computed from its specification and not by the library under test. */
const isSigned = (request: Request, body: string): boolean => {
  const [, scope = '', names = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=AKID\/([^,]+), ?SignedHeaders=([^,]+), ?Signature=(\w+)$/.exec(
      request.headers.get('authorization') ?? '',
    ) ?? [];
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const url = new URL(request.url);
  const headers = names
    .split(';')
    .map((name) => `${name}:${name === 'host' ? url.host : request.headers.get(name)}\n`);
  const canonical = [request.method, url.pathname, '', headers.join(''), names, sha256(body)].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', request.headers.get('x-amz-date'), scope, sha256(canonical)].join('\n');
  let key: Buffer | string = 'AWS4SECRET';
  for (const part of scope.split('/')) key = createHmac('sha256', key).update(part).digest();
  return (
    scope.endsWith('/eu-west-1/ses/aws4_request') &&
    createHmac('sha256', key).update(toSign).digest('hex') === signature
  );
};

const LIMITS = { signal: new AbortController().signal, deadlineMs: 120_000 };
const error = (status: number, type: string, message = 'no') =>
  Response.json(
    { message },
    { status, headers: { 'x-amzn-errortype': `${type}:http://internal.amazon.com/` } },
  );

beforeEach(() => {
  calls = [];
  answer = () => Response.json({ MessageId: '0100-ses' });
});

const send = async (changes = {}, limits = LIMITS) => {
  const outcomes = await new SesTransport(account).send(aMessage(changes), limits);
  return outcomes.map(({ outcome, fault, subType }) => [outcome, fault, subType].filter(Boolean).join(' '));
};

describe('a message to SES', () => {
  test('goes out signed, with its envelope and its tag', async () => {
    const { privateKey } = await generateDkimKey('ed25519-sha256');
    const message = aMessage({
      from: { name: 'Shöp', address: 'shop@bücher.example' },
      recipients: ['bob@receiver.example', 'hidden@receiver.example'],
      html: '<p>Hi</p>',
      dkim: [loadSigningKey({ domain: 'bücher.example', selector: 's', pem: privateKey })],
    });
    const outcomes = await new SesTransport({ ...account, configurationSet: 'posthorn' }).send(
      message,
      LIMITS,
    );
    expect(outcomes.map(({ outcome, providerId }) => `${outcome} ${providerId}`)).toEqual([
      'accepted 0100-ses',
      'accepted 0100-ses',
    ]);
    expect(calls).toMatchObject([
      {
        method: 'POST',
        path: '/v2/email/outbound-emails',
        signed: true,
        body: {
          FromEmailAddress: 'shop@xn--bcher-kva.example',
          Destination: { ToAddresses: ['bob@receiver.example', 'hidden@receiver.example'] },
          EmailTags: [{ Name: 'emailId', Value: message.emailId }],
          ConfigurationSetName: 'posthorn',
        },
      },
    ]);
    const raw = Buffer.from(calls[0]?.body.Content?.Raw.Data ?? '', 'base64');
    expect((await simpleParser(raw)).html).toContain('Hi');
    expect(field(raw, 'DKIM-Signature')).toBeUndefined();
    expect(raw.toString()).not.toContain('hidden');
  });

  test('with an address beyond ASCII is refused without a call', async () => {
    expect(await send({ recipients: ['jürgen@receiver.example'] })).toEqual([
      'refused infrastructure General',
    ]);
    expect(calls).toEqual([]);
  });
});

describe('an SES error means', () => {
  const cases: [Response, string][] = [
    [error(400, 'MessageRejected', 'Virus found'), 'refused message ContentRejected'],
    [
      error(400, 'MessageRejected', 'Email address is not verified.'),
      'deferred infrastructure PolicyRejected',
    ],
    [error(400, 'BadRequestException'), 'refused message General'],
    [error(400, 'AccountSuspendedException'), 'deferred infrastructure PolicyRejected'],
    [error(400, 'SendingPausedException'), 'deferred infrastructure PolicyRejected'],
    [error(400, 'MailFromDomainNotVerifiedException'), 'deferred infrastructure PolicyRejected'],
    [error(404, 'NotFoundException'), 'deferred infrastructure PolicyRejected'],
    [error(429, 'TooManyRequestsException'), 'deferred infrastructure RateLimited'],
    [error(400, 'LimitExceededException'), 'deferred infrastructure RateLimited'],
    [error(403, 'SignatureDoesNotMatch'), 'deferred infrastructure AuthenticationFailed'],
    [error(413, 'Anything'), 'refused message MessageTooLarge'],
    [error(500, 'InternalFailure'), 'deferred infrastructure ConnectionFailed'],
    [error(503, 'ServiceUnavailable'), 'deferred infrastructure RateLimited'],
    [new Response('<html>', { status: 504 }), 'unknown infrastructure ConnectionFailed'],
    [
      new Response('', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }),
      'deferred infrastructure PolicyRejected',
    ],
  ];
  for (const [response, verdict] of cases)
    test(`${verdict}: ${response.status} ${response.headers.get('x-amzn-errortype')?.split(':')[0] ?? ''}`, async () => {
      answer = () => response;
      expect(await send()).toEqual([verdict]);
      expect(calls.length).toBe(1);
    });

  test('an answer that cannot be read, but says 200, is an acceptance', async () => {
    answer = () => new Response('{"Mess');
    const [outcome] = await new SesTransport(account).send(aMessage(), LIMITS);
    expect(outcome).toMatchObject({ outcome: 'accepted', providerId: null });
  });
});

describe('an SES request without an answer', () => {
  const at = async (endpoint: string, deadlineMs = 5_000) => {
    const [outcome] = await new SesTransport({ ...account, endpoint }).send(aMessage(), {
      ...LIMITS,
      deadlineMs,
    });
    return outcome?.outcome;
  };
  test('a request that surely did not arrive is deferred', async () => {
    expect(await at(`http://127.0.0.1:${await freePort()}`)).toBe('deferred');
    expect(await at('http://ses.invalid')).toBe('deferred');
    expect(await at(`https://127.0.0.1:${api.port}`)).toBe('deferred');
  });
  test('one that may have arrived is unknown', async () => {
    const dropping = createServer((socket) =>
      socket.on('data', () => socket.destroy()).on('error', () => {}),
    ).listen(0, '127.0.0.1');
    await new Promise((resolve) => dropping.once('listening', resolve));
    expect(await at(`http://127.0.0.1:${(dropping.address() as { port: number }).port}`)).toBe('unknown');
    dropping.close();
    answer = () => new Promise(() => {});
    expect(await at(account.endpoint, 150)).toBe('unknown');
  });
});

describe('a domain at SES', () => {
  const client = createSesApi(account);
  const { signal } = new AbortController();
  const OURS = { domain: 'shop.example', selector: 'ph' };

  test('is registered with our own key', async () => {
    const { privateKey } = await generateDkimKey('rsa-sha256');
    await registerIdentity(client, { domain: 'shop.example', selector: 'ph', privateKey }, signal);
    const [call] = calls;
    expect(call).toMatchObject({
      method: 'POST',
      path: '/v2/email/identities',
      signed: true,
      body: { EmailIdentity: 'shop.example' },
    });
    const attributes = call?.body.DkimSigningAttributes;
    expect(attributes?.DomainSigningSelector).toBe('ph');
    const lines = attributes?.DomainSigningPrivateKey.match(/.{1,64}/g)?.join('\n');
    const pem = `-----BEGIN PRIVATE KEY-----\n${lines}\n-----END PRIVATE KEY-----\n`;
    expect(pem).toBe(privateKey);
  });

  test('that is there keeps its key until another is set on purpose', async () => {
    answer = ({ method }) => (method === 'POST' ? error(400, 'AlreadyExistsException') : Response.json({}));
    const identity = { domain: 'shop.example', selector: 'ph', privateKey: 'x' };
    await registerIdentity(client, identity, signal);
    expect(calls.map(({ method }) => method)).toEqual(['POST']);
    await replaceKey(client, identity, signal);
    expect(calls[1]).toMatchObject({
      method: 'PUT',
      path: '/v2/email/identities/shop.example/dkim/signing',
      body: { SigningAttributesOrigin: 'EXTERNAL', SigningAttributes: { DomainSigningSelector: 'ph' } },
    });
  });

  for (const [body, state] of [
    [{ VerifiedForSendingStatus: true }, 'verified'],
    [{ VerifiedForSendingStatus: false, DkimAttributes: { Status: 'PENDING' } }, 'pending'],
    [{ DkimAttributes: { Status: 'FAILED' } }, 'failed'],
    [{ DkimAttributes: { Status: 'TEMPORARY_FAILURE' } }, 'temporaryFailure'],
    [{ VerifiedForSendingStatus: true, DkimAttributes: { Tokens: ['ph'] } }, 'verified'],
    [{ VerifiedForSendingStatus: true, DkimAttributes: { Tokens: ['old'] } }, 'otherKey'],
    [{ VerifiedForSendingStatus: true, DkimAttributes: { Status: 'NOT_STARTED' } }, 'otherKey'],
    [{}, 'pending'],
  ] as const)
    test(`is ${state} by ${JSON.stringify(body)}`, async () => {
      answer = () => Response.json(body);
      expect(await identityState(client, OURS, signal)).toBe(state);
    });

  test('may be unknown there, and removed twice', async () => {
    answer = () => error(404, 'NotFoundException');
    expect(await identityState(client, OURS, signal)).toBe('absent');
    await removeIdentity(client, 'shop.example', signal);
    expect(calls[1]).toMatchObject({ method: 'DELETE', path: '/v2/email/identities/shop.example' });
  });

  test('is not taken by an account that may not', async () => {
    answer = () => error(403, 'AccessDeniedException', 'not authorized');
    const refused = [
      registerIdentity(client, { domain: 'shop.example', selector: 'ph', privateKey: 'x' }, signal),
      replaceKey(client, { domain: 'shop.example', selector: 'ph', privateKey: 'x' }, signal),
      identityState(client, OURS, signal),
      removeIdentity(client, 'shop.example', signal),
    ];
    for (const result of await Promise.allSettled(refused))
      expect(result).toMatchObject({ status: 'rejected', reason: expect.any(IdentityRefused) });
  });
});

describe('the doctor of SES reports', () => {
  const finding = async () => (await new SesTransport(account).verify())[0];
  test('of an account in order', async () => {
    answer = () =>
      Response.json({
        SendingEnabled: true,
        ProductionAccessEnabled: true,
        SendQuota: { Max24HourSend: 200, SentLast24Hours: 3 },
      });
    expect(await finding()).toMatchObject({ ok: true, detail: 'Sent 3 of 200 in 24 hours.' });
  });
  test('of a sandbox, a pause, wrong keys, no network', async () => {
    answer = () => Response.json({ SendingEnabled: true, ProductionAccessEnabled: false });
    expect(await finding()).toMatchObject({ ok: false, detail: expect.stringContaining('sandbox') });
    answer = () => Response.json({ SendingEnabled: false });
    expect(await finding()).toMatchObject({ ok: false, detail: expect.stringContaining('paused') });
    answer = () => error(403, 'UnrecognizedClientException');
    expect(await finding()).toMatchObject({
      ok: false,
      advice: expect.stringContaining('AWS_ACCESS_KEY_ID'),
    });
    const [gone] = await new SesTransport({
      ...account,
      endpoint: `http://127.0.0.1:${await freePort()}`,
    }).verify();
    expect(gone).toMatchObject({ ok: false, advice: expect.stringContaining('SES_ENDPOINT') });
  });
});

describe('the doctor of SES reports of the configuration set', () => {
  const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:mail';
  const set = { configurationSet: 'reports', topicArn: TOPIC };
  const destination = (more: object = {}) => ({
    Enabled: true,
    MatchingEventTypes: ['SEND', 'BOUNCE', 'COMPLAINT', 'DELIVERY'],
    SnsDestination: { TopicArn: TOPIC },
    ...more,
  });
  const finding = async (found: Response | readonly object[], options: object = set) => {
    answer = ({ path }) => {
      if (path === '/v2/email/account') return Response.json({ SendingEnabled: true });
      expect(path).toBe('/v2/email/configuration-sets/reports/event-destinations');
      return found instanceof Response ? found : Response.json({ EventDestinations: found });
    };
    const [, second] = await new SesTransport({ ...account, ...options }).verify();
    return second;
  };
  const NONE = { configurationSet: null };

  test('that there is none, which it does not ask SES about', async () => {
    expect(await finding([], NONE)).toMatchObject({
      ok: true,
      detail: 'None is named.',
      advice: expect.stringContaining('SES_CONFIGURATION_SET'),
    });
    expect(calls).toHaveLength(1);
  });

  test('that it reports what happens to the topic that is listened to', async () => {
    expect(await finding([destination({ Enabled: false }), destination()])).toMatchObject({
      ok: true,
      advice: null,
    });
  });

  test.each<[string, object[] | Response, object, string]>([
    ['is unknown at SES', error(404, 'NotFoundException'), set, 'knows no reports'],
    ['has no event destination', [], set, 'no enabled event destination'],
    ['has one that is switched off', [destination({ Enabled: false })], set, 'no enabled event destination'],
    ['has none of SNS', [destination({ SnsDestination: undefined })], set, 'no enabled event destination'],
    ['reports to another service', [destination()], { ...set, topicArn: null }, 'no topic is listened to'],
    [
      'reports to another topic',
      [destination({ SnsDestination: { TopicArn: `${TOPIC}2` } })],
      set,
      'another topic',
    ],
    ['leaves something out', [destination({ MatchingEventTypes: ['DELIVERY'] })], set, 'bounce, complaint'],
    ['could not be looked at', error(500, 'InternalServiceError'), set, 'InternalServiceError'],
  ])('that it %s', async (_, found, options, detail) => {
    expect(await finding(found, options)).toMatchObject({
      ok: false,
      detail: expect.stringContaining(detail),
      advice: expect.stringMatching(/\.$/),
    });
  });

  test('that it cannot be seen, which is no fault', async () => {
    const found = await finding(error(403, 'AccessDeniedException'));
    expect(found).toMatchObject({ ok: true, advice: expect.stringContaining('ses:GetConfigurationSet') });
  });
});
