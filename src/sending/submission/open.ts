import { Type } from '@sinclair/typebox';
import { isApiKey } from '../../http/auth/api-key.ts';
import { holds } from '../../http/auth/permissions.ts';
import { type KeyPrincipal, lacking } from '../../http/auth/principal.ts';
import { certainly } from '../../http/auth/recollection.ts';
import { findUnstorableIn } from '../../http/body/json-text.ts';
import type { AdmissionDeps } from '../../http/request/admission.ts';
import { claimBy } from '../../http/request/idempotency.ts';
import { MOST_REFUSALS_A_MINUTE } from '../../http/request/pipeline.ts';
import { Replay } from '../../http/request/route.ts';
import { compileChecker } from '../../http/request/schema.ts';
import type { SmtpServer, SmtpServerOptions } from '../../mail/inbound/smtp-server.ts';
import type { Arrival } from '../../mail/raw/raw-mail.ts';
import type { MailReader } from '../../mail/reading/mail-reader.ts';
import { MOST_SUBMITTED, type SubmittedEnvelope } from '../../mail/submission/envelope.ts';
import type { MailRoom } from '../../mail/submission/mail-room.ts';
import {
  openSubmissionServer,
  type SmtpRefusal,
  type SubmissionServerOptions,
  type SubmittedRaw,
} from '../../mail/submission/submission-server.ts';
import type { Submission } from '../../mail/submission/submitted.ts';
import { SMALL } from '../../platform/async/body-budget.ts';
import { clientKey } from '../../platform/config/client-address.ts';
import { Failure, invalid } from '../../platform/errors/failure.ts';
import { type Rarity, rarely } from '../../platform/telemetry/rarely.ts';
import { type Acceptance, type AcceptanceDeps, type AcceptRequest, acceptEmail } from '../emails/accept.ts';
import { type EmailReceipt, SendBody } from '../emails/queries.ts';

export interface SubmissionParts
  extends SmtpServerOptions,
    Pick<SubmissionServerOptions, 'onRefusal'>,
    Pick<AdmissionDeps, 'authenticate' | 'remembered' | 'limiter'> {
  readonly clock: { now(): number };
  readonly mailReader: MailReader;
  readonly mailRoom: MailRoom;
  readonly emails: AcceptanceDeps;
}

const NEEDED = 'emails:send';
const TOO_MANY = new Failure('RATE_LIMITED', 'Too many requests; please slow down.');

const NO_KEY = new Failure(
  'UNAUTHORIZED',
  'The password is not an API key, which is svc_live_ or svc_test_ and 32 letters or digits.',
);
const UNKNOWN_KEY = new Failure(
  'UNAUTHORIZED',
  'The password is an API key that does not exist, or was revoked.',
);

const Recipients = Type.Array(Type.String());
/**
 * The body of the HTTP API, except that `to` may be empty: mailers send mail with hidden recipients alone,
 * whereas in JSON an empty list is likely a mistake. The envelope bounds the recipients.
 */
const SubmittedBody = Type.Object(
  { ...SendBody.properties, to: Recipients, cc: Type.Optional(Recipients), bcc: Type.Optional(Recipients) },
  { additionalProperties: false },
);

interface AcceptanceInput extends Pick<AcceptRequest, 'body' | 'raw'> {
  readonly idempotencyKey: string | null;
  /** The value that a repeated Idempotency-Key is compared by. */
  readonly fingerprint: unknown;
}

const RARITY: Rarity = { everyMs: 60_000, most: MOST_REFUSALS_A_MINUTE };

/**
 * Logs refused keys and messages. Each kind has its limit: strangers who guess keys would use up the lines
 * about lost messages.
 */
export function refusalLog(...[log, monotonic]: Parameters<typeof rarely>): (refused: SmtpRefusal) => void {
  const notes = { key: rarely(log, monotonic, RARITY), message: rarely(log, monotonic, RARITY) };
  return (refused) => notes[refused.what]({ ...refused }, 'Mail by SMTP was refused');
}

/**
 * Opens an SMTP port. A submitted message stays what it is, and is accepted by the same rules as a request by
 * HTTP.
 */
export function openSubmission(parts: SubmissionParts): Promise<SmtpServer> {
  const { authenticate, remembered, limiter, clock, emails, mailReader, mailRoom, ...where } = parts;
  const check = compileChecker(SubmittedBody);

  const admit = async (key: string): Promise<KeyPrincipal | Failure> => {
    if (!isApiKey(key)) return NO_KEY;
    const caller = await authenticate(key);
    if (caller === null) return UNKNOWN_KEY;
    return holds(caller.permissions, NEEDED) ? caller : lacking(NEEDED, caller);
  };

  /**
   * Does the work for the principal of a key, which counts as it is at that moment: a revocation takes effect
   * with the next message. The commit of a small message judges a principal that was found before, in place
   * of a look-up.
   */
  const admitted = async (
    key: string,
    isSmall: boolean,
    work: (caller: KeyPrincipal) => Promise<Acceptance>,
  ): Promise<Acceptance> => {
    const readmit = () => admit(key);
    const known = isSmall ? remembered?.(key) : null;
    if (known?.recollection && holds(known.permissions, NEEDED))
      return certainly<KeyPrincipal, Acceptance>(known.recollection, () => work(known), {
        readmit,
        termsOf: ({ terms }) => terms,
        again: work,
      });
    const caller = await readmit();
    return caller instanceof Failure ? caller : work(caller);
  };

  const submit = async (
    key: string,
    submission: Submission | SubmittedRaw,
    session: Omit<Arrival, 'by'>,
    submitted: SubmittedEnvelope,
  ): Promise<EmailReceipt | Failure> => {
    const now = clock.now();
    let isCounted = false;
    const isSmall = !('mail' in submission) || submission.mail.octets.length <= SMALL;
    const answer = await admitted(key, isSmall, async (sender) => {
      if (!isCounted && (await limiter.byKey(sender.id, now))) return TOO_MANY;
      isCounted = true;
      const asked = 'mail' in submission ? rawOf(submission, session) : requestOf(submission);
      if (asked instanceof Failure) return asked;
      const { body, raw, idempotencyKey, fingerprint } = asked;
      const said = { method: 'POST', path: '/v1/emails', query: {}, body: fingerprint };
      const claim = claimBy(idempotencyKey, said);
      if (claim instanceof Failure) return claim;
      return acceptEmail(emails, {
        sender,
        body,
        raw,
        claim,
        now,
        at: '/body',
        submitted,
        mostRecipients: MOST_SUBMITTED,
      });
    });
    return answer instanceof Replay ? (answer.body as EmailReceipt) : answer;
  };

  const rawOf = (
    { mail, recipients }: SubmittedRaw,
    { client, ...session }: Omit<Arrival, 'by'>,
  ): AcceptanceInput => {
    const came = { ...session, client: clientKey(client), by: where.name };
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
    mailRoom,
    async onKey(key, client) {
      const rateLimit = await limiter.byAddress(clientKey(client));
      if (rateLimit?.isOver) return TOO_MANY;
      return admit(key);
    },
    onSubmit: submit,
  });
}
