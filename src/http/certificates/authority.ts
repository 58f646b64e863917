import { setTimeout as delay } from 'node:timers/promises';
import { type AcmeAnswer, AcmeClient, AcmeRefusal, jsonOf, reasonIn } from './acme-client.ts';
import { certificateRequest, newEcKey } from './certificate-request.ts';

/** The state of an order between two tries, and between two processes. Keys are in PEM. */
export interface OrderState {
  readonly accountKey: string | null;
  readonly accountUrl: string | null;
  readonly orderUrl: string | null;
  readonly orderKey: string | null;
}

/** The part of an order that must be durable before it continues. */
export type OrderProgress = Partial<OrderState> & {
  readonly challenge?: { readonly token: string; readonly answer: string };
};

/** The authority, the host and the account of an order. */
export interface OrderRequest {
  readonly directoryUrl: string;
  readonly host: string;
  /** The authority's contact address; null for none. */
  readonly email: string | null;
  /** The trusted authorities in PEM for the connection to the directory; null for the runtime's own. */
  readonly ca: string | null;
  readonly state: OrderState;
  /** Makes progress durable. */
  readonly save: (progress: OrderProgress) => Promise<void>;
  readonly signal: AbortSignal;
  readonly waits: OrderWaits;
}

/**
 * The shortest time between two polls of the authority, and the time between storing an answer and asking for
 * its validation.
 */
export interface OrderWaits {
  readonly pollMs: number;
  readonly settleMs: number;
  /** Tests replace it. */
  readonly pause?: (ms: number) => Promise<void>;
}

/**
 * The longest time between two polls, whatever the authority asks for: an order has four minutes, and a timer
 * of more than 2^31 - 1 ms ends at once.
 */
const LONGEST_POLL_MS = 30_000;

/** The alphabet of base64url (RFC 8555, 8.3). Authorities use 43 characters; more than 128 are not stored. */
const TOKEN = /^[\w-]{1,128}$/;

/** A certificate chain with its key, in PEM. */
export interface IssuedCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** An order or authorization as the authority shows it, and the wait that it asks for. */
interface Resource {
  readonly url: string;
  readonly retryAfterMs: number;
  readonly status: string;
  readonly authorizations: readonly string[];
  readonly challenges: readonly Challenge[];
  readonly finalize: string;
  readonly certificate: string;
  readonly error?: Problem;
}

interface Challenge {
  readonly type: string;
  readonly url: string;
  readonly token: string;
  readonly status: string;
  readonly error?: Problem;
}

type Problem = Readonly<Record<string, unknown>>;

const resourceIn = (url: string, { text, retryAfterMs }: AcmeAnswer): Resource => ({
  status: 'missing',
  authorizations: [],
  challenges: [],
  finalize: '',
  certificate: '',
  ...jsonOf(text),
  url,
  retryAfterMs,
});

/**
 * Orders a certificate for one host by HTTP-01 (RFC 8555, 7 and 8.3), or resumes the order in `state`. The
 * key is durable before the order is finalized, so that an issued certificate can be fetched after a crash.
 * @throws the authority's refusals, in its words
 */
export async function obtain(request: OrderRequest): Promise<IssuedCertificate> {
  const { directoryUrl, email, ca, state, save, signal } = request;
  const accountKey = state.accountKey ?? newEcKey();
  if (state.accountKey === null) await save({ accountKey, accountUrl: null, orderUrl: null, orderKey: null });
  const accountUrl = state.accountKey === null ? null : state.accountUrl;
  const client = new AcmeClient({ directoryUrl, accountKey, accountUrl, ca, signal });
  if (accountUrl === null) await save({ accountUrl: await client.open(email) });
  const order = new CertificateOrder(client, request);
  const resumed =
    accountUrl === null || state.orderUrl === null || state.orderKey === null
      ? null
      : await order.resume(state.orderUrl, state.orderKey);
  return order.complete(resumed ?? (await order.begin()));
}

interface StartedOrder {
  readonly order: Resource;
  readonly key: string;
}

/** One order, from its first request to the download of the certificate. */
class CertificateOrder {
  constructor(
    private readonly client: AcmeClient,
    private readonly request: OrderRequest,
  ) {}

  /** The order of an earlier try; null when the authority does not know it or has given it up. */
  async resume(url: string, key: string): Promise<StartedOrder | null> {
    const order = await this.#read(url).catch(() => null);
    this.request.signal.throwIfAborted();
    return order === null || order.status === 'invalid' ? null : { order, key };
  }

  async begin(): Promise<StartedOrder> {
    const { host, save } = this.request;
    const key = newEcKey();
    const identifiers = [{ type: 'dns', value: host }];
    const answer = await this.client.post(await this.client.address('newOrder'), { identifiers });
    if (answer.location === null) throw new Error('The certificate authority gives the order no address.');
    await save({ orderUrl: answer.location, orderKey: key });
    return { order: resourceIn(answer.location, answer), key };
  }

  /** Takes each step that the order waits for, and polls in between (RFC 8555, 7.1.6). */
  async complete({ order: first, key }: StartedOrder): Promise<IssuedCertificate> {
    let order = first;
    let isProved = false;
    let isFinalized = false;
    while (order.status !== 'valid') {
      if (order.status === 'pending' && !isProved) {
        isProved = true;
        for (const url of order.authorizations) await this.#prove(await this.#read(url));
        order = await this.#read(order.url);
      } else if (order.status === 'ready' && !isFinalized) {
        const finalized = await this.#finalize(order, key);
        isFinalized = finalized !== null;
        order = finalized ?? (await this.#poll(order));
      } else if (['pending', 'ready', 'processing'].includes(order.status)) {
        order = await this.#poll(order);
      } else {
        throw new Error(
          `The order became ${order.status}: ${reasonIn(order.error) || 'the authority gives no reason'}.`,
        );
      }
    }
    return { certificate: chainIn((await this.client.post(order.certificate)).text), key };
  }

  /**
   * Null when the order is not ready yet: some authorities say so of an order that they have just shown as
   * ready.
   */
  async #finalize({ url, finalize }: Resource, key: string): Promise<Resource | null> {
    const csr = (await certificateRequest(this.request.host, key)).toString('base64url');
    try {
      return resourceIn(url, await this.client.post(finalize, { csr }));
    } catch (error) {
      if (error instanceof AcmeRefusal && error.type === 'orderNotReady') return null;
      throw error;
    }
  }

  async #prove(pending: Resource): Promise<void> {
    if (pending.status !== 'pending') return;
    const { host, save, waits } = this.request;
    const challenge = pending.challenges.find(({ type }) => type === 'http-01');
    if (!challenge) throw new Error('The authority offers no HTTP-01 challenge for this host.');
    const { token, url } = challenge;
    if (typeof token !== 'string' || !TOKEN.test(token))
      throw new Error(
        'The authority gives the challenge a token that is not 1 to 128 characters of base64url.',
      );
    await save({ challenge: { token, answer: this.client.keyAuthorization(token) } });
    await this.#pause(waits.settleMs);
    if (challenge.status === 'pending') await this.client.post(url, {});
    let authorization = await this.#read(pending.url);
    while (authorization.status === 'pending') authorization = await this.#poll(authorization);
    if (authorization.status === 'valid') return;
    const why = authorization.challenges.map(({ error }) => reasonIn(error)).find((reason) => reason !== '');
    throw new Error(`The authority could not validate ${host}: ${why ?? `it says ${authorization.status}`}.`);
  }

  async #read(url: string): Promise<Resource> {
    return resourceIn(url, await this.client.post(url));
  }

  /** Reads a resource again, after the time that the authority asked for, within bounds. */
  async #poll({ url, retryAfterMs }: Resource): Promise<Resource> {
    await this.#pause(Math.max(this.request.waits.pollMs, Math.min(retryAfterMs, LONGEST_POLL_MS)));
    return this.#read(url);
  }

  async #pause(ms: number): Promise<void> {
    const { signal, waits } = this.request;
    await (waits.pause?.(ms) ?? delay(ms, undefined, { signal }));
  }
}

/** The chain in an answer, which may hold nothing but certificates (RFC 8555, 9.1). */
function chainIn(text: string): string {
  if (/^-----BEGIN (?!CERTIFICATE-----)/m.test(text) || !text.includes('-----BEGIN CERTIFICATE-----'))
    throw new Error('The authority answered the download with something else than certificates.');
  return text;
}
