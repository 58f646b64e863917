import { Agent } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import type acme from 'acme-client';

// acme-client (MIT) implements RFC 8555 with its nonces, signatures and CSRs, one call at a time; storing,
// repeating and waiting between the calls is done here.

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
  /**
   * The time between two polls of the authority, and between storing an answer and asking for its validation.
   */
  readonly waits: { readonly pollMs: number; readonly settleMs: number };
}

/** A certificate chain with its key, in PEM. */
export interface IssuedCertificate {
  readonly certificate: string;
  readonly key: string;
}

const REQUEST_MS = 20_000;
const LARGEST_ANSWER = 1_048_576;

/**
 * The time for which each authority (its origin) asked for no requests, by the Retry-After of its last
 * refusal (RFC 8555, 6.6), in ms.
 */
const waitOf = new Map<string, number>();

let loading: Promise<typeof acme> | undefined;

/**
 * The library is loaded with the first order: most installations have none, and it is a tenth of the code
 * that a start would load.
 */
const library = (): Promise<typeof acme> => {
  loading ??= import('acme-client').then(({ default: loaded }) => configured(loaded));
  return loading;
};

function configured(loaded: typeof acme): typeof acme {
  const { defaults, interceptors } = loaded.axios;
  // Without this setting, the library repeats a request refused for its rate up to five times, and waits as
  // long as the server says in between.
  Object.assign(defaults, { acmeSettings: { retryMaxAttempts: 0, retryDefaultDelay: 5 } });
  defaults.timeout = REQUEST_MS;
  defaults.maxContentLength = LARGEST_ANSWER;
  interceptors.response.use((response) => {
    const { origin } = new URL(response.config.url ?? '');
    const { 'retry-after': wait, date } = response.headers;
    const ms = /^\d{1,9}$/.test(wait) ? Number(wait) * 1_000 : Date.parse(wait) - Date.parse(date);
    const isRefusal = response.status === 429 || response.status === 503;
    waitOf.set(origin, isRefusal && ms > 0 ? ms : 0);
    return response;
  });
  return loaded;
}

/**
 * The time for which an authority asked for no requests at its last refusal, in ms; 0 when it has answered
 * since.
 */
export const askedToWaitMs = (directoryUrl: string): number => waitOf.get(new URL(directoryUrl).origin) ?? 0;

/**
 * Orders a certificate for one host by HTTP-01 (RFC 8555, 7 and 8.3), or resumes the order in `state`. The
 * key is durable before the order is finalized, so that an issued certificate can be fetched after a crash.
 * @throws the authority's refusals, in its words
 */
export async function obtain(request: OrderRequest): Promise<IssuedCertificate> {
  const { directoryUrl, host, email, ca, state, save, signal, waits } = request;
  const until = <Value>(work: Promise<Value>): Promise<Value> => abortable(work, signal);
  const { axios, crypto, Client } = await library();
  axios.defaults.httpsAgent = ca === null ? undefined : new Agent({ ca });
  const accountKey = state.accountKey ?? (await crypto.createPrivateEcdsaKey()).toString();
  if (state.accountKey === null) await save({ accountKey, accountUrl: null, orderUrl: null, orderKey: null });
  const isKnown = state.accountKey !== null && state.accountUrl !== null;
  const client = new Client({
    directoryUrl,
    accountKey,
    ...(isKnown && { accountUrl: state.accountUrl ?? '' }),
  });
  if (!isKnown) {
    await until(
      client.createAccount({ termsOfServiceAgreed: true, ...(email && { contact: [`mailto:${email}`] }) }),
    );
    await save({ accountUrl: client.getAccountUrl() });
  }

  const goOn = async () => {
    if (!isKnown || state.orderUrl === null || state.orderKey === null) return null;
    const order = await until(client.getOrder({ url: state.orderUrl } as acme.Order)).catch(() => null);
    signal.throwIfAborted();
    return order === null || order.status === 'invalid' ? null : { order, key: state.orderKey };
  };
  const begin = async () => {
    const key = (await crypto.createPrivateEcdsaKey()).toString();
    const order = await until(client.createOrder({ identifiers: [{ type: 'dns', value: host }] }));
    await save({ orderUrl: order.url, orderKey: key });
    return { order, key };
  };
  const under = (await goOn()) ?? (await begin());
  const { key } = under;
  let { order } = under;

  /** Polls until the state is none of these. */
  const past = async (...statuses: readonly acme.Order['status'][]): Promise<void> => {
    while (statuses.includes(order.status)) {
      await pause(waits.pollMs, undefined, { signal });
      order = await until(client.getOrder(order));
    }
    if (order.status === 'invalid')
      throw new Error(`The order became invalid: ${reasonIn(order) || 'the authority gives no reason'}.`);
  };

  if (order.status === 'pending') {
    for (const authorization of await until(client.getAuthorizations(order)))
      if (authorization.status === 'pending') await prove(authorization);
    await past('pending');
  }
  if (order.status === 'ready') {
    const [, csr] = await crypto.createCsr({ altNames: [host] }, key);
    order = await until(client.finalizeOrder(order, csr));
  }
  await past('ready', 'processing');
  return { certificate: await until(client.getCertificate(order)), key };

  async function prove(authorization: acme.Authorization): Promise<void> {
    const challenge = authorization.challenges.find(({ type }) => type === 'http-01');
    if (!challenge) throw new Error('The authority offers no HTTP-01 challenge for this host.');
    const answer = await client.getChallengeKeyAuthorization(challenge);
    await save({ challenge: { token: challenge.token, answer } });
    await pause(waits.settleMs, undefined, { signal });
    if (challenge.status === 'pending') await until(client.completeChallenge(challenge));
    for (;;) {
      const [now] = (await until(client.getAuthorizations(order))).filter(
        ({ url }) => url === authorization.url,
      );
      if (now && now.status !== 'pending') {
        if (now.status === 'valid') return;
        const why = now.challenges.map(reasonIn).find((reason) => reason !== '');
        throw new Error(`The authority could not validate ${host}: ${why ?? `it says ${now.status}`}.`);
      }
      await pause(waits.pollMs, undefined, { signal });
    }
  }
}

/** The problem document (RFC 7807) in a refused order or challenge, in words. */
function reasonIn(refused: object): string {
  const { error } = refused as { readonly error?: { readonly detail?: string; readonly type?: string } };
  return (error?.detail ?? error?.type ?? '').replace(/\.$/, '');
}

/**
 * Settles with the work, or rejects as soon as the signal is aborted, because the library accepts no signal.
 */
function abortable<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', stop));
}
