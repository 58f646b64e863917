import type { Verdict } from '../smtp/reply.ts';
import type { SesAnswer } from './ses-api.ts';

/**
 * The verdict for an error of SendEmail. A problem of the account (suspended, domain not verified, sandbox,
 * keys) is deferred, so that no mail is lost while the operator solves it.
 */
export const sesVerdict = ({ status, errorType, errorMessage }: SesAnswer): Verdict => {
  if (errorType === null) return { outcome: 'accepted', fault: null, subType: null };
  const known = BY_TYPE[errorType];
  // "Email address is not verified" comes as MessageRejected, too.
  if (known && !/not verified/i.test(errorMessage)) return known;
  if (status === 429 || status === 503) return LATER;
  if (status === 413) return { outcome: 'refused', fault: 'message', subType: 'MessageTooLarge' };
  if (status === 401 || status === 403) return NOT_ALLOWED;
  // After a gateway's timeout it is unknown whether the request behind it was carried out.
  if (status === 502 || status === 504)
    return { outcome: 'unknown', fault: 'infrastructure', subType: 'ConnectionFailed' };
  if (status >= 500) return { outcome: 'deferred', fault: 'infrastructure', subType: 'ConnectionFailed' };
  return { outcome: 'deferred', fault: 'infrastructure', subType: 'PolicyRejected' };
};

/**
 * True when SES takes no mail of this account for now, and has surely not taken this one: it is throttled,
 * the quota is used up, sending is paused, or the keys are not accepted. A 500 is not among them, since the
 * work before it is unknown.
 */
export const isSesDown = ({ status, errorType }: SesAnswer): boolean =>
  errorType !== null &&
  (ACCOUNT_DOWN.has(errorType) || status === 429 || status === 503 || status === 401 || status === 403);

const ACCOUNT_DOWN: ReadonlySet<string> = new Set([
  'TooManyRequestsException',
  'LimitExceededException',
  'ThrottlingException',
  'AccountSuspendedException',
  'SendingPausedException',
]);

const LATER: Verdict = { outcome: 'deferred', fault: 'infrastructure', subType: 'RateLimited' };
const NOT_ALLOWED: Verdict = {
  outcome: 'deferred',
  fault: 'infrastructure',
  subType: 'AuthenticationFailed',
};

const BY_TYPE: Readonly<Record<string, Verdict>> = {
  MessageRejected: { outcome: 'refused', fault: 'message', subType: 'ContentRejected' },
  BadRequestException: { outcome: 'refused', fault: 'message', subType: 'General' },
  ValidationException: { outcome: 'refused', fault: 'message', subType: 'General' },
  TooManyRequestsException: LATER,
  LimitExceededException: LATER,
  ThrottlingException: LATER,
};
