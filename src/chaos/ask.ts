import type { Told } from './outside-record.ts';
import type { SendRequest } from './requests.ts';

const PATIENCE_MS = 9_000;

/** A request as it goes over the wire. */
export interface Ask {
  readonly method: 'POST' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly apiKey: string;
  readonly body?: object;
  readonly idempotencyKey?: string | null;
}

/** What came back; a status of 0 when nobody said anything, of -1 when nobody took the connection. */
export interface Answer {
  readonly status: number;
  readonly replayed: boolean;
  readonly body: unknown;
}

/**
 * Asks once. Never on a connection that was used before, which an HTTP client may replace by itself and repeat the request: then
 * one without a key could be stored twice, and a refused connection would say nothing of the try before.
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
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const replayed = response.headers.get('idempotency-replayed') === 'true';
    return { status: response.status, replayed, body: await response.json() };
  } catch (error) {
    // Killed, frozen or cut off: nobody said anything.
    const status = (error as { readonly code?: unknown }).code === 'ECONNREFUSED' ? -1 : 0;
    return { status, replayed: false, body: null };
  }
}

interface Item {
  readonly index?: number;
  readonly id?: string;
  readonly error?: { readonly code: string };
}

/** What an answer says of each wish of the request. */
export function toldBy(answer: Answer, { path, wishes }: SendRequest): readonly Told[] {
  const { status, body } = answer;
  if (status !== 202) {
    const told = refusalOf(status, (body as Item | null)?.error?.code);
    return wishes.map(() => told);
  }
  const { data } = body as { readonly data: Item | readonly Item[] };
  const items = path === '/v1/emails' ? [data as Item] : (data as readonly Item[]);
  return wishes.map((_, index) => {
    const item = items.find((one) => (one.index ?? 0) === index);
    if (item?.id) return { what: 'accepted', id: item.id };
    return item?.error ? refusalOf(STATUS[item.error.code] ?? 400, item.error.code) : { what: 'left out' };
  });
}

/** Codes of a batch's items after which the email may be there, or that say nothing of it. */
const STATUS: Readonly<Record<string, number>> = {
  SERVICE_UNAVAILABLE: 503,
  INTERNAL_ERROR: 500,
  IDEMPOTENCY_IN_PROGRESS: 409,
  IDEMPOTENCY_CONFLICT: 409,
};

function refusalOf(status: number, code: string | undefined): Told {
  if (status === -1 || code === 'IDEMPOTENCY_IN_PROGRESS') return { what: 'untouched' };
  if (code === 'IDEMPOTENCY_CONFLICT') return { what: 'conflict' };
  return { what: status >= 400 && status < 500 ? 'refused' : 'unknown' };
}
