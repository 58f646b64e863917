import type { SMTPServerSession } from 'smtp-server';
import { isProblem, parseAddress } from '../../platform/text/address.ts';
import { type ArrivalTime, awaitCommands, leaveOf, type Silence } from '../inbound/connection.ts';
import { FullBuffer } from '../inbound/message-buffer.ts';
import { takeChunks } from '../inbound/port/chunking.ts';
import { tlsOf } from '../inbound/port/session-tls.ts';
import {
  NO_MEMORY,
  openSmtpServer,
  Refusal,
  type SmtpServer,
  type SmtpServerOptions,
  takeIn,
} from '../inbound/smtp-server.ts';
import { type Arrival, NotSubmittable, type RawMail } from '../raw/raw-mail.ts';
import type { MailReader } from '../reading/mail-reader.ts';
import { MOST_SUBMITTED, type SubmittedEnvelope, submittedEnvelope } from './envelope.ts';
import { MailRoom } from './mail-room.ts';
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

/**
 * The workspace of a key. The memory and the reading of mail are shared between workspaces, however many keys
 * one has.
 */
interface KeyOwner {
  readonly workspaceId: string;
}

/** The client of a session that has signed in. */
interface SignedIn extends KeyOwner {
  readonly key: string;
}

/**
 * A key or a message that was refused. A client may drop the reply: some alerting programs count the message
 * as sent.
 */
export interface SmtpRefusal {
  readonly what: 'key' | 'message';
  /** The client's address. */
  readonly client: string;
  readonly helo: string;
  /** Null for a key. */
  readonly workspaceId: string | null;
  readonly reply: string;
}

/** The options of the submission listener. Its clients are user `svc` with an API key as the password. */
export interface SubmissionServerOptions extends SmtpServerOptions {
  readonly mailReader: Pick<MailReader, 'submission'>;
  /** Shared with the other ways by which mail comes; `limits.memory` does not count then. */
  readonly mailRoom?: MailRoom;
  readonly silence?: Silence;
  /**
   * The owner of a key that may submit mail; the refusal says why not. `client` is the client's address, for
   * rate limits.
   */
  readonly onKey: (key: string, client: string) => Promise<KeyOwner | SubmissionFailure>;
  /** Accepts the email under that key, and returns its id. */
  readonly onSubmit: (
    key: string,
    submission: Submission | SubmittedRaw,
    session: Omit<Arrival, 'by'>,
    envelope: SubmittedEnvelope,
  ) => Promise<{ readonly id: string } | SubmissionFailure>;
  readonly onRefusal?: (refused: SmtpRefusal) => void;
}

const LARGEST = 25 * 1024 * 1024;
/**
 * The largest message within the hour takes 7.3 kB/s. RFC 5321 4.5.3.2.5 has a client wait three minutes for
 * each part that it sends, so that a slow line is no fault; 1 MiB in ten minutes bounds the time for which
 * one that stalls keeps its memory.
 */
export const ARRIVAL: ArrivalTime = { everyMs: 600_000, octets: 1_048_576, mostMs: 3_600_000 };
/**
 * RFC 5321 4.5.3.2.7 has a server wait five minutes for a command. A stranger has one, as at the other port.
 */
const SILENCE: Silence = { strangerMs: 60_000, clientMs: 300_000 };

/**
 * Listens for submissions (RFC 6409). With a certificate, passwords are only accepted over TLS; without one
 * they are accepted in clear text, which is for a trusted network.
 */
export const openSubmissionServer = ({
  mailReader,
  mailRoom,
  silence = SILENCE,
  onKey,
  onSubmit,
  onRefusal,
  ...options
}: SubmissionServerOptions): Promise<SmtpServer> => {
  const room = mailRoom ?? new MailRoom(options.limits?.memory);
  const signedIn = new WeakMap<SMTPServerSession, () => void>();
  const limits = { arrival: ARRIVAL, ...options.limits };
  return openSmtpServer({ ...options, limits }, () => ({
    authMethods: ['PLAIN', 'LOGIN'],
    authOptional: false,
    allowInsecureAuth: options.tls === null,
    size: LARGEST,
    hideDSN: false,
    extensions: {
      keywords: ['CHUNKING'],
      parameters: PARAMETERS,
      extend(connection, arrival) {
        signedIn.set(connection.session, awaitCommands(connection, silence));
        checkParameters(connection);
        takeChunks(connection, { largest: LARGEST, arrival, needsUser: true });
      },
    },
    onAuth: ({ username, password }, session, done) => {
      const key = password ?? '';
      const refuse = (failure: SubmissionFailure) => {
        const refusal = refusalOf(failure);
        onRefusal?.(refusedAt(session, 'key', null, refusal));
        done(refusal);
      };
      if (username !== 'svc') return refuse(WRONG_USER);
      const answer = (owner: KeyOwner | SubmissionFailure) => {
        if ('code' in owner) return refuse(owner);
        signedIn.get(session)?.();
        done(null, { user: { key, workspaceId: owner.workspaceId } satisfies SignedIn });
      };
      onKey(key, session.remoteAddress).then(answer, () => done(NOT_NOW));
    },
    onSize: (octets, { user }) => {
      const { workspaceId } = user as unknown as SignedIn;
      return room.hasRoom(workspaceId, octets) ? null : NO_MEMORY;
    },
    onRcptTo: ({ address }, { envelope }, done) => {
      const read = parseAddress(address);
      // The rule of an email's addresses is stricter than RFC 5321. Here the sender learns which recipient it
      // is.
      if (isProblem(read)) return done(new Refusal(553, `5.1.3 ${read.problem}`));
      done(envelope.rcptTo.length < MOST_SUBMITTED ? null : TOO_MANY);
    },
    onData: (stream, arrival, done) => {
      const { user, hostNameAppearsAs, remoteAddress, transmissionType } = arrival;
      const { key, workspaceId } = user as unknown as SignedIn;
      const envelope = submittedEnvelope(arrival);
      const place = room.arriving(workspaceId);
      const submit = async (): Promise<string> => {
        const raw = await takeIn(stream, new FullBuffer(), place);
        place.keep();
        // A client that has hung up never hears of the acceptance, and sends the message again.
        const turn = { octets: raw.length, signal: () => leaveOf(arrival) };
        const accepted = await room.take(workspaceId, () => accept(raw), turn);
        if (accepted === null) throw refusalOf(UNAVAILABLE);
        return accepted;
      };
      const accept = async (raw: Buffer): Promise<string> => {
        const recipients = envelope.recipients.map(({ address }) => address);
        const submission = await mailReader.submission(raw, recipients, workspaceId);
        if (submission instanceof NotSubmittable) throw refusedMail(submission);
        const session = {
          helo: hostNameAppearsAs || null,
          client: remoteAddress,
          protocol: transmissionType,
          tls: tlsOf(arrival),
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
          (error) => {
            const refusal = error instanceof Refusal ? error : refusalOf(UNAVAILABLE);
            onRefusal?.(refusedAt(arrival, 'message', workspaceId, refusal));
            done(refusal);
          },
        );
    },
  }));
};

const refusedAt = (
  { remoteAddress, hostNameAppearsAs }: Pick<SMTPServerSession, 'remoteAddress' | 'hostNameAppearsAs'>,
  what: SmtpRefusal['what'],
  workspaceId: string | null,
  { responseCode, message }: Refusal,
): SmtpRefusal => ({
  what,
  client: remoteAddress,
  helo: hostNameAppearsAs || '',
  workspaceId,
  reply: `${responseCode} ${message}`,
});

const TOO_MANY = new Refusal(452, `4.5.3 Too many recipients, at most ${MOST_SUBMITTED}`);
// RFC 4954 4: the only code that does not make a client discard its password.
const NOT_NOW = new Refusal(454, '4.7.0 Cannot check the key now, please try again');
const WRONG_USER: SubmissionFailure = {
  code: 'UNAUTHORIZED',
  message: 'The user name is svc, the password an API key.',
};
const UNAVAILABLE: SubmissionFailure = { code: 'SERVICE_UNAVAILABLE', message: 'Please try again.' };

// Temporary when a later attempt can succeed. A spent quota is permanent: it lasts until the end of the
// month.
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
