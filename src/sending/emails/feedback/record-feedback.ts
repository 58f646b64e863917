import type { EmailContext, MailReturned, ReportReceived } from '../../../../machines/email/context.ts';
import { comesBeforeOutcome, suppressionOfReport } from '../../../../machines/email/rules.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { Fact, Feedback } from '../../../mail/inbound/feedback.ts';
import type { Signer } from '../../../platform/crypto/signer.ts';
import type { Database } from '../../../platform/db/database.ts';
import { storableText } from '../../../platform/db/storable.ts';
import { UnavailableError } from '../../../platform/errors/unavailable.ts';
import { isProblem, parseAddress } from '../../../platform/text/address.ts';
import type { Clock } from '../../../platform/time/clock.ts';
import { suppressForgotten } from '../../suppressions/commands.ts';
import { forgottenHash, forgottenKey } from '../../suppressions/queries.ts';
import { WORDS_MAX_LENGTH } from '../send/outcome.ts';
import { type Destination, readReturnToken } from '../send/return-token.ts';
import { suppressForgottenRecipient, suppressRefused } from './late-suppression.ts';
import { canonical, isSameMailbox, reportOf, verdictOf, withoutWords } from './verdict.ts';

/** The services that recording feedback calls. */
export interface FeedbackParts {
  readonly database: Database;
  readonly engine: Pick<Engine, 'tell'>;
  readonly signer: Signer;
  readonly clock: Clock;
  /** Unsubscribes the recipient of a copy, as the link in it does. @throws UnavailableError */
  leaveByMail(copy: Destination): Promise<boolean>;
  /** Called for each report about an email, with its kind. */
  readonly count?: (kind: Fact['kind']) => void;
}

const RECIPIENTS = 'select workspace_id, livemode, recipients, recipient_keys from emails where id = $1';

interface EmailRow {
  readonly workspace_id: string;
  readonly livemode: boolean;
  readonly recipients: readonly string[];
  readonly recipient_keys: readonly string[];
}

/** The recipient that a report is about. */
interface Addressee {
  readonly workspaceId: string;
  /** The hash of a forgotten person's address; null for everyone else. */
  readonly hash: string | null;
  /** True for the address of the recipient. */
  is(address: string): boolean;
}

/** Records feedback: hands each report to the email that it is about. */
export type RecordFeedback = (feedback: readonly Feedback[], isVouched: boolean) => Promise<void>;

/**
 * Records bounces, complaints and delivery reports. `isVouched` means that the sender of the feedback was
 * authenticated, so that an id in it can be trusted; otherwise only a token that was signed here counts.
 * Resolves once everything is durable, and ignores feedback that names no email. @throws UnavailableError
 * when the sender has to repeat it: the database is away, or the attempt has not ended yet.
 */
export function feedbackRecorder({
  database,
  engine,
  signer,
  clock,
  leaveByMail,
  count,
}: FeedbackParts): RecordFeedback {
  return async (feedback, isVouched) => {
    for (const { destination, facts } of await byDestination(feedback, isVouched)) {
      const [email] = await read(destination.emailId);
      const addressee = email && addresseeOf(email, destination);
      const said = addressee ? verdictOf(facts, addressee.is) : null;
      if (!addressee || said === null) continue;
      const fact = addressee.hash === null ? said : withoutWords(said);
      if (fact.kind === 'unread') await tellReturned(destination, fact.subject);
      else if (fact.kind === 'optedOut') await leaveByMail(destination);
      else await tellReport(destination, addressee, fact);
      count?.(fact.kind);
    }
  };

  async function tellReturned({ emailId, recipient }: Destination, subject: string): Promise<void> {
    const words = storableText(subject, WORDS_MAX_LENGTH);
    const event: MailReturned = { type: 'mail.returned', at: clock.now(), recipient, subject: words };
    await engine.tell('email', emailId, event);
  }

  async function tellReport(
    { emailId, recipient }: Destination,
    { workspaceId, hash }: Addressee,
    fact: Fact,
  ): Promise<void> {
    const report = reportOf(fact);
    if (report === null) return;
    const event: ReportReceived = {
      type: 'report.received',
      at: clock.now(),
      report: { ...report, recipient },
    };
    // Before the email has it: a report that it knows is not looked at again.
    if (hash !== null)
      await suppressForgottenRecipient({ database, signer }, emailId, { workspaceId, hash }, event);
    const result = await engine.tell('email', emailId, event);
    if (hash !== null) return;
    if (result.outcome === 'changed' && report.type !== 'delivered')
      await suppressForgottenSince({ emailId, recipient }, event);
    if (result.outcome !== 'refused') return;
    const context: EmailContext = result.context;
    // A receiver can be faster than our own commit, so the sender of the report is asked to repeat it.
    if (comesBeforeOutcome(result.state, context, recipient))
      throw new UnavailableError('The attempt it is about has not ended yet.', 'no', 60);
    await suppressRefused(database, emailId, context, event);
  }

  /**
   * Suppresses a recipient who was taken out of the email while it recorded the report: no address was there
   * to suppress.
   */
  async function suppressForgottenSince(destination: Destination, event: ReportReceived): Promise<void> {
    const [email] = await read(destination.emailId);
    const addressee = email && addresseeOf(email, destination);
    if (!addressee || addressee.hash === null) return;
    const { workspaceId, hash } = addressee;
    const { recipients, reason } = suppressionOfReport(email, event);
    if (recipients.length === 0) return;
    const { emailId } = destination;
    await suppressForgotten({ database, signer }, { workspaceId, hash, emailId, reason, at: event.at });
  }

  /**
   * The facts about each recipient: all that a mail to a return path says are about the one recipient of that
   * copy.
   */
  async function byDestination(
    feedback: readonly Feedback[],
    isVouched: boolean,
  ): Promise<readonly { readonly destination: Destination; readonly facts: readonly Feedback[] }[]> {
    const found = new Map<string, { readonly destination: Destination; readonly facts: Feedback[] }>();
    for (const one of feedback) {
      const destination = await destinationOf(one, isVouched);
      if (destination === null) continue;
      const key = `${destination.emailId} ${destination.recipient}`;
      const known = found.get(key);
      if (known) known.facts.push(one);
      else found.set(key, { destination, facts: [one] });
    }
    return [...found.values()];
  }

  function read(emailId: string): Promise<readonly EmailRow[]> {
    return database.query<EmailRow>(RECIPIENTS, [emailId]);
  }

  /** The recipient of a report; null where the email has no such one. */
  function addresseeOf(email: EmailRow, { emailId, recipient }: Destination): Addressee | null {
    const { workspace_id: workspaceId, recipients, recipient_keys: keys } = email;
    const address = recipients[recipient];
    if (address === undefined) return null;
    const hash = forgottenHash(signer, { emailId, recipient }, keys[recipient] ?? '');
    const is = (named: string): boolean => {
      if (hash === null) return isSameMailbox(named, address);
      const mailbox = parseAddress(named);
      return !isProblem(mailbox) && forgottenKey(signer, workspaceId, mailbox.key) === hash;
    };
    return { workspaceId, hash, is };
  }

  async function destinationOf(
    { reference, recipient }: Feedback,
    isVouched: boolean,
  ): Promise<Destination | null> {
    const named = reference.token === null ? null : readReturnToken(reference.token, signer, clock.now());
    if (named) return named;
    const { emailId } = reference;
    if (!isVouched || emailId === null || recipient === null) return null;
    const [row] = await read(emailId);
    if (!row?.livemode) return null;
    const sought = canonical(recipient);
    const index = row.recipients.findIndex((address) => canonical(address) === sought);
    const place =
      index === -1
        ? row.recipients.findIndex((_, at) => {
            const addressee = addresseeOf(row, { emailId, recipient: at });
            return addressee?.hash != null && addressee.is(recipient);
          })
        : index;
    return place === -1 ? null : { emailId, recipient: place };
  }
}
