import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import {
  SMTPServer,
  type SMTPServerDataStream,
  type SMTPServerOptions,
  type SMTPServerSession,
} from 'smtp-server';
import { BodyBudget, type BodyReservation } from '../../platform/async/body-budget.ts';
import { type BudgetLimits, KeyedBudget } from '../../platform/async/keyed-budget.ts';
import { clientKey } from '../../platform/config/client-address.ts';
import { MESSAGE_MEMORY } from '../../platform/config/message-memory.ts';
import type { CertificateSource } from '../../platform/crypto/certificate-source.ts';
import { portNotOpened } from '../../platform/errors/port-not-opened.ts';
import { type ArrivalTime, type Connection, endForStop, endSlowData, noteEnd } from './connection.ts';
import { ConnectionLimit } from './connection-limit.ts';
import { readDataAtOnce } from './data-mode.ts';
import type { MessageBuffer } from './message-buffer.ts';
import { readLineByLine } from './port/command-lines.ts';
import { answerHalfClosed } from './port/half-closed.ts';
import { takeProxyHeader } from './port/proxied-socket.ts';
import { needCertificate, noteTls, OLDEST_TLS } from './port/session-tls.ts';
import { takeUnusualPaths } from './port/unusual-paths.ts';
import { completeReplies } from './smtp-replies.ts';

/** The options that both SMTP listeners share. */
export interface SmtpServerOptions {
  readonly host: string;
  /** The port; 0 for any free one. */
  readonly port: number;
  /** The name in the greeting. */
  readonly name: string;
  /** The certificate; STARTTLS is offered as soon as there is one, and never where this is null. */
  readonly tls: CertificateSource | null;
  /** The connection is inside TLS from its first octet (RFC 8314 3.3); needs `tls`. */
  readonly implicitTls?: boolean;
  /** True of the address of a balancer, whose connections begin with a PROXY header. All others must not. */
  readonly isProxy?: (address: string) => boolean;
  /** Called for errors of single connections, such as failed handshakes; they need no action. */
  readonly onError: (error: Error) => void;
  readonly limits?: Partial<SmtpServerLimits>;
}

/** The limits of a listener. */
export interface SmtpServerLimits {
  /**
   * Connections of one address at a time; the next one gets 421 4.7.0, which asks the sender to try later.
   */
  readonly connections: number;
  /**
   * Milliseconds for the handshake of a connection that begins inside TLS. A client may have as many under
   * way as connections.
   */
  readonly handshakeMs: number;
  /**
   * Octets of messages that are arriving or being processed; a message beyond it gets 452 4.3.1 (RFC 5321
   * 4.5.3.1).
   */
  readonly memory: BudgetLimits;
  /** The time for a message to arrive; then 421 4.4.2 ends the connection. */
  readonly arrival: ArrivalTime;
  /** Milliseconds without an octet of a message after which a listener that closes ends its connection. */
  readonly silenceAtStopMs: number;
}

/** 50 connections is Postfix's own limit for one client. */
const LIMITS: SmtpServerLimits = {
  connections: 50,
  handshakeMs: 10_000,
  memory: MESSAGE_MEMORY.received,
  // Strangers send it: 32 MiB in ten minutes are 56 kB/s, and a report takes a second.
  arrival: { everyMs: 600_000, octets: 0, mostMs: 600_000 },
  // Docker kills ten seconds after it asked for the stop.
  silenceAtStopMs: 3_000,
};

/** An option of `net.createServer`, which the library hands on though its types do not name it. */
const HALF_OPEN = { allowHalfOpen: true };

/** A running listener. */
export interface SmtpServer {
  readonly port: number;
  /** Accepts no new connection, lets messages in progress finish, then settles. */
  close(): Promise<void>;
}

/** The extensions of a listener beyond those of the library. */
export interface Extensions {
  /** Their keywords in the reply to EHLO. */
  readonly keywords: readonly string[];
  /** The parameters that MAIL and RCPT take. */
  readonly parameters: { readonly mail: readonly string[]; readonly rcpt: readonly string[] };
  /** Called with each connection before it says anything. */
  extend(connection: Connection, arrival: ArrivalTime): void;
}

/** The handlers of a listener, given its memory budget. */
export type Behaviour = (budget: BodyBudget) => Omit<
  SMTPServerOptions,
  'onMailFrom' | 'onConnect' | 'onClose' | 'onSecure'
> & {
  readonly extensions?: Extensions;
  /** The refusal of a message whose size was announced at MAIL (RFC 1870). */
  readonly onSize?: (octets: number, session: SMTPServerSession) => Refusal | null;
};

/** Starts listening. Rejects when the port is not available. */
export const openSmtpServer = async (
  options: SmtpServerOptions,
  behaviour: Behaviour,
): Promise<SmtpServer> => {
  const { host, port, name, tls, implicitTls = false, isProxy = () => false, onError } = options;
  const limits = { ...LIMITS, ...options.limits };
  const connections = new ConnectionLimit(limits.connections);
  const {
    onRcptTo,
    onSize = () => null,
    extensions = NO_EXTENSIONS,
    disabledCommands = [],
    ...others
  } = behaviour(new BodyBudget(limits.memory));
  const { parameters } = extensions;
  const needsTls = tls !== null && others.allowInsecureAuth !== true;
  const setup = { tls, needsTls, implicitTls, isProxy, extensions, limits };
  const server = new CompleteServer(setup, {
    name,
    banner: 'Posthorn',
    disabledCommands: [...disabledCommands, ...(tls ? [] : ['STARTTLS'])],
    secure: implicitTls,
    logger: false,
    ...HALF_OPEN,
    // A reverse lookup would depend on the client's own name servers.
    disableReverseLookup: true,
    maxClients: 200,
    socketTimeout: 60_000,
    closeTimeout: 10_000,
    onConnect: (session, done) => done(connections.admit(session) ? null : TOO_MANY),
    onClose: (session) => connections.leave(session),
    onSecure: (socket, session, done) => {
      noteTls(socket, session);
      done();
    },
    onMailFrom: ({ args }, session, done) => {
      const { SIZE = 0 } = (args || {}) as { readonly SIZE?: string };
      done(unknownParameter(args, parameters.mail) ?? onSize(Number(SIZE), session));
    },
    onRcptTo: (address, session, done) => {
      const unknown = unknownParameter(address.args, parameters.rcpt);
      if (unknown || !onRcptTo) return done(unknown);
      onRcptTo(address, session, done);
    },
    ...others,
  });
  // Without a listener for it the library throws the error of a port that is taken, and nothing hears of it:
  // the start hung.
  const failed = Promise.withResolvers<never>();
  server.once('error', (error) => failed.reject(portNotOpened({ hostname: host, port }, error)));
  const listener = server.listen(port, host);
  await Promise.race([once(listener, 'listening'), failed.promise]);
  server.on('error', onError);
  const { port: taken } = listener.address() as AddressInfo;
  return { port: taken, close: () => new Promise((resolve) => server.close(resolve)) };
};

/** The traits of a listener that smtp-server has no option for. */
interface Setup extends Required<Pick<SmtpServerOptions, 'tls' | 'implicitTls' | 'isProxy'>> {
  readonly needsTls: boolean;
  readonly extensions: Extensions;
  readonly limits: SmtpServerLimits;
}

type Accepted = Parameters<SMTPServer['_handleProxy']>[1];

/**
 * smtp-server, with replies that are complete, a certificate that is renewed, and PROXY headers of both
 * versions.
 */
class CompleteServer extends SMTPServer {
  readonly #setup: Setup;
  /** By their sockets, the clients that PROXY headers name. */
  readonly #clients = new WeakMap<Socket, string>();
  readonly #handshakes: KeyedBudget;

  constructor(setup: Setup, options: SMTPServerOptions) {
    super(options);
    this.#setup = setup;
    const { tls, needsTls, extensions, limits } = setup;
    const { arrival, connections: each } = limits;
    this.#handshakes = new KeyedBudget({ total: Number.POSITIVE_INFINITY, each });
    const hasTls = () => tls !== null && tls.current !== null;
    tls?.follow(({ certificate, key }) =>
      this.updateSecureContext({ cert: certificate, key, minVersion: OLDEST_TLS }),
    );
    const connections = this.#connections;
    const add = connections.add.bind(connections);
    // A connection is added before it says anything.
    connections.add = (connection) => {
      noteEnd(connection);
      completeReplies(connection, { needsTls, hasTls, keywords: extensions.keywords });
      if (tls) needCertificate(connection, tls);
      answerHalfClosed(connection);
      readLineByLine(connection);
      readDataAtOnce(connection);
      endSlowData(connection, arrival);
      extensions.extend(connection, arrival);
      // The outermost, since the others divide a command at its blanks.
      takeUnusualPaths(connection);
      return add(connection);
    };
  }

  get #connections(): Set<Connection> {
    return (this as unknown as { readonly connections: Set<Connection> }).connections;
  }

  override close(done?: () => void): void {
    super.close(done);
    for (const connection of [...this.#connections])
      endForStop(connection, this.#setup.limits.silenceAtStopMs);
  }

  override _acceptSocket(socket: Socket, handshake: boolean): ReturnType<SMTPServer['_acceptSocket']> {
    const { tls, implicitTls } = this.#setup;
    if (!implicitTls || tls?.current) return super._acceptSocket(socket, handshake);
    // Without a certificate there is no TLS, and no clear text either.
    socket.on('error', () => {}).destroy();
    return false;
  }

  /** The library has 200 places for handshakes, which one silent client could hold. */
  override _upgrade(socket: Socket, done: Parameters<SMTPServer['_upgrade']>[1]): void {
    const client = clientKey(this.#clients.get(socket) ?? socket.remoteAddress ?? '');
    if (!this.#handshakes.take(client))
      return done(new Error(`${client} has too many handshakes under way.`));
    const end = () => this._pendingSockets.get(socket)?.destroy();
    const timer = setTimeout(end, this.#setup.limits.handshakeMs);
    timer.unref();
    super._upgrade(socket, (error, secure) => {
      clearTimeout(timer);
      this.#handshakes.give(client);
      done(error, secure);
    });
  }

  override _expectsProxyHeader({ remoteAddress }: Socket): boolean {
    return remoteAddress !== undefined && this.#setup.isProxy(remoteAddress);
  }

  override _handleProxy(socket: Socket, done: Accepted): void {
    const id = crypto.randomUUID();
    if (!this._expectsProxyHeader(socket)) return void setImmediate(() => done(null, { id }));
    takeProxyHeader(socket, (error, client) => {
      if (error) this.emit('error', error);
      if (error) return done(error);
      if (client !== null) this.#clients.set(socket, client);
      done(null, { id, ...(client !== null && { remoteAddress: client }) });
    });
  }
}

/** A negative reply: the code and, in the text, the enhanced status. */
export class Refusal extends Error {
  constructor(
    readonly responseCode: number,
    message: string,
  ) {
    // A line break would begin another reply.
    super(message.replace(/\s+/g, ' ').slice(0, 400));
  }
}

/**
 * Reads a message into `buffer`. Rejects with a `Refusal` when the message exceeds the limit of the listener,
 * `most` octets, or the memory budget. The rest is read and dropped, because a reply before the final dot
 * would not be read (RFC 5321 3.3).
 */
export const takeIn = (
  stream: SMTPServerDataStream,
  buffer: MessageBuffer,
  reservation: BodyReservation & { onLost?(drop: () => void): void },
  most = Number.POSITIVE_INFINITY,
): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    let refusal: Refusal | null = null;
    const refuse = (because: Refusal): void => {
      refusal = because;
      buffer.clear();
      reservation.release();
    };
    reservation.onLost?.(() => refuse(NO_MEMORY));
    // Events are used because `for await` was five times as slow (measured).
    stream.on('data', (chunk: Buffer) => {
      if (refusal !== null) return;
      buffer.add(chunk);
      if (stream.sizeExceeded || buffer.octets > most) refuse(TOO_LARGE);
      else if (!reservation.hold(buffer.octets)) refuse(NO_MEMORY);
    });
    stream.on('end', () => {
      if (stream.sizeExceeded) refusal = TOO_LARGE;
      if (refusal === null) resolve(buffer.message());
      else reject(refusal);
      buffer.clear();
    });
    stream.on('error', reject);
  });

/**
 * The parameters of the extensions that the library offers: 8BITMIME, SIZE, SMTPUTF8 and AUTH (RFC 6152,
 * 1870, 6531, 4954).
 */
export const NO_EXTENSIONS: Extensions = {
  keywords: [],
  parameters: { mail: ['BODY', 'SIZE', 'SMTPUTF8', 'AUTH'], rcpt: [] },
  extend: () => {},
};

/** RFC 5321 4.1.1.11: a parameter that was not offered must not be ignored silently. */
function unknownParameter(args: object | false | undefined, known: readonly string[]): Refusal | null {
  const unknown = Object.keys(args || {}).find((name) => !known.includes(name));
  return unknown === undefined ? null : new Refusal(555, `5.5.4 Unknown parameter ${unknown.slice(0, 40)}`);
}

const TOO_LARGE = new Refusal(552, '5.3.4 The message is too large');
export const NO_MEMORY = new Refusal(
  452,
  '4.3.1 Too many large messages are arriving, please try again later',
);
const TOO_MANY = new Refusal(421, '4.7.0 Too many connections from your address, please try again later');
