import { AwsClient } from 'aws4fetch';
import { amzDate } from '../../../platform/time/clock.ts';

/** The account and its endpoint. */
export interface SesAccount {
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** A custom endpoint; null for the region's. */
  readonly endpoint: string | null;
  /** Epoch milliseconds. Amazon refuses signatures whose time is more than 15 minutes off. */
  readonly now: () => number;
}

/** A response of the API. */
export interface SesAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  /** The error's name, such as `MessageRejected`; null after a success. */
  readonly errorType: string | null;
  readonly errorMessage: string;
}

/** The API gave no response. */
export class SesUnreachable extends Error {
  override readonly name = 'SesUnreachable';
  constructor(
    message: string,
    /** False when the request surely did not reach the API. */
    readonly mayHaveArrived: boolean,
  ) {
    super(message);
  }
}

/** Calls the SES API v2 once, with a signed request. Rejects with `SesUnreachable`. */
export type SesApi = (call: {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  readonly signal: AbortSignal;
}) => Promise<SesAnswer>;

/** Creates an API client for one account. */
export const createSesApi = ({ region, accessKeyId, secretAccessKey, endpoint, now }: SesAccount): SesApi => {
  // Nothing is retried: the email's own schedule decides about another attempt, since the mail may have been
  // sent.
  const client = new AwsClient({ accessKeyId, secretAccessKey, service: 'ses', region, retries: 0 });
  const base = (endpoint ?? `https://email.${region}.amazonaws.com`).replace(/\/$/, '');
  return async ({ method, path, body, signal }) => {
    const request = await client.sign(`${base}${path}`, {
      method,
      aws: { datetime: amzDate(now()) },
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const response = await fetch(request, { signal, redirect: 'manual' }).catch(
      (error: Error & { code?: string }) => {
        throw new SesUnreachable(
          `The SES API cannot be reached: ${error.message}`,
          !NEVER_ARRIVED.test(String(error.code)),
        );
      },
    );
    return answerIn(response);
  };
};

// The codes of Bun's fetch for failures before a request is written (measured); a reset or a timeout may come
// after.
const NEVER_ARRIVED =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EPROTO|.*(CERT|ALTNAME|VERIFY|SIGNED).*)$/;

const answerIn = async (response: Response): Promise<SesAnswer> => {
  // The status is known; a body that breaks off only loses the details.
  const text = await response.text().catch(() => '');
  const body = parse(text);
  const type = response.headers.get('x-amzn-errortype') ?? String(body.__type ?? '');
  return {
    status: response.status,
    body,
    errorType: response.ok
      ? null
      : (type.split(/[:#]/).find((part) => /^[A-Za-z]+$/.test(part)) ?? 'Unknown'),
    errorMessage: response.ok ? '' : String(body.message ?? body.Message ?? `HTTP ${response.status}`),
  };
};

const parse = (text: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
};
