import type { Acceptance } from '../judge/outside-record.ts';
import type { SendRequest } from './requests.ts';

const TIMEOUT_MS = 9_000;

/** A request as it goes over the wire. */
export interface Ask {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly apiKey: string;
  readonly body?: object;
  readonly idempotencyKey?: string | null;
}

/** The response; its status is 0 when none came, and -1 when the connection was refused. */
export interface Answer {
  readonly status: number;
  readonly replayed: boolean;
  readonly body: unknown;
}

/**
 * Sends a request once, on a new connection. An HTTP client may replace a used connection and repeat the
 * request unasked: a request without a key could then be stored twice, and a refused connection would say
 * nothing about the previous try.
 */
export async function ask({ method, url, apiKey, body, idempotencyKey }: Ask): Promise<Answer> {
  try {
    const response = await fetch(url, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...(idempotencyKey ? { 'idempotency-key': idempotencyKey } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      keepalive: false,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const replayed = response.headers.get('idempotency-replayed') === 'true';
    return {
      status: response.status,
      replayed,
      body: response.status === 204 ? null : await response.json(),
    };
  } catch (error) {
    // The instance was killed or frozen, or the connection was cut.
    const status = (error as { readonly code?: unknown }).code === 'ECONNREFUSED' ? -1 : 0;
    return { status, replayed: false, body: null };
  }
}

interface Item {
  readonly index?: number;
  readonly id?: string;
  readonly error?: { readonly code: string };
}

/** Reads the answer for each email of the request. */
export function acceptancesIn(answer: Answer, { path, emails }: SendRequest): readonly Acceptance[] {
  const { status, body } = answer;
  if (status !== 202) {
    const acceptance = refusalOf(status, (body as Item | null)?.error?.code);
    return emails.map(() => acceptance);
  }
  const { data } = body as { readonly data: Item | readonly Item[] };
  const items = path === '/v1/emails' ? [data as Item] : (data as readonly Item[]);
  return emails.map((_, index) => {
    const item = items.find((one) => (one.index ?? 0) === index);
    if (item?.id) return { what: 'accepted', id: item.id };
    return item?.error ? refusalOf(STATUS[item.error.code] ?? 400, item.error.code) : { what: 'left out' };
  });
}

/** Status codes for the error codes of a batch's items that do not mean a refusal. */
const STATUS: Readonly<Record<string, number>> = {
  SERVICE_UNAVAILABLE: 503,
  INTERNAL_ERROR: 500,
  IDEMPOTENCY_IN_PROGRESS: 409,
  IDEMPOTENCY_CONFLICT: 409,
};

function refusalOf(status: number, code: string | undefined): Acceptance {
  if (status === -1 || code === 'IDEMPOTENCY_IN_PROGRESS') return { what: 'untouched' };
  if (code === 'IDEMPOTENCY_CONFLICT') return { what: 'conflict' };
  return { what: status >= 400 && status < 500 ? 'refused' : 'unknown' };
}
