import { AwsClient } from 'aws4fetch';
import { UnavailableError } from '../errors/unavailable.ts';
import { amzDate } from '../time/clock.ts';
import type { BucketAddress } from './address.ts';
import { errorCode, type Listing, readListing } from './listing.ts';

/** The bucket, its server, and who asks. */
export interface BucketSettings extends BucketAddress {
  /** Without a slash at its end; null for that of AWS in the region. */
  readonly endpoint: string | null;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Trusted certificate authorities in PEM; null for the runtime's own list. */
  readonly ca: string | null;
  /** Epoch milliseconds. Signatures whose time is more than 15 minutes off are refused. */
  readonly now: () => number;
}

/** The octets of an answer that holds no body: a page of a listing has a thousand names. */
const MOST_ANSWER = 4_194_304;

type Method = 'PUT' | 'GET' | 'HEAD' | 'DELETE';

/** The parts of a request, besides its method. */
interface BucketRequest {
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer>;
  /** SHA-256 of the body in hexadecimal: a server that got it torn refuses it. */
  readonly hash?: string;
  /** True where nothing may be there yet. */
  readonly isNew?: boolean;
}

/**
 * A bucket of Amazon S3, or of a server that speaks its protocol. Each request is signed and sent once, and
 * ends with its signal: Bun's own S3 client takes neither a signal nor a deadline. Buckets are named in the
 * path, which every such server takes. All of it throws `UnavailableError` when the server is away, refuses,
 * or answers something else.
 */
export class Bucket {
  readonly #client: AwsClient;
  readonly #base: string;

  constructor(private readonly settings: BucketSettings) {
    const { accessKeyId, secretAccessKey, region, endpoint, bucket } = settings;
    this.#client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: 0 });
    this.#base = `${endpoint ?? `https://s3.${region}.amazonaws.com`}/${bucket}`;
  }

  /** The place of the bucket, for people. */
  get name(): string {
    const { bucket, prefix, endpoint } = this.settings;
    return `s3://${bucket}/${prefix}${endpoint === null ? '' : ` at ${endpoint}`}`;
  }

  async put(key: string, body: Uint8Array<ArrayBuffer>, hash: string, signal: AbortSignal): Promise<void> {
    const response = await this.#ask('PUT', { key, body, hash }, signal);
    await this.#expect(response, 'PUT', signal);
  }

  /**
   * Stores under a key unless it has something. Servers that do not know the condition (RFC 9110, 13.1.2)
   * ignore or refuse it.
   */
  async putNew(key: string, body: Uint8Array<ArrayBuffer>, hash: string, signal: AbortSignal): Promise<void> {
    const response = await this.#ask('PUT', { key, body, hash, isNew: true }, signal);
    await this.#text(response, signal);
    const isTaken = response.status === 412 || response.status === 409;
    if (!response.ok && !isTaken) await this.put(key, body, hash, signal);
  }

  /**
   * The number of octets of a key; null where the server does not say. A refusal has no words, so that a
   * missing key is one.
   */
  async size(key: string, signal: AbortSignal): Promise<number | null> {
    const response = await this.#ask('HEAD', { key }, signal);
    await response.body?.cancel();
    if (!response.ok) throw refused('HEAD', response.status, '');
    const length = response.headers.get('content-length');
    return length !== null && /^\d{1,15}$/.test(length) ? Number(length) : null;
  }

  /** The octets of a key, up to `most` and one more of them; null where it has none. */
  async get(key: string, most: number, signal: AbortSignal): Promise<Uint8Array | null> {
    const response = await this.#ask('GET', { key }, signal);
    if (response.status === 404) {
      const code = errorCode(await this.#text(response, signal));
      // A missing bucket proves nothing: its name may be wrong.
      if (code === 'NoSuchKey') return null;
      throw refused('GET', 404, code);
    }
    if (!response.ok) await this.#expect(response, 'GET', signal);
    return this.#octets(response, most, signal);
  }

  /** A key that has none is deleted as well. */
  async delete(key: string, signal: AbortSignal): Promise<void> {
    const response = await this.#ask('DELETE', { key }, signal);
    if (response.status === 404) {
      const code = errorCode(await this.#text(response, signal));
      if (code === 'NoSuchKey') return;
      throw refused('DELETE', 404, code);
    }
    await this.#expect(response, 'DELETE', signal);
  }

  /**
   * One page of the keys under a prefix. With `isFolders` what the names begin with, up to the next slash.
   */
  async list(
    prefix: string,
    { after, isFolders = false }: { readonly after?: string | null; readonly isFolders?: boolean },
    signal: AbortSignal,
  ): Promise<Listing> {
    const { prefix: own } = this.settings;
    const query = {
      'list-type': '2',
      prefix: `${own}${prefix}`,
      ...(isFolders && { delimiter: '/' }),
      ...(after && { 'continuation-token': after }),
    };
    const response = await this.#ask('GET', { query }, signal);
    const text = await this.#text(response, signal);
    if (!response.ok) throw refused('LIST', response.status, errorCode(text));
    const listing = readListing(text);
    if (!listing) throw new UnavailableError('The body store answered LIST without a listing.', 'no', 5);
    const within = (names: readonly string[]) =>
      names.flatMap((name) => (name.startsWith(own) ? [name.slice(own.length)] : []));
    return { keys: within(listing.keys), prefixes: within(listing.prefixes), next: listing.next };
  }

  /** True when a request without a key gets it. */
  async isPublic(key: string, signal: AbortSignal): Promise<boolean> {
    const response = await this.#fetch(new Request(this.#url({ key })), signal);
    await response.body?.cancel();
    return response.ok;
  }

  #url({ key, query }: BucketRequest): string {
    const path = key === undefined ? '' : `/${this.settings.prefix}${key}`;
    return `${this.#base}${path}${query ? `?${new URLSearchParams(query)}` : ''}`;
  }

  async #ask(method: Method, asked: BucketRequest, signal: AbortSignal): Promise<Response> {
    const { body, hash, isNew } = asked;
    const request = await this.#client.sign(this.#url(asked), {
      method,
      aws: { datetime: amzDate(this.settings.now()) },
      ...(body && { body }),
      headers: {
        ...(hash !== undefined && { 'x-amz-content-sha256': hash }),
        ...(isNew && { 'if-none-match': '*' }),
      },
    });
    return this.#fetch(request, signal);
  }

  async #fetch(request: Request, signal: AbortSignal): Promise<Response> {
    const { ca } = this.settings;
    return fetch(request, { signal, redirect: 'manual', ...(ca !== null && { tls: { ca } }) }).catch(
      (error: unknown) => {
        throw away(error, signal);
      },
    );
  }

  /**
   * Reads the answer to its end, so that its connection can be used again. @throws UnavailableError unless it
   * is a success
   */
  async #expect(response: Response, what: string, signal: AbortSignal): Promise<void> {
    const text = await this.#text(response, signal);
    if (!response.ok) throw refused(what, response.status, errorCode(text));
  }

  async #text(response: Response, signal: AbortSignal): Promise<string> {
    return new TextDecoder().decode(await this.#octets(response, MOST_ANSWER, signal));
  }

  /** The answer's octets, up to `most` and one more: the extra one shows that the answer is longer. */
  async #octets(response: Response, most: number, signal: AbortSignal): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    let length = 0;
    try {
      for await (const piece of response.body ?? []) {
        pieces.push(piece);
        length += piece.length;
        if (length > most) break;
      }
    } catch (error) {
      throw away(error, signal);
    }
    return Buffer.concat(pieces).subarray(0, most + 1);
  }
}

const away = (error: unknown, signal: AbortSignal): UnavailableError => {
  const why = signal.aborted ? 'it took too long' : error instanceof Error ? error.message : String(error);
  return new UnavailableError(`The body store cannot be reached: ${why}.`, 'no', 5, { cause: error });
};

const refused = (what: string, status: number, code: string): UnavailableError =>
  new UnavailableError(`The body store answered ${status}${code && ` ${code}`} to ${what}.`, 'no', 5);
