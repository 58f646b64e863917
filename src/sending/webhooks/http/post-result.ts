/** The reasons for an attempt without a complete answer. */
export type PostError =
  | 'timeout'
  | 'unresolved_host'
  | 'forbidden_address'
  | 'no_connection'
  | 'connection_lost'
  | 'untrusted_tls'
  | 'malformed_answer'
  | 'sealed_secret';

/**
 * The texts of `responseBody` when there was no answer. They are fixed, so that they reveal no internal
 * address.
 */
export const REASONS = {
  timeout: 'The endpoint did not answer in time.',
  unresolved_host: 'The host name of the endpoint does not resolve.',
  forbidden_address: 'The host of the endpoint has an address that webhooks must not reach.',
  no_connection: 'The service could not connect to the endpoint.',
  connection_lost: 'The connection was closed before the answer was complete.',
  untrusted_tls: 'The service could not make a trusted TLS connection to the endpoint.',
  malformed_answer: 'The answer of the endpoint is not valid HTTP.',
  sealed_secret:
    'The event was not posted: the secret of the endpoint was sealed with a SECRET_KEY that has been replaced. Rotate the secret.',
} as const satisfies Record<PostError, string>;

export interface PostResult {
  /** 0 when there was no answer. */
  readonly httpStatus: number;
  /** The beginning of the reply, or a fixed reason when there was no answer. */
  readonly responseBody: string;
  readonly durationMs: number;
  /**
   * Null when the receiver answered, whatever the status. An error together with a status means that the
   * answer was cut off.
   */
  readonly error: PostError | null;
}

/** True when the receiver has accepted the event: any 2xx, complete and in time. */
export const isSuccess = ({ httpStatus, error }: PostResult): boolean =>
  error === null && httpStatus >= 200 && httpStatus < 300;
