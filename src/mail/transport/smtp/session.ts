/**
 * One SMTP session for any number of messages. nodemailer's SMTPConnection speaks the protocol; this module
 * reports the step that was reached for each recipient.
 *
 * A failure is `deferred` (surely not delivered) before the final dot was written, and `unknown` after it.
 * nodemailer's errors do not say which (measured), but its `send` pipes the message, once DATA is granted,
 * into a stream that adds the dot and ends when the dot was written to the socket. `Source` watches for that
 * end, so that no SMTP client of our own is needed.
 */
import { isIP } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import SMTPConnection, { type SMTPEnvelope } from 'nodemailer/lib/smtp-connection';
import type { AskedReports } from '../../message/asked-reports.ts';
import type { Endpoint } from './endpoint.ts';
import type { Step } from './reply.ts';

/** A session could not be opened. */
export class SessionFailure extends Error {
  override readonly name = 'SessionFailure';
  constructor(
    /** `tls` also when STARTTLS was refused; `refused` when the server said no in words. */
    readonly stage: 'connect' | 'tls' | 'refused' | 'aborted',
    message: string,
    /** The server's reply; null when there was none. */
    readonly reply: string | null = null,
  ) {
    super(message);
  }
}

/** The step that a message reached for one recipient. */
export interface Progress {
  readonly recipient: string;
  readonly step: Step;
  /** The server's reply at that step; null when the session broke there instead. */
  readonly reply: string | null;
  /** A sentence about the disconnection; '' when there was a reply. */
  readonly problem: string;
  /** True when the sender wants a report of success that the server was not asked for. */
  readonly isUnreported?: true;
}

/** An open session, for one message at a time. */
export interface Session {
  readonly endpoint: Endpoint;
  readonly secure: boolean;
  /** The extensions of the server that a mail may need. */
  readonly extensions: SessionExtensions;
  /** The size that a mail may have (RFC 1870); null where the server announces none. */
  readonly announcedSize: number | null;
  /** False once either side has ended the session. */
  readonly alive: boolean;
  /** Settles when the session is over. */
  readonly ended: Promise<void>;
  /** Settles with one entry per recipient, in their order. Never rejects. */
  transmit(mail: Envelope, pieces: readonly Buffer[], signal: AbortSignal): Promise<readonly Progress[]>;
  /** Resets the transaction of a failed message; the session is then ready for the next one, or ended. */
  settle(): Promise<void>;
  /** Ends the session with QUIT. */
  quit(): void;
}

/** The extensions that decide about a mail. */
export interface SessionExtensions {
  /** Addresses beyond ASCII may be used (RFC 6531). */
  readonly smtpUtf8: boolean;
  /** Content may have octets beyond ASCII (RFC 6152). */
  readonly eightBitMime: boolean;
  /** Reports can be asked for (RFC 3461). */
  readonly dsn: boolean;
}

/** The addresses in MAIL FROM and RCPT TO, and what is asked for with them. */
export interface Envelope {
  /** '' for the null sender. */
  readonly from: string;
  readonly recipients: readonly string[];
  readonly needsSmtpUtf8?: boolean;
  readonly needsEightBit?: boolean;
  /** Passed on where the server speaks DSN. */
  readonly reports?: AskedReports | null;
}

/** Connects, sends EHLO, starts TLS and authenticates. Rejects with `SessionFailure`. */
export const openSession = (endpoint: Endpoint, signal: AbortSignal): Promise<Session> =>
  new Promise((resolve, reject) => {
    const connection = new SMTPConnection(connectionOptions(endpoint));
    lookOnceMore(connection);
    const fail = (failure: SessionFailure) => {
      signal.removeEventListener('abort', abort);
      connection.close();
      reject(failure);
    };
    const abort = () => fail(new SessionFailure('aborted', `Gave up connecting to ${endpoint.name}`));
    const ready = (greeting: string) => {
      signal.removeEventListener('abort', abort);
      resolve(new OpenSession(connection, endpoint, extensionsIn(greeting), sizeIn(greeting)));
    };
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    // The listener stays as long as the session: an error without a listener would end the process.
    connection.on('error', (error) => fail(failureOf(error, endpoint, connection)));
    connection.connect((error) => {
      if (error) return fail(failureOf(error, endpoint, connection));
      const greeting = String(connection.lastServerResponse);
      const { credentials } = endpoint;
      if (credentials === null) return ready(greeting);
      if (!connection.allowsAuth)
        return fail(
          new SessionFailure('refused', `${endpoint.name} offers no AUTH`, '530 5.7.0 no AUTH offered'),
        );
      connection.login({ credentials }, (refusal) =>
        refusal ? fail(failureOf(refusal, endpoint, connection)) : ready(greeting),
      );
    });
  });

/** As nodemailer finds them, which asks for what it has found. */
const extensionsIn = (greeting: string): SessionExtensions => ({
  smtpUtf8: /[ -]SMTPUTF8\b/im.test(greeting),
  eightBitMime: /[ -]8BITMIME\b/im.test(greeting),
  dsn: /[ -]DSN\b/im.test(greeting),
});

/** RFC 1870 4: 0, as no number, is no limit. */
const sizeIn = (greeting: string): number | null =>
  Number(/[ -]SIZE[ \t]+(\d{1,15})\b/im.exec(greeting)?.[1] ?? 0) || null;

const connectionOptions = (endpoint: Endpoint) => ({
  host: endpoint.host,
  port: endpoint.port,
  name: endpoint.ehloName,
  secure: endpoint.tls === 'implicit',
  requireTLS: endpoint.tls === 'required',
  ignoreTLS: endpoint.tls === 'none',
  opportunisticTLS: endpoint.tls === 'opportunistic',
  ...(isIP(endpoint.name) ? {} : { servername: endpoint.name }),
  tls: {
    rejectUnauthorized: endpoint.verifyCertificate,
    ...(endpoint.ca === null ? {} : { ca: endpoint.ca }),
  },
  connectionTimeout: endpoint.connectMs,
  greetingTimeout: endpoint.connectMs,
  socketTimeout: endpoint.silenceMs,
});

/** The parts of a connection that nodemailer has no public way to change. */
interface Internals {
  /** The listener of the socket's `timeout`. */
  _onTimeout(): void;
  _sendCommand(line: string): void;
}

/**
 * Looks at the socket once more before a silent server is given up on. A process that was stopped past the
 * limit (SIGSTOP, a suspended machine) runs its timers before it reads its sockets, and would lose the reply
 * that waits there.
 */
function lookOnceMore(connection: SMTPConnection): void {
  const internals = connection as unknown as Internals;
  const giveUp = internals._onTimeout.bind(connection);
  internals._onTimeout = () =>
    void setTimeout(() => {
      if (!connection.destroyed) giveUp();
    }, 0);
}

interface SmtpError extends Error {
  readonly code?: string | undefined;
  readonly command?: string | undefined;
  readonly response?: string | undefined;
}

const failureOf = (error: SmtpError, endpoint: Endpoint, connection: SMTPConnection): SessionFailure => {
  const { message, response = null } = error;
  if (error.code === 'ETLS' || connection.upgrading) return new SessionFailure('tls', message, response);
  if (response !== null) return new SessionFailure('refused', message, response);
  // With implicit TLS a bad certificate is an ordinary socket error: only its message tells (measured).
  const tls = endpoint.tls === 'implicit' && /certificate|ssl|tls|altname/i.test(message);
  return new SessionFailure(tls ? 'tls' : 'connect', message);
};

class OpenSession implements Session {
  readonly secure: boolean;
  readonly ended: Promise<void>;
  #halfway = false;

  constructor(
    private readonly connection: SMTPConnection,
    readonly endpoint: Endpoint,
    readonly extensions: SessionExtensions,
    readonly announcedSize: number | null,
  ) {
    this.secure = connection.secure;
    this.ended = new Promise((resolve) => connection.once('end', resolve));
  }

  get alive(): boolean {
    return !this.connection.destroyed;
  }

  quit(): void {
    if (this.alive) this.connection.quit();
  }

  transmit(mail: Envelope, pieces: readonly Buffer[], signal: AbortSignal): Promise<readonly Progress[]> {
    const { from, recipients, needsSmtpUtf8, needsEightBit = false, reports } = mail;
    return new Promise((resolve) => {
      const source = new Source(pieces);
      // nodemailer records refused recipients in this object, which are there even when `send` fails later.
      const envelope: RecordedEnvelope = {
        from,
        to: [...recipients],
        size: source.length,
        use8BitMime: needsEightBit,
        ...(reports && { dsn: dsnOf(reports) }),
      };
      if (needsSmtpUtf8) saySmtpUtf8(this.connection);
      const finish = (error: SmtpError | null, response: string) => {
        signal.removeEventListener('abort', abort);
        this.#halfway = error !== null;
        resolve(
          progress(
            recipients,
            envelope,
            error === null ? { step: 'DOT', reply: response, problem: '' } : end(error, source),
          ),
        );
      };
      const abort = () => {
        finish(new Error('Gave up waiting for the server'), '');
        this.connection.close();
      };
      if (signal.aborted) return abort();
      signal.addEventListener('abort', abort, { once: true });
      this.connection.send(envelope, source as unknown as Readable, (error, info) =>
        finish(error, info?.response ?? ''),
      );
    });
  }

  settle(): Promise<void> {
    if (!this.#halfway || !this.alive) return Promise.resolve();
    this.#halfway = false;
    return new Promise((resolve) => {
      // A session settles up to a thousand times, so that the listener has to be removed each time.
      const done = () => {
        this.connection.off('end', done);
        resolve();
      };
      this.connection.once('end', done);
      this.connection.reset((error) => {
        if (error) this.connection.close();
        done();
      });
    });
  }
}

const dsnOf = ({ returned, envelopeId, notify, originalRecipient }: AskedReports) => ({
  ...(returned && { ret: returned }),
  ...(envelopeId && { envid: envelopeId }),
  ...(notify && { notify: notify.length === 0 ? ['NEVER'] : [...notify] }),
  ...(originalRecipient && { orcpt: originalRecipient }),
});

/**
 * Has the next MAIL command say SMTPUTF8. nodemailer says so for an address of the envelope alone, and a
 * header may have one beyond ASCII where the envelope has none (RFC 6531 3.4).
 */
function saySmtpUtf8(connection: SMTPConnection): void {
  const internals = connection as unknown as Internals;
  const say = internals._sendCommand;
  internals._sendCommand = (line) => {
    internals._sendCommand = say;
    const isSaid = !line.startsWith('MAIL FROM:') || / SMTPUTF8\b/.test(line);
    say.call(connection, isSaid ? line : `${line} SMTPUTF8`);
  };
}

interface RecordedEnvelope extends SMTPEnvelope {
  readonly rejectedErrors?: readonly { readonly recipient?: string; readonly response?: string }[];
}

type End = Omit<Progress, 'recipient'>;

/**
 * Recipients that were refused at RCPT have their own replies; all others share the end of the transaction.
 * With PIPELINING (RFC 2920) the recipients are named before the server has answered MAIL: where it refuses
 * that, its 503 to each of them says only that there is no transaction.
 */
const progress = (recipients: readonly string[], envelope: RecordedEnvelope, shared: End): Progress[] => {
  const refusals = new Map(
    shared.step === 'MAIL'
      ? []
      : envelope.rejectedErrors?.map(({ recipient, response = '' }) => [recipient, response]),
  );
  return recipients.map((recipient) => {
    const reply = refusals.get(recipient);
    return reply === undefined ? { recipient, ...shared } : { recipient, step: 'RCPT', reply, problem: '' };
  });
};

/** In words that prove nothing about a mailbox: no server has seen the address. */
const BREAKS_COMMAND = '501 5.5.4 An address of the message would break the SMTP command';

/** The end of a failed transaction. */
const end = (error: SmtpError, source: Source): End => {
  const { code, command, message, response } = error;
  // Two refusals are nodemailer's own: of the announced size, and of an address that breaks the command.
  if (code === 'EMESSAGE' && command === 'MAIL FROM')
    return { step: 'MAIL', reply: `552 5.3.4 ${message}`, problem: '' };
  if (code === 'EENVELOPE' && command === 'API') return { step: 'MAIL', reply: BREAKS_COMMAND, problem: '' };
  if (response === undefined) return { step: source.reached, reply: null, problem: message };
  return {
    step: source.reached === 'SESSION' ? (STEP_OF[command ?? ''] ?? 'SESSION') : 'DOT',
    reply: response,
    problem: '',
  };
};

const STEP_OF: Readonly<Record<string, Step>> = { 'MAIL FROM': 'MAIL', 'RCPT TO': 'RCPT', DATA: 'DATA' };

/** nodemailer's stream that ends the lines of a message with CRLF and escapes the dots that begin them. */
interface DataStream extends Writable {
  inByteCount: number;
  outByteCount: number;
  push(octets: Buffer): void;
  /** Writes the final dot. */
  _flush(done: () => void): void;
}

/** Looking for an exception copies a message; nodemailer looks at a large one octet by octet. */
const MOST_LOOKED_AT = 65_536;

function* slicesOf(pieces: readonly Buffer[]): Generator<Buffer> {
  for (const piece of pieces)
    for (let at = 0; at < piece.length; at += MOST_LOOKED_AT) yield piece.subarray(at, at + MOST_LOOKED_AT);
}

const LF = 0x0a;
const DOT = Buffer.from('.\r\n');
const LINE_OF_DOT = Buffer.from('\r\n.\r\n');

/** A dot that begins a line, or a line end that is not CRLF. */
const EXCEPTION = /^\.|\n\.|\r(?!\n)|(?:^|[^\r])\n/;

/** The message as a stream that records the step it has reached. */
class Source {
  reached: 'SESSION' | 'DATA' | 'DOT' = 'SESSION';
  readonly length: number;

  constructor(private readonly pieces: readonly Buffer[]) {
    this.length = pieces.reduce((sum, { length }) => sum + length, 0);
  }

  /**
   * Writes the message. One without exceptions, as most are, is not looked through once more: that took 200
   * us of 10 kB.
   */
  pipe<To extends NodeJS.WritableStream>(destination: To): To {
    const stream = destination as NodeJS.WritableStream as DataStream;
    this.reached = 'DATA';
    if (this.length > MOST_LOOKED_AT) {
      this.#endsWithDot(stream, 'end');
      this.#feed(stream, slicesOf(this.pieces));
      return destination;
    }
    // The last piece may be empty, as of a message that is a header alone.
    const last = this.pieces.findLast((piece) => piece.length > 0)?.at(-1);
    const raw = Buffer.concat([...this.pieces, last === LF ? DOT : LINE_OF_DOT]);
    if (EXCEPTION.test(raw.toString('latin1', 0, this.length))) {
      this.#endsWithDot(stream, 'end');
      stream.end(raw.subarray(0, this.length));
      return destination;
    }
    // One write with its end: over TLS each is a record and a packet.
    this.#endsWithDot(stream, 'data');
    stream.inByteCount = this.length;
    stream.outByteCount = raw.length;
    stream._flush = (done) => done();
    stream.push(raw);
    stream.end();
    return destination;
  }

  /** Has the dot count as written at this event, before the socket gets it. */
  #endsWithDot(stream: DataStream, event: 'data' | 'end'): void {
    stream.prependOnceListener(event, () => {
      this.reached = 'DOT';
    });
  }

  /** At the pace of the receiver: a socket keeps a second copy of what it cannot send at once. */
  #feed(stream: DataStream, slices: Iterator<Buffer>): void {
    for (let next = slices.next(); !next.done; next = slices.next())
      if (!stream.write(next.value)) return void stream.once('drain', () => this.#feed(stream, slices));
    stream.end();
  }
}
