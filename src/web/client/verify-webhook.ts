import type { EmailEvent } from './operations.ts';

/** A webhook that is checked. */
export interface ReceivedWebhook {
  /** The raw body as it arrived. JSON that was parsed and written again has other bytes. */
  readonly payload: string | Uint8Array;
  /** The header `x-svc-signature`. */
  readonly signature: string | null | undefined;
  /** The secret of the endpoint, `whsec_…`; several while a new one is rolled out. */
  readonly secret: string | readonly string[];
  /** Seconds that the signature may be away from this clock; 300 by default. */
  readonly toleranceSeconds?: number | undefined;
  /** Another moment than now, in epoch milliseconds. */
  readonly now?: number | undefined;
}

/** Why a webhook was refused. Answer it with 400. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly code: 'NO_SIGNATURE' | 'WRONG_SIGNATURE' | 'TOO_OLD' | 'NO_EVENT';

  constructor(code: WebhookVerificationError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

const utf8 = new TextEncoder();

/** The event in a webhook, once its signature and its age are right. @throws WebhookVerificationError */
export async function verifyWebhook(received: ReceivedWebhook): Promise<EmailEvent> {
  const { payload, signature, secret, toleranceSeconds = 300, now = Date.now() } = received;
  const [, t, v1] = /^t=(\d{1,15}),v1=([0-9a-f]{64})$/.exec(signature ?? '') ?? [];
  if (t === undefined || v1 === undefined)
    throw new WebhookVerificationError('NO_SIGNATURE', 'The header x-svc-signature is missing or malformed.');
  const body = typeof payload === 'string' ? utf8.encode(payload) : payload;
  const secrets = typeof secret === 'string' ? [secret] : secret;
  const checks = await Promise.all(secrets.map((each) => isSignedBy(each, t, body, v1)));
  if (!checks.includes(true))
    throw new WebhookVerificationError(
      'WRONG_SIGNATURE',
      'The signature does not match this secret and body.',
    );
  if (!(Math.abs(now / 1_000 - Number(t)) <= toleranceSeconds))
    throw new WebhookVerificationError(
      'TOO_OLD',
      `The signature's time differs from this clock by more than ${toleranceSeconds} s.`,
    );
  return eventOf(body);
}

/** `verify` of Web Crypto compares in constant time. */
async function isSignedBy(secret: string, t: string, body: Uint8Array, v1: string): Promise<boolean> {
  if (!secret) throw new TypeError('The secret of the webhook endpoint is missing.');
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', utf8.encode(secret), algorithm, false, ['verify']);
  const head = utf8.encode(`${t}.`);
  const signed = new Uint8Array(head.length + body.length);
  signed.set(head);
  signed.set(body, head.length);
  const bytes = Uint8Array.from(v1.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  return crypto.subtle.verify('HMAC', key, bytes, signed);
}

function eventOf(body: Uint8Array): EmailEvent {
  try {
    const event = JSON.parse(new TextDecoder().decode(body)) as EmailEvent | null;
    if (typeof event?.id === 'string' && typeof event.type === 'string') return event;
  } catch {}
  throw new WebhookVerificationError('NO_EVENT', 'The body is signed but holds no event.');
}

/**
 * The same for a request of the `fetch` kind. It reads the body of the request. @throws
 * WebhookVerificationError
 */
export const verifyWebhookRequest = async (
  request: Request,
  secret: string | readonly string[],
): Promise<EmailEvent> =>
  verifyWebhook({
    payload: new Uint8Array(await request.arrayBuffer()),
    signature: request.headers.get('x-svc-signature'),
    secret,
  });
