import { describe, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import Stripe from 'stripe';
import { sign, verify } from '../../src/sending/webhooks/http/signature.ts';

const secret = `whsec_${'Zm9v'.repeat(10)}abc`;
const body = JSON.stringify({ id: 'evt_1', type: 'delivered', data: { isTest: true }, note: 'naïve ☃ 🐎' });
const now = 1_780_000_000;

describe('a signature', () => {
  test('is the hex HMAC-SHA256 of "<t>.<rawBody>", as another implementation computes it', () => {
    const expected = createHmac('sha256', secret).update(`${now}.${body}`).digest('hex');
    expect(sign(secret, now, body)).toBe(`t=${now},v1=${expected}`);
    expect(sign(secret, now, Buffer.from(body))).toBe(sign(secret, now, body));
  });

  test('is never that of the body alone', () => {
    const bare = createHmac('sha256', secret).update(body).digest('hex');
    expect(sign(secret, now, body)).not.toContain(bare);
  });
});

describe("Stripe's SDK, unchanged", () => {
  const { webhooks } = new Stripe('sk_test_unused');
  const construct = (sentBody: string, header: string, key = secret, receivedAt = now) =>
    webhooks.constructEventAsync(sentBody, header, key, 300, undefined, receivedAt * 1000);

  test('verifies what we sign', async () => {
    const event: unknown = await construct(body, sign(secret, now, body));
    expect(event).toEqual(JSON.parse(body));
  });

  const header = sign(secret, now, body);
  const refused: readonly [string, () => Promise<unknown>][] = [
    ['a changed body', () => construct(body.replace('true', 'false'), header)],
    [
      'a body that was parsed and written again',
      () => construct(JSON.stringify(JSON.parse(body), null, 1), header),
    ],
    ['a stale t', () => construct(body, header, secret, now + 301)],
    ['a t changed after signing', () => construct(body, header.replace(`t=${now}`, `t=${now + 1}`))],
    ['the old secret after a rotation', () => construct(body, header, `whsec_${'b'.repeat(43)}`)],
    ['no signature', () => construct(body, `t=${now}`)],
  ];
  for (const [name, attempt] of refused)
    test(`refuses ${name}`, async () => {
      await expect(attempt()).rejects.toThrow(Stripe.errors.StripeSignatureVerificationError);
    });
});

describe('verify', () => {
  const header = sign(secret, now, body);

  test('accepts within the tolerance, both ways, and refuses a second beyond it', () => {
    expect(verify(secret, header, body, now)).toBe(true);
    expect(verify(secret, header, body, now + 300)).toBe(true);
    expect(verify(secret, header, body, now - 300)).toBe(true);
    expect(verify(secret, header, body, now + 301)).toBe(false);
    expect(verify(secret, header, body, now - 301)).toBe(false);
  });

  test('refuses a changed body, another secret and a header of another form', () => {
    expect(verify(secret, header, `${body} `, now)).toBe(false);
    expect(verify(`${secret}x`, header, body, now)).toBe(false);
    for (const malformed of [
      '',
      't=,v1=',
      header.toUpperCase(),
      `${header},v1=00`,
      header.slice(0, -1),
      ` ${header}`,
    ])
      expect(verify(secret, malformed, body, now)).toBe(false);
  });
});
