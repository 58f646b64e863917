import { AwsClient } from 'aws4fetch';

/** How the account is reached. */
export interface SesAccount {
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Another endpoint than that of the region; null for the region's. */
  readonly endpoint: string | null;
  /** Epoch milliseconds. Amazon refuses what is signed a quarter of an hour off. */
  readonly now: () => number;
}

/** What the API answered. */
export interface SesAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  /** `MessageRejected` and its like; null when all went well. */
  readonly errorType: string | null;
  readonly errorMessage: string;
}

/** The API gave no answer. */
export class SesUnreachable extends Error {
  override readonly name = 'SesUnreachable';
  constructor(
    message: string,
    /** False when the request surely never got there. */
    readonly mayHaveArrived: boolean,
  ) {
    super(message);
  }
}

/** One call of the SES API v2: signed, sent once, its answer read. Rejects with `SesUnreachable`. */
export type SesApi = (call: {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  readonly signal: AbortSignal;
}) => Promise<SesAnswer>;

/** An API client for one account. */
export const createSesApi = ({ region, accessKeyId, secretAccessKey, endpoint, now }: SesAccount): SesApi => {
  // No retries: of a mail that may have been sent, only the email's own schedule decides when it is sent again.
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

/** `20261122T042700Z`, as a signature has it. */
const amzDate = (at: number): string => new Date(at).toISOString().replace(/[-:]|\.\d+/g, '');

// What Bun's fetch calls the failures that come before a request is written (measured); a reset or a timeout may come
// after.
const NEVER_ARRIVED =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EPROTO|.*(CERT|ALTNAME|VERIFY|SIGNED).*)$/;

const answerIn = async (response: Response): Promise<SesAnswer> => {
  // The status has come, so the decision has been made; a body that breaks off only costs the details.
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
