import { envelope, Failure, STATUS_OF } from './failure.ts';
import type { RateLimitStatus } from './limits/rate-limit.ts';
import { Otherwise, Page, RawResponse, Replay, WrittenJson } from './route.ts';

/** The parts of a response that do not depend on its answer. */
export interface ResponseContext {
  readonly requestId: string;
  /** Null when addresses are not limited, and for refusals by key, which have no such headers. */
  readonly rateLimit: RateLimitStatus | null;
  /** The status of a successful answer. */
  readonly status: number;
  readonly baseUrl: string;
}

/** The other status that a route may state. */
const OTHERWISE = 200;

type Extra = Readonly<Record<string, string>>;

const HEADERS: Extra = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' };

/** Answers of an API are meant for programs: a browser must not cache, frame or run them. */
const API_HEADERS: Extra = {
  ...HEADERS,
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

const JSON_HEADERS: Extra = { ...API_HEADERS, 'content-type': 'application/json' };

/** Turns the result of a handler or a check into a response. */
export function reply(answer: unknown, context: ResponseContext): Response {
  if (answer instanceof Failure) return refusal(answer, context);
  if (answer instanceof RawResponse) return document(answer, context);
  if (answer instanceof Replay) {
    return json(answer.status, { data: answer.body }, context, { 'idempotency-replayed': 'true' });
  }
  if (answer instanceof Otherwise) return json(OTHERWISE, { data: answer.data }, context);
  if (answer instanceof Page) {
    return written(context.status, textOf(answer), context);
  }
  return json(context.status, { data: answer }, context);
}

function refusal(failure: Failure, context: ResponseContext): Response {
  const status = STATUS_OF[failure.code];
  const { retryAfterSeconds } = failure.extra;
  return json(status, envelope(failure, context.baseUrl), context, {
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
    // RFC 9110, 15.5.2: a 401 names the scheme it wants.
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
  });
}

/** The JSON of a page. Where the database has written the items, so that nobody reads them here, only they are put together. */
const textOf = ({ data, pagination }: Page<unknown>): string =>
  data[0] instanceof WrittenJson
    ? `{"data":[${(data as readonly WrittenJson<unknown>[]).map(({ text }) => text).join(',')}],"pagination":${JSON.stringify(pagination)}}`
    : JSON.stringify({ data, pagination });

const json = (status: number, body: unknown, context: ResponseContext, extra?: Extra): Response =>
  written(status, JSON.stringify(body), context, extra);

function written(status: number, body: string, context: ResponseContext, extra?: Extra): Response {
  const headers = withGeneral({ ...(status === 204 ? API_HEADERS : JSON_HEADERS) }, context);
  if (extra) Object.assign(headers, extra);
  return new Response(status === 204 ? null : body, { status, headers });
}

function document({ content, contentType, extra }: RawResponse, context: ResponseContext): Response {
  const type = contentType === null ? {} : { 'content-type': contentType };
  return new Response(content, {
    status: extra.status ?? context.status,
    headers: { ...withGeneral({ ...HEADERS }, context), ...type, ...extra.headers },
  });
}

function withGeneral(
  headers: Record<string, string>,
  { requestId, rateLimit }: ResponseContext,
): Record<string, string> {
  headers['x-request-id'] = requestId;
  if (!rateLimit) return headers;
  headers['x-ratelimit-limit'] = String(rateLimit.limit);
  headers['x-ratelimit-remaining'] = String(rateLimit.remaining);
  headers['x-ratelimit-reset'] = String(rateLimit.resetSeconds);
  return headers;
}
