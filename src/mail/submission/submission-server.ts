import type { SMTPServerSession } from 'smtp-server';
import { SMALL } from '../../platform/async/body-budget.ts';
import { FairQueue, type WorkOptions } from '../../platform/async/fair-slots.ts';
import { endOf } from '../inbound/connection.ts';
import { FullBuffer } from '../inbound/message-buffer.ts';
import {
  openSmtpServer,
  Refusal,
  type SmtpServer,
  type SmtpServerOptions,
  takeIn,
} from '../inbound/smtp-server.ts';
import { type Arrival, NotSubmittable, type RawMail } from '../raw/raw-mail.ts';
import type { MailReader } from '../reading/mail-reader.ts';
import { takeChunks } from './chunking.ts';
import { type SubmittedEnvelope, submittedEnvelope } from './envelope.ts';
import { checkParameters, PARAMETERS } from './parameters.ts';
import type { Submission } from './submitted.ts';

/** The refusal of a request, as in the HTTP interface. */
export interface SubmissionFailure {
  readonly code: string;
  readonly message: string;
  readonly extra?:
    | { readonly details?: readonly { readonly path: string; readonly message: string }[] }
    | undefined;
}

/** A mail that stays what it is, with the recipients of its envelope. */
export interface SubmittedRaw {
  readonly mail: RawMail;
  readonly recipients: readonly string[];
}

/** The workspace of a key. The memory and the reading of mail are shared between workspaces, however many keys one has. */
interface KeyOwner {
  readonly workspaceId: string;
}

/** The client of a session that has signed in. */
interface SignedIn extends KeyOwner {
  readonly key: string;
}

/** The options of the submission listener. Its clients are user `svc` with an API key as the password. */
export interface SubmissionServerOptions extends SmtpServerOptions {
  readonly mailReader: Pick<MailReader, 'submission'>;
  /**
   * The owner of a key that may submit mail; the refusal says why not. `client` is the client's address, for rate limits.
   */
  readonly onKey: (key: string, client: string) => Promise<KeyOwner | SubmissionFailure>;
  /** Accepts the email under that key, and returns its id. */
  readonly onSubmit: (
    key: string,
    submission: Submission | SubmittedRaw,
    session: Omit<Arrival, 'by'>,
    envelope: SubmittedEnvelope,
  ) => Promise<{ readonly id: string } | SubmissionFailure>;
}

/** RFC 5321 4.5.3.1.8 asks for a hundred recipients; an email here has at most fifty. */
const RECIPIENTS = 50;
const LARGEST = 25 * 1024 * 1024;
/** Octets of messages that are read and stored at once, which takes several times as much memory: five of 25 MiB took 1.5 GB. */
const MOST_AT_ONCE = 32 * 1024 * 1024;

/** Large messages under way, besides their octets; one workspace has an eighth of those that are free. Those that wait are bounded by their memory. */
const LARGE_ONES = { total: 64, perKey: 64, backlog: 8_192 };

/** Runs the work on large messages as memory allows, workspaces in turn, and that on small ones at once. */
function turns(): (
  owner: string,
  work: () => Promise<string>,
  options: Required<WorkOptions>,
) => Promise<string> {
  const queue = new FairQueue(LARGE_ONES, MOST_AT_ONCE);
  return async (owner, work, options) => {
    if (options.octets <= SMALL) return work();
    const accepted = await queue.take(owner, work, options);
    if (accepted === null) throw refusalOf(UNAVAILABLE);
    return accepted;
  };
}

/**
 * Listens for submissions (RFC 6409). With a certificate, passwords are only accepted over TLS; without one they are accepted in
 * clear text, which is for a trusted network.
 */
export const openSubmissionServer = ({
  mailReader,
  onKey,
  onSubmit,
  ...options
}: SubmissionServerOptions): Promise<SmtpServer> => {
  const inTurn = turns();
  const ends = new WeakMap<SMTPServerSession, AbortSignal>();
  return openSmtpServer(options, (room) => ({
    authMethods: ['PLAIN', 'LOGIN'],
    authOptional: false,
    allowInsecureAuth: options.tls === null,
    size: LARGEST,
    hideDSN: false,
    extensions: {
      keywords: ['CHUNKING'],
      parameters: PARAMETERS,
      extend(connection) {
        ends.set(connection.session, endOf(connection));
        checkParameters(connection);
        takeChunks(connection, LARGEST);
      },
    },
    onAuth: ({ username, password }, { remoteAddress }, done) => {
      const key = password ?? '';
      if (username !== 'svc') return done(refusalOf(WRONG_USER));
      const answer = (owner: KeyOwner | SubmissionFailure) =>
        'code' in owner
          ? done(refusalOf(owner))
          : done(null, { user: { key, workspaceId: owner.workspaceId } satisfies SignedIn });
      onKey(key, remoteAddress).then(answer, () => done(NOT_NOW));
    },
    onRcptTo: (_address, { envelope }, done) => done(envelope.rcptTo.length < RECIPIENTS ? null : TOO_MANY),
    onData: (stream, arrival, done) => {
      const { user, hostNameAppearsAs, remoteAddress, transmissionType } = arrival;
      const { key, workspaceId } = user as unknown as SignedIn;
      const envelope = submittedEnvelope(arrival);
      const place = room.reserve(workspaceId);
      const submit = async (): Promise<string> => {
        const raw = await takeIn(stream, new FullBuffer(), place);
        // A client that has hung up never hears of the acceptance, and sends the message again.
        return inTurn(workspaceId, () => accept(raw), { octets: raw.length, signal: ends.get(arrival) });
      };
      const accept = async (raw: Buffer): Promise<string> => {
        const recipients = envelope.recipients.map(({ address }) => address);
        const submission = await mailReader.submission(raw, recipients, workspaceId);
        if (submission instanceof NotSubmittable) throw refusedMail(submission);
        const session = {
          helo: hostNameAppearsAs || null,
          client: remoteAddress,
          protocol: transmissionType,
        };
        const submitted = 'octets' in submission ? { mail: submission, recipients } : submission;
        const result = await onSubmit(key, submitted, session, envelope);
        if ('id' in result) return `2.0.0 Accepted as ${result.id}`;
        throw refusalOf(result);
      };
      submit()
        .finally(() => place.release())
        .then(
          (accepted) => done(null, accepted),
          (error) => done(error instanceof Refusal ? error : refusalOf(UNAVAILABLE)),
        );
    },
  }));
};

const TOO_MANY = new Refusal(452, `4.5.3 Too many recipients, at most ${RECIPIENTS}`);
// RFC 4954 4: the only code that does not make a client discard its password.
const NOT_NOW = new Refusal(454, '4.7.0 Cannot check the key now, please try again');
const WRONG_USER: SubmissionFailure = {
  code: 'UNAUTHORIZED',
  message: 'The user name is svc, the password an API key.',
};
const UNAVAILABLE: SubmissionFailure = { code: 'SERVICE_UNAVAILABLE', message: 'Please try again.' };

// Temporary when a later attempt can succeed. A spent quota is permanent: it lasts until the end of the month.
const STATUS: Readonly<Record<string, readonly [number, string]>> = {
  UNAUTHORIZED: [535, '5.7.8'],
  FORBIDDEN: [550, '5.7.1'],
  QUOTA_EXCEEDED: [550, '5.7.1'],
  PAYLOAD_TOO_LARGE: [552, '5.3.4'],
  RATE_LIMITED: [451, '4.7.1'],
  IDEMPOTENCY_IN_PROGRESS: [451, '4.3.0'],
  SERVICE_UNAVAILABLE: [451, '4.3.0'],
  INTERNAL_ERROR: [451, '4.3.0'],
};

const refusedMail = ({ status, reason }: NotSubmittable): Refusal =>
  new Refusal(status === '5.3.4' ? 552 : 554, `${status} ${reason}`);

const refusalOf = ({ code, message, extra }: SubmissionFailure): Refusal => {
  const [reply, status] = STATUS[code] ?? [554, '5.6.0'];
  const details =
    extra?.details?.map(
      ({ path, message: wrong }) => `${path.replace(/^\/(?:body|headers|query)\//, '')}: ${wrong}`,
    ) ?? [];
  return new Refusal(reply, [status, message, ...details].join(' '));
};
