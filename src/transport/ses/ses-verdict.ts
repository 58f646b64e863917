import type { Verdict } from '../smtp/reply.ts';
import type { SesAnswer } from './ses-api.ts';

/**
 * What an error of SendEmail means. What is wrong with the account (suspended, domain not verified there, sandbox,
 * keys) is deferred: it is ours to mend, and the mail shall not be lost while we do.
 */
export const sesVerdict = ({ status, errorType, errorMessage }: SesAnswer): Verdict => {
  if (errorType === null) return { outcome: 'accepted', fault: null, subType: null };
  const known = BY_TYPE[errorType];
  // "Email address is not verified" comes as MessageRejected, too.
  if (known && !/not verified/i.test(errorMessage)) return known;
  if (status === 429 || status === 503) return LATER;
  if (status === 413) return { outcome: 'refused', fault: 'message', subType: 'MessageTooLarge' };
  if (status === 401 || status === 403) return NOT_ALLOWED;
  // A gateway that gave up waiting does not know what became of the request behind it.
  if (status === 502 || status === 504)
    return { outcome: 'unknown', fault: 'infrastructure', subType: 'ConnectionFailed' };
  if (status >= 500) return { outcome: 'deferred', fault: 'infrastructure', subType: 'ConnectionFailed' };
  return { outcome: 'deferred', fault: 'infrastructure', subType: 'PolicyRejected' };
};

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
