import { RawResponse, Replay } from '../../http/request/route.ts';
import { Failure, type FailureCode, type FailureExtra, STATUS_OF } from '../../platform/errors/failure.ts';
import type { EmailDetail } from '../emails/queries.ts';
import { foreignPath, placeOf } from './request.ts';

/** The names that the package's types know, for the codes of this service. */
const NAME_OF = {
  UNAUTHORIZED: 'invalid_api_key',
  FORBIDDEN: 'restricted_api_key',
  NOT_FOUND: 'not_found',
  CONFLICT: 'validation_error',
  VALIDATION_ERROR: 'validation_error',
  BAD_REQUEST: 'validation_error',
  UNSUPPORTED_MEDIA_TYPE: 'validation_error',
  INVALID_TOKEN: 'validation_error',
  RATE_LIMITED: 'rate_limit_exceeded',
  PAYLOAD_TOO_LARGE: 'validation_error',
  QUOTA_EXCEEDED: 'monthly_quota_exceeded',
  TEST_MODE_NOT_SUPPORTED: 'restricted_api_key',
  IDEMPOTENCY_CONFLICT: 'invalid_idempotent_request',
  IDEMPOTENCY_IN_PROGRESS: 'concurrent_idempotent_requests',
  INTERNAL_ERROR: 'internal_server_error',
  SERVICE_UNAVAILABLE: 'application_error',
} as const satisfies Record<FailureCode, string>;

/** The sentence of a refusal: each problem with its place, and the suggestion. */
export const sentenceOf = ({
  message,
  details,
  suggestion,
}: { readonly message: string } & FailureExtra): string =>
  [
    ...(details?.map(({ path, message: problem }) => [placeOf(path), problem].filter(Boolean).join(': ')) ?? [
      message,
    ]),
    ...(suggestion === undefined ? [] : [suggestion]),
  ].join(' ');

/** A refusal by the rules of this service, with the names of the package. */
export function inItsNames<Refusal extends FailureExtra>(refusal: Refusal): Refusal {
  const { details } = refusal;
  if (!details) return refusal;
  return { ...refusal, details: details.map(({ path, message }) => ({ path: foreignPath(path), message })) };
}

/** The same of a failure. */
export const foreignFailure = ({ code, message, extra }: Failure): Failure =>
  new Failure(code, message, inItsNames(extra));

/** The body of a refusal. */
export const errorBody = (failure: Failure) => ({
  statusCode: STATUS_OF[failure.code],
  name: NAME_OF[failure.code],
  message: sentenceOf({ message: failure.message, ...failure.extra }),
});

/** The quota of test keys is one of a day. */
const overQuota = (failure: Failure): RawResponse =>
  json({ ...errorBody(failure), name: 'daily_quota_exceeded' }, STATUS_OF[failure.code]);

/** Like the other answers of the API: no browser keeps or frames it. */
export const json = (body: unknown, status: number, headers: Readonly<Record<string, string>> = {}) =>
  new RawResponse('application/json', JSON.stringify(body), {
    status,
    headers: {
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      ...headers,
    },
  });

/** The answer of a command in the form of the package: `show` builds it from the data. */
export function answerOf<Data>(
  outcome: Data | Failure | Replay,
  livemode: boolean,
  show: (data: Data) => unknown,
): RawResponse | Failure {
  if (outcome instanceof Failure)
    return outcome.code === 'QUOTA_EXCEEDED' && !livemode ? overQuota(outcome) : foreignFailure(outcome);
  if (outcome instanceof Replay)
    return json(show(outcome.body as Data), 200, { 'idempotency-replayed': 'true' });
  return json(show(outcome), 200);
}

/** An email with the names of the package, and the last thing that happened to it in its words. */
export const shown = (email: EmailDetail) => ({
  object: 'email',
  id: email.id,
  message_id: email.messageId,
  from: email.from,
  to: email.to,
  cc: email.cc,
  bcc: email.bcc,
  reply_to: email.replyTo,
  subject: email.subject,
  html: email.html,
  text: email.text,
  tags: email.tags,
  created_at: email.createdAt,
  scheduled_at: email.scheduledAt,
  last_event: lastEventOf(email),
});

function lastEventOf({ status, lastEvent, failureReason }: EmailDetail): string {
  switch (status) {
    case 'scheduled':
      return 'scheduled';
    case 'cancelled':
      return 'canceled';
    case 'queued':
    case 'sending':
      return 'queued';
    case 'deferred':
      return 'delivery_delayed';
    case 'failed':
      return failureReason === 'suppressed' || failureReason === 'bounced' ? failureReason : 'failed';
    default:
      return lastEvent === null || lastEvent === 'unsubscribed' ? status : lastEvent;
  }
}
