import { describe, expect, test } from 'bun:test';
import { sign } from '../../src/sending/webhooks/http/signature.ts';
import {
  verifyWebhook,
  verifyWebhookRequest,
  WebhookVerificationError,
} from '../../src/web/client/posthorn.ts';

const SECRET = 'whsec_k5cNwqVHr2ZtYb8XnGf3JpLs7DmTe0uAiQy4RoWh6Cg';
const PAYLOAD = '{"id":"evt_1","type":"delivered","data":{"response":"250 2.0.0 Ok – ✓"}}';
const AT = 1_780_000_000;
const received = (more: Partial<Parameters<typeof verifyWebhook>[0]> = {}) => ({
  payload: PAYLOAD,
  signature: sign(SECRET, AT, PAYLOAD),
  secret: SECRET,
  now: AT * 1_000,
  ...more,
});
const codeOf = (more: Parameters<typeof received>[0]) =>
  verifyWebhook(received(more)).then(
    () => 'verified',
    (error: WebhookVerificationError) => error.code,
  );

describe('a webhook that the client checks', () => {
  test('is the event that the service signed, as text or as bytes', async () => {
    expect(await verifyWebhook(received())).toMatchObject({ id: 'evt_1', type: 'delivered' });
    expect(await codeOf({ payload: new TextEncoder().encode(PAYLOAD) })).toBe('verified');
  });

  test('may be signed with either secret while one replaces the other', async () => {
    expect(await codeOf({ secret: ['whsec_new', SECRET] })).toBe('verified');
    expect(await codeOf({ secret: ['whsec_new', 'whsec_other'] })).toBe('WRONG_SIGNATURE');
    expect(await codeOf({ secret: [] })).toBe('WRONG_SIGNATURE');
    expect(await verifyWebhook(received({ secret: '' })).catch((error) => error)).toBeInstanceOf(TypeError);
  });

  test('is refused when anything of it is another', async () => {
    const signature = sign(SECRET, AT, PAYLOAD);
    expect(await codeOf({ payload: PAYLOAD.replace('delivered', 'bounced') })).toBe('WRONG_SIGNATURE');
    expect(await codeOf({ signature: signature.replace(`t=${AT}`, `t=${AT + 1}`) })).toBe('WRONG_SIGNATURE');
    for (const other of [null, undefined, '', 'v1=', `${signature},v1=00`, signature.toUpperCase()])
      expect(await codeOf({ signature: other })).toBe('NO_SIGNATURE');
    const array = '[]';
    expect(await codeOf({ payload: array, signature: sign(SECRET, AT, array) })).toBe('NO_EVENT');
  });

  test('is as old as the tolerance and no older, in the past and in the future', async () => {
    for (const seconds of [300, -300]) expect(await codeOf({ now: (AT + seconds) * 1_000 })).toBe('verified');
    for (const seconds of [301, -301]) expect(await codeOf({ now: (AT + seconds) * 1_000 })).toBe('TOO_OLD');
    expect(await codeOf({ now: (AT + 9) * 1_000, toleranceSeconds: 8 })).toBe('TOO_OLD');
    expect(await codeOf({ now: Number.NaN })).toBe('TOO_OLD');
  });

  test('may be a whole request', async () => {
    const body = PAYLOAD;
    const now = Math.floor(Date.now() / 1_000);
    const request = (signature: string) =>
      new Request('http://a/', { method: 'POST', body, headers: { 'X-Svc-Signature': signature } });
    expect((await verifyWebhookRequest(request(sign(SECRET, now, body)), SECRET)).id).toBe('evt_1');
    expect(await verifyWebhookRequest(request('x'), SECRET).catch((error) => error)).toBeInstanceOf(
      WebhookVerificationError,
    );
  });
});
