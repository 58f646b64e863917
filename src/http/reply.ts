import { envelope, Failure, STATUS_OF } from './failure.ts';
import type { Standing } from './rate-limit.ts';
import { Document, Page, Replay } from './route.ts';

/** What every response says besides its answer. */
export interface Circumstances {
  readonly requestId: string;
  /** Null where addresses are not limited, and on a refusal per key, which has no such headers. */
  readonly standing: Standing | null;
  /** The status of a success. */
  readonly status: number;
  readonly baseUrl: string;
}

type Extra = Readonly<Record<string, string>>;

const HEADERS: Extra = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' };

/** An API speaks to programs: nothing here is to be cached, framed or run. */
const API_HEADERS: Extra = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/** Turns whatever a handler or a check answered into the response on the wire. */
export function reply(answer: unknown, circumstances: Circumstances): Response {
  if (answer instanceof Failure) return refusal(answer, circumstances);
  if (answer instanceof Document) return document(answer, circumstances);
  if (answer instanceof Replay) {
    return json(answer.status, { data: answer.body }, circumstances, { 'idempotency-replayed': 'true' });
  }
  if (answer instanceof Page) {
    return json(circumstances.status, { data: answer.data, pagination: answer.pagination }, circumstances);
  }
  return json(circumstances.status, { data: answer }, circumstances);
}

function refusal(failure: Failure, circumstances: Circumstances): Response {
  const status = STATUS_OF[failure.code];
  const { retryAfterSeconds } = failure.extra;
  return json(status, envelope(failure, circumstances.baseUrl), circumstances, {
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
    // RFC 9110, 15.5.2: a 401 names the scheme it wants.
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
  });
}

function json(status: number, body: unknown, circumstances: Circumstances, extra: Extra = {}): Response {
  const headers = { ...HEADERS, ...API_HEADERS, ...general(circumstances), ...extra };
  if (status === 204) return new Response(null, { status, headers });
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...headers, 'content-type': 'application/json' },
  });
}

function document({ content, contentType, extra }: Document, circumstances: Circumstances): Response {
  const type = contentType === null ? {} : { 'content-type': contentType };
  return new Response(content, {
    status: extra.status ?? circumstances.status,
    headers: { ...HEADERS, ...general(circumstances), ...type, ...extra.headers },
  });
}

function general({ requestId, standing }: Circumstances): Extra {
  if (!standing) return { 'x-request-id': requestId };
  return {
    'x-request-id': requestId,
    'x-ratelimit-limit': String(standing.limit),
    'x-ratelimit-remaining': String(standing.remaining),
    'x-ratelimit-reset': String(standing.resetSeconds),
  };
}
