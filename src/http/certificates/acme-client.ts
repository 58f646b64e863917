import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { VERSION } from '../../platform/config/version.ts';
import { storableText } from '../../platform/db/storable.ts';
import { seenName } from '../../platform/text/characters.ts';

// The signed requests of RFC 8555, section 6. acme-client had no release for two years, and brought axios and
// node-forge along.

/** The authority of an account, and the key that signs the account's requests. */
export interface AcmeAccount {
  readonly directoryUrl: string;
  /** An EC key on P-256 in PEM. */
  readonly accountKey: string;
  /** The account's address (`kid`); null until the authority has named it. */
  readonly accountUrl: string | null;
  /** The trusted authorities in PEM for the connection; null for the runtime's own. */
  readonly ca: string | null;
  readonly signal: AbortSignal;
}

/** A successful answer of the authority. */
export interface AcmeAnswer {
  readonly status: number;
  readonly text: string;
  /** The address of a new account or order. */
  readonly location: string | null;
  /** The wait that the authority asks for before the next poll, in ms; 0 for none. */
  readonly retryAfterMs: number;
}

/** The authority refused a request. The message is that of its problem document (RFC 7807). */
export class AcmeRefusal extends Error {
  override readonly name = 'AcmeRefusal';

  constructor(
    message: string,
    /** The last part of `urn:ietf:params:acme:error:…`; empty for an answer that is no problem document. */
    readonly type: string,
    /** The time for which the authority asks for no requests, in ms; 0 for none. */
    readonly retryAfterMs: number,
  ) {
    super(message);
  }
}

const REQUEST_MS = 20_000;
const LARGEST_ANSWER = 1_048_576;
/** A reason and a page fit together into the error that is stored. */
const LONGEST_REASON = 250;
const LONGEST_PAGE = 200;
/** An authority may refuse any nonce (RFC 8555, 6.5); Pebble does so on purpose. */
const MOST_NONCES = 6;
const ERROR_TYPE = 'urn:ietf:params:acme:error:';

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

type Json = Readonly<Record<string, unknown>>;

/** The authority redirects a request, which is not followed. */
class Redirect extends Error {
  constructor(url: string, location: string | null) {
    const target = pageIn(location, url) ?? 'no web address';
    super(
      `The certificate authority redirects ${url} to ${target}. Redirects are not followed: set ACME_DIRECTORY_URL to a directory without one.`,
    );
  }
}

/** Signs and sends the requests of one account. */
export class AcmeClient {
  readonly #key: KeyObject;
  readonly #jwk: Json;
  #accountUrl: string | null;
  #directory: Json | null = null;
  #nonce: string | null = null;

  constructor(private readonly account: AcmeAccount) {
    this.#key = createPrivateKey(account.accountKey);
    const { crv, kty, x, y } = createPublicKey(this.#key).export({ format: 'jwk' });
    // In the order of the thumbprint (RFC 7638, 3.3).
    this.#jwk = { crv, kty, x, y };
    this.#accountUrl = account.accountUrl;
  }

  /** The answer to a challenge of this token (RFC 8555, 8.1). */
  keyAuthorization(token: string): string {
    return `${token}.${createHash('sha256').update(JSON.stringify(this.#jwk)).digest('base64url')}`;
  }

  /** Opens an account for the key, or finds the one that it has, and returns its address (RFC 8555, 7.3). */
  async open(contact: string | null): Promise<string> {
    const wanted = {
      termsOfServiceAgreed: true,
      ...(contact !== null && { contact: [`mailto:${contact}`] }),
    };
    const { status, location } = await this.#signed(await this.address('newAccount'), wanted, 'jwk');
    if (location === null) throw new Error('The certificate authority gives the account no address.');
    this.#accountUrl = location;
    // An account that existed keeps its contact address until it is changed (RFC 8555, 7.3.2).
    if (status === 200) await this.post(location, wanted);
    return location;
  }

  /** The address of a resource that the directory lists. */
  async address(resource: 'newAccount' | 'newNonce' | 'newOrder'): Promise<string> {
    this.#directory ??= jsonOf((await this.#send(this.account.directoryUrl, 'GET')).text);
    return String(this.#directory[resource] ?? '');
  }

  /** Sends a request of this account; without a payload it reads (POST-as-GET). @throws AcmeRefusal */
  post(url: string, payload?: Json): Promise<AcmeAnswer> {
    return this.#signed(url, payload, 'kid');
  }

  async #signed(url: string, payload: Json | undefined, identity: 'jwk' | 'kid'): Promise<AcmeAnswer> {
    for (let tries = 1; ; tries++) {
      // A refused nonce is replaced by the one that comes with the refusal.
      if (this.#nonce === null) await this.#send(await this.address('newNonce'), 'HEAD');
      if (this.#nonce === null) throw new Error('The certificate authority gives no nonce.');
      const body = this.#sign(url, this.#nonce, payload, identity);
      this.#nonce = null;
      try {
        return await this.#send(url, 'POST', body);
      } catch (error) {
        const isRepeatable = error instanceof AcmeRefusal && error.type === 'badNonce';
        if (!isRepeatable || tries === MOST_NONCES) throw error;
      }
    }
  }

  /** A flattened JWS (RFC 7515, 7.2.2) with ES256, whose signature is not in DER (RFC 7518, 3.4). */
  #sign(url: string, nonce: string, payload: Json | undefined, identity: 'jwk' | 'kid'): string {
    const who = identity === 'jwk' ? { jwk: this.#jwk } : { kid: this.#accountUrl };
    const head = base64url(JSON.stringify({ alg: 'ES256', nonce, url, ...who }));
    const body = payload === undefined ? '' : base64url(JSON.stringify(payload));
    const signature = sign('sha256', Buffer.from(`${head}.${body}`), {
      key: this.#key,
      dsaEncoding: 'ieee-p1363',
    });
    return JSON.stringify({ protected: head, payload: body, signature: signature.toString('base64url') });
  }

  async #send(url: string, method: 'GET' | 'HEAD' | 'POST', body?: string): Promise<AcmeAnswer> {
    const { ca, signal } = this.account;
    if (!URL.canParse(url) || new URL(url).protocol !== 'https:')
      throw new Error(`The certificate authority names an address that is not https: ${url || 'none'}.`);
    try {
      const response = await fetch(url, {
        method,
        headers: {
          'user-agent': `Posthorn/${VERSION} Bun/${Bun.version}`,
          ...(method === 'POST' && { 'content-type': 'application/jose+json' }),
        },
        // Only this address is known to be https, and it is part of what is signed.
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]),
        // Some seconds lie between two requests: an authority may have closed the connection meanwhile.
        keepalive: false,
        ...(body !== undefined && { body }),
        ...(ca !== null && { tls: { ca } }),
      });
      const text = await textOf(response);
      this.#nonce = nonceIn(response.headers) ?? this.#nonce;
      const location = response.headers.get('location');
      if (REDIRECTS.includes(response.status)) throw new Redirect(url, location);
      if (!response.ok) throw refusal(url, response, text);
      return { status: response.status, text, location, retryAfterMs: retryAfterMs(response.headers) };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AcmeRefusal || error instanceof Redirect) throw error;
      throw new Error(`The certificate authority cannot be reached at ${url}: ${reasonOf(error)}.`, {
        cause: error,
      });
    }
  }
}

const base64url = (text: string): string => Buffer.from(text).toString('base64url');

async function textOf(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of response.body ?? []) {
    length += piece.length;
    if (length > LARGEST_ANSWER) throw new Error('its answer is longer than 1 MB');
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

/** A nonce that is not in base64url has to be ignored (RFC 8555, 6.5.1). */
function nonceIn(headers: Headers): string | null {
  const nonce = headers.get('replay-nonce') ?? '';
  return /^[A-Za-z0-9_-]+$/.test(nonce) ? nonce : null;
}

/** Retry-After counts seconds, or names a moment by the clock of the authority (RFC 9110, 10.2.3). */
export function retryAfterMs(headers: Headers): number {
  const wait = headers.get('retry-after') ?? '';
  const ms = /^\d{1,9}$/.test(wait)
    ? Number(wait) * 1_000
    : Date.parse(wait) - Date.parse(headers.get('date') ?? '');
  return Number.isNaN(ms) ? 0 : Math.max(ms, 0);
}

/** The refusal in the authority's words. */
function refusal(url: string, response: Response, text: string): AcmeRefusal {
  const problem = jsonOf(text);
  const type = String(problem.type ?? '');
  const said = reasonIn(problem) || `The certificate authority answered ${response.status} to ${url}`;
  // The page where a person has to act, for new terms of service for example (RFC 8555, 6.7).
  const page = pageIn(problem.instance);
  const isShort = type.startsWith(ERROR_TYPE);
  return new AcmeRefusal(
    `${said}.${page === null ? '' : ` See ${page}`}`,
    isShort ? type.slice(ERROR_TYPE.length) : '',
    retryAfterMs(response.headers),
  );
}

/** The reason in a problem document, in one line without its full stop; empty when there is none. */
export function reasonIn(problem: Json | undefined): string {
  const reason = problem?.detail ?? problem?.type;
  return typeof reason === 'string' ? inOneLine(reason, LONGEST_REASON).replace(/\.$/, '') : '';
}

/** A text that may hold words of the authority, for the log and the database. */
export const inOneLine = (text: string, most: number): string =>
  storableText(seenName(text).replace(/\s+/g, ' '), most);

/** The address of a web page, whose white space and controls are encoded; null for any other value. */
function pageIn(value: unknown, base?: string): string | null {
  if (typeof value !== 'string' || !URL.canParse(value, base)) return null;
  const { protocol, href } = new URL(value, base);
  return ['http:', 'https:'].includes(protocol) && href.length <= LONGEST_PAGE ? href : null;
}

/** The object that the text holds; an empty one for any other text. */
export function jsonOf(text: string): Json {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Json) : {};
  } catch {
    return {};
  }
}

const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
