import { failed, isPosthornError, type PosthornError } from './failures.ts';
import type { Operations } from './operations.ts';
import { type Backoff, retryAfterOf, wait, waitAfter } from './retries.ts';

/**
 * Renders a React element to html, and to text with `plainText`: `render` of `@react-email/render` or
 * `@react-email/components`. It is given to the client, which imports nothing by itself: a bundler would need
 * the package even where no email is written in React.
 */
export type RenderReact = (
  element: never,
  options?: { readonly plainText?: boolean },
) => string | Promise<string>;

/** The options of a client. */
export interface PosthornOptions {
  /** `svc_live_…` or `svc_test_…`. It is a secret: keep it on servers. */
  readonly apiKey: string;
  /** The URL of the service: `https://mail.example.com`. */
  readonly baseUrl: string;
  /** Milliseconds that one attempt may take; 30,000 by default. */
  readonly timeoutMs?: number | undefined;
  /** The number of repeats of a failed request; 3 by default, 0 for none. */
  readonly maxRetries?: number | undefined;
  /** The bounds of the waits in between; by default 500 ms at first, and 60 s at most. */
  readonly backoff?: Backoff | undefined;
  /** The renderer of emails with `react`: `render` of `@react-email/components`. */
  readonly render?: RenderReact | undefined;
  /** Another `fetch` than the runtime's. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}

/** The options of a single call. */
export interface CallOptions {
  /** Ends the call, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The key of a POST; each changing call creates one. With your own key, a call from another process repeats
   * it as well.
   */
  readonly idempotencyKey?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly maxRetries?: number | undefined;
  /** With a test key: the test clock of the resources that the call creates. */
  readonly testClockId?: string | undefined;
  /** With a test key: what becomes of the emails of the call, such as `deferred*2, delivered, opened+5m`. */
  readonly simulate?: string | undefined;
}

/** A method and a path as the reference writes them under `/v1`. */
export type Operation = keyof Operations;

/** The parts of a request: the parameters in its path, its query and its body. */
export interface CallInput {
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: object | undefined;
  readonly body?: unknown;
}

/** The whole answer of a request that succeeded. */
export interface Answer<Data> {
  readonly data: Data;
  readonly pagination?: { readonly hasMore: boolean; readonly nextCursor: string | null };
}

/** Sends a request, again where that is safe and may help. */
export type Send = <Op extends Operation>(
  operation: Op,
  given: CallInput,
  options?: CallOptions,
) => Promise<Answer<Operations[Op]['data']>>;

/** POSTs that change nothing: sent without a key, so that their long answers need not be stored. */
const QUESTIONS: ReadonlySet<Operation> = new Set([
  'POST /audiences/preview',
  'POST /templates/render-preview',
  'POST /flows/{id}/validate',
  'POST /flows/{id}/simulate',
]);

const BACKOFF: Backoff = { firstMs: 500, mostMs: 60_000 };

/** The sender of a client. @throws TypeError where the options cannot work */
export function senderOf(client: PosthornOptions): Send {
  const { apiKey, baseUrl, backoff = BACKOFF } = client;
  if (!apiKey)
    throw new TypeError('apiKey is missing: create one in the dashboard, or with `posthorn keys create`.');
  if (!/^https?:\/\/[^/]/.test(baseUrl ?? ''))
    throw new TypeError('baseUrl must be like https://mail.example.com.');
  const base = `${baseUrl.replace(/\/+$/, '')}/v1`;
  const run = client.fetch ?? ((url: string, init: RequestInit) => fetch(url, init));

  return async (operation, given, options = {}) => {
    const [method = '', template = ''] = operation.split(' ');
    const url = base + pathOf(template, given.path ?? {}) + queryOf(given.query ?? {});
    const headers = { authorization: `Bearer ${apiKey}`, ...bodyTypeOf(given.body) } as Record<
      string,
      string
    >;
    // Created once: each retry is the same request to the service.
    if (method === 'POST' && (options.idempotencyKey !== undefined || !QUESTIONS.has(operation)))
      headers['idempotency-key'] = options.idempotencyKey ?? crypto.randomUUID();
    if (options.testClockId !== undefined) headers['x-svc-test-clock'] = options.testClockId;
    if (options.simulate !== undefined) headers['x-svc-simulate'] = options.simulate;
    const init = { method, headers, ...(given.body !== undefined && { body: bodyOf(given.body) }) };
    const { timeoutMs = client.timeoutMs ?? 30_000, maxRetries = client.maxRetries ?? 3, signal } = options;
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      const outcome = await once(run, url, init, { timeoutMs, signal, attempt });
      if (!isPosthornError(outcome)) return outcome as never;
      const {
        code,
        status,
        retryAfterSeconds = null,
      } = outcome as Extract<PosthornError, { retryAfterSeconds: unknown }>;
      const ms = waitAfter({ method, code, status, retryAfterSeconds }, attempt, backoff);
      if (ms === null || attempt > maxRetries) throw outcome;
      await wait(ms, signal);
    }
  };
}

interface Attempt {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly attempt: number;
}

/** One attempt, body included. */
async function once(
  run: NonNullable<PosthornOptions['fetch']>,
  url: string,
  init: RequestInit,
  { timeoutMs, signal, attempt: attempts }: Attempt,
): Promise<Answer<unknown> | PosthornError> {
  const ending = new AbortController();
  const stop = () => ending.abort(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    ending.abort();
  }, timeoutMs);
  try {
    // A redirect would turn a POST into a GET: it is answered as what it is, a wrong baseUrl.
    const response = await run(url, { ...init, redirect: 'manual', signal: ending.signal });
    const isFile = response.ok && isBinary(response);
    return isFile ? { data: await response.blob() } : read(response, await response.text(), attempts);
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    const [code, message] = isLate
      ? ['TIMED_OUT', `No answer within ${timeoutMs} ms.`]
      : ['CONNECTION_FAILED', `The service cannot be reached: ${(cause as Error)?.message ?? cause}`];
    return failed(code, message, { attempts, status: null }, cause);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

/**
 * True for the octets of a message or a file; its sender chooses the type, so that the header which offers to
 * store it tells.
 */
const isBinary = ({ headers }: Response): boolean =>
  /^attachment; filename(?:\*=|="em_)/.test(headers.get('content-disposition') ?? '');

/** Reads an answer: its data, or the error that it tells. */
function read(response: Response, text: string, attempts: number): Answer<unknown> | PosthornError {
  const { status, ok, headers } = response;
  if (ok && !/^application\/json/.test(headers.get('content-type') ?? ''))
    return { data: status === 204 ? null : text };
  const body = parsed(text);
  if (ok && body && 'data' in body) return body as unknown as Answer<unknown>;
  const error = body?.error as Record<string, unknown> | undefined;
  if (ok || typeof error?.code !== 'string')
    return failed('UNEXPECTED_ANSWER', `HTTP ${status} without an answer of Posthorn: is baseUrl right?`, {
      attempts,
      status,
    });
  const retryAfterSeconds = retryAfterOf(headers.get('retry-after'), Date.now());
  const requestId = headers.get('x-request-id');
  const { code, message, ...rest } = error;
  return failed(code, `${message}`, {
    suggestion: null,
    ...rest,
    attempts,
    status,
    requestId,
    ...(retryAfterSeconds !== null || code === 'RATE_LIMITED' || code === 'SERVICE_UNAVAILABLE'
      ? { retryAfterSeconds }
      : {}),
  });
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? (value as Record<string, unknown> | null) : null;
  } catch {
    return null;
  }
}

/** Fills in the path. A part that is empty, `.` or `..` would lead to another endpoint. */
const pathOf = (template: string, values: Readonly<Record<string, string | number>>): string =>
  template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = `${values[name] ?? ''}`;
    if (/^\.{0,2}$/.test(value))
      throw new TypeError(`${name} is ${value === '' ? 'missing' : 'not a valid name'}.`);
    return encodeURIComponent(value);
  });

function queryOf(query: object): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined && one !== null) search.append(name, `${one}`);
  return search.size === 0 ? '' : `?${search}`;
}

const isRaw = (body: unknown): body is Blob | string => typeof body === 'string' || body instanceof Blob;

const bodyOf = (body: unknown): string | Blob => (isRaw(body) ? body : JSON.stringify(body));

/** Text is CSV here: everything else that has fields is JSON. A Blob brings its own type. */
const bodyTypeOf = (body: unknown): Record<string, string> =>
  body === undefined
    ? {}
    : {
        'content-type': isRaw(body)
          ? (typeof body !== 'string' && body.type) || 'text/csv'
          : 'application/json',
      };

/** The body that an operation takes. */
export type Body<Op extends Operation> = Operations[Op]['body'];

/** The query that an operation takes. */
export type Query<Op extends Operation> = Operations[Op]['query'];

/** The data alone, without the frame of the answer. */
export const dataOf = async <Data>(answer: Promise<Answer<Data>>): Promise<Data> => (await answer).data;
