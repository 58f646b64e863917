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
import type { Arrival } from '../../mail/raw/raw-mail.ts';
import type { MailReader } from '../../mail/reading/mail-reader.ts';
import type { SubmittedEnvelope } from '../../mail/submission/envelope.ts';
import { openSubmissionServer, type SubmittedRaw } from '../../mail/submission/submission-server.ts';
import type { Submission } from '../../mail/submission/submitted.ts';
import { Failure, invalid } from '../../platform/errors/failure.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';
import { type AcceptanceDeps, type AcceptRequest, acceptEmail } from '../emails/accept.ts';
import { type EmailReceipt, SendBody } from '../emails/queries.ts';

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

/** The input of the acceptance. */
interface AcceptanceInput extends Pick<AcceptRequest, 'body' | 'raw'> {
  readonly idempotencyKey: string | null;
  /** The value that a repeated Idempotency-Key is compared by. */
  readonly fingerprint: unknown;
}

/** Opens an SMTP port. A submitted message stays what it is, and is accepted by the same rules as a request by HTTP. */
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
    submission: Submission | SubmittedRaw,
    session: Omit<Arrival, 'by'>,
    submitted: SubmittedEnvelope,
  ): Promise<EmailReceipt | Failure> => {
    const caller = await admit(key);
    if (caller instanceof Failure) return caller;
    const now = clock.now();
    if (await limiter.byKey(caller.id, now)) return TOO_MANY;
    const asked = 'mail' in submission ? rawOf(submission, session) : requestOf(submission);
    if (asked instanceof Failure) return asked;
    const { body, raw, idempotencyKey, fingerprint } = asked;
    const claim = claimBy(idempotencyKey, {
      method: 'POST',
      path: '/v1/emails',
      query: {},
      body: fingerprint,
    });
    if (claim instanceof Failure) return claim;
    const answer = await acceptEmail(emails, {
      sender: caller,
      body,
      raw,
      claim,
      now,
      at: '/body',
      submitted,
    });
    return answer instanceof Replay ? (answer.body as EmailReceipt) : answer;
  };

  const rawOf = (
    { mail, recipients }: SubmittedRaw,
    { client, ...session }: Omit<Arrival, 'by'>,
  ): AcceptanceInput => {
    const came = { ...session, client: clientAddress(client, NO_HEADERS), by: where.name };
    const { idempotencyKey } = mail.controls;
    const fingerprint = { digest: mail.digest, recipients };
    return { body: { to: [] }, raw: { mail, recipients, came }, idempotencyKey, fingerprint };
  };

  const requestOf = ({ email, idempotencyKey }: Submission): AcceptanceInput | Failure => {
    const details = check(email, '/body');
    if (details) return invalid(details);
    const unstorable = findUnstorableIn(email, '/body');
    if (unstorable) return invalid([unstorable]);
    return { body: email as SendBody, idempotencyKey, fingerprint: email };
  };

  return openSubmissionServer({
    ...where,
    mailReader,
    onError: (error) => logger.debug({ err: error }, 'A connection to the submission port broke.'),
    async onKey(key, client) {
      const rateLimit = await limiter.byAddress(clientAddress(client, NO_HEADERS));
      if (rateLimit?.isOver) return TOO_MANY;
      return admit(key);
    },
    onSubmit: submit,
  });
}
