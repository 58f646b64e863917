import { Type } from '@sinclair/typebox';
import { isApiKey } from '../../http/auth/api-key.ts';
import { holds } from '../../http/auth/permissions.ts';
import { lacking, type Principal } from '../../http/auth/principal.ts';
import { findUnstorableIn } from '../../http/body/json-text.ts';
import type { AdmissionDeps } from '../../http/request/admission.ts';
import { claimBy } from '../../http/request/idempotency.ts';
import { Replay } from '../../http/request/route.ts';
import { compileChecker } from '../../http/request/schema.ts';
import type { SmtpServer, SmtpServerOptions } from '../../mail/inbound/smtp-server.ts';
import type { MailReader } from '../../mail/reading/mail-reader.ts';
import type { SubmittedEnvelope } from '../../mail/submission/envelope.ts';
import { openSubmissionServer } from '../../mail/submission/submission-server.ts';
import { NotSubmittable, type Submission } from '../../mail/submission/submitted.ts';
import { Failure, invalid } from '../../platform/errors/failure.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';
import { type AcceptanceDeps, acceptEmail } from '../emails/accept.ts';
import { type EmailReceipt, SendBody } from '../emails/queries.ts';
import { repeatedField } from './repeated-field.ts';

export interface SubmissionParts
  extends Omit<SmtpServerOptions, 'onError'>,
    Pick<AdmissionDeps, 'authenticate' | 'limiter' | 'clientAddress'> {
  readonly clock: { now(): number };
  readonly logger: Logger;
  readonly mailReader: MailReader;
  readonly emails: AcceptanceDeps;
}

const NEEDED = 'emails:send';
const TOO_MANY = new Failure('RATE_LIMITED', 'Too many requests; please slow down.');
const NO_HEADERS = new Headers();

const NO_KEY = new Failure(
  'UNAUTHORIZED',
  'The password is not an API key, which begins with svc_live_ or svc_test_.',
);
const UNKNOWN_KEY = new Failure(
  'UNAUTHORIZED',
  'The password is an API key that does not exist, or was revoked.',
);

/** The body of the HTTP API, except that `to` may be empty: mailers send mail with hidden recipients alone, whereas in JSON an empty list is likely a mistake. */
const SubmittedBody = Type.Object(
  { ...SendBody.properties, to: Type.Array(Type.String()) },
  { additionalProperties: false },
);

/** Opens an SMTP port. A submitted message becomes the same request as one by HTTP. */
export function openSubmission(parts: SubmissionParts): Promise<SmtpServer> {
  const { authenticate, limiter, clientAddress, clock, logger, emails, mailReader, ...where } = parts;
  const check = compileChecker(SubmittedBody);

  /** Finds the principal of a key with every message, so that a revocation counts from the next one on. */
  const admit = async (key: string): Promise<Principal | Failure> => {
    if (!isApiKey(key)) return NO_KEY;
    const caller = await authenticate(key);
    if (caller === null) return UNKNOWN_KEY;
    return holds(caller.permissions, NEEDED) ? caller : lacking(NEEDED, caller);
  };

  const submit = async (
    key: string,
    { email, idempotencyKey }: Submission,
    submitted: SubmittedEnvelope,
  ): Promise<EmailReceipt | Failure> => {
    const caller = await admit(key);
    if (caller instanceof Failure) return caller;
    const now = clock.now();
    if (await limiter.byKey(caller.id, now)) return TOO_MANY;
    const details = check(email, '/body');
    if (details) return invalid(details);
    const unstorable = findUnstorableIn(email, '/body');
    if (unstorable) return invalid([unstorable]);
    const body = email as SendBody;
    const claim = claimBy(idempotencyKey, { method: 'POST', path: '/v1/emails', query: {}, body });
    if (claim instanceof Failure) return claim;
    const answer = await acceptEmail(emails, { sender: caller, body, claim, now, at: '/body', submitted });
    return answer instanceof Replay ? (answer.body as EmailReceipt) : answer;
  };

  return openSubmissionServer({
    ...where,
    mailReader: {
      ...mailReader,
      async submission(raw, recipients) {
        const name = repeatedField(raw);
        if (name === null) return mailReader.submission(raw, recipients);
        return new NotSubmittable(`The message has more than one ${name} field; RFC 5322 (3.6) allows one`);
      },
    },
    onError: (error) => logger.debug({ err: error }, 'A connection to the submission port broke.'),
    async onKey(key, client) {
      const rateLimit = await limiter.byAddress(clientAddress(client, NO_HEADERS));
      if (rateLimit?.isOver) return TOO_MANY;
      const caller = await admit(key);
      return caller instanceof Failure ? caller : null;
    },
    onSubmit: submit,
  });
}
