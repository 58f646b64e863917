/** What the two SMTP listeners share: starting, stopping, taking in a message, answering with a code. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerOptions } from 'smtp-server';
import { BodyBudget, type BodyReservation, type BudgetLimits } from '../../http/body/body-budget.ts';
import { ConnectionLimit } from './connection-limit.ts';
import type { MessageBuffer } from './message-buffer.ts';

/** Where a listener stands. */
export interface SmtpServerOptions {
  readonly host: string;
  /** 0 for any that is free. */
  readonly port: number;
  /** The name in the greeting. */
  readonly name: string;
  /** PEM. With it STARTTLS is offered. */
  readonly tls: { readonly cert: string; readonly key: string } | null;
  /** The connection is inside TLS from its first octet (RFC 8314 3.3); needs `tls`. */
  readonly implicitTls?: boolean;
  /** Told of what goes wrong in a connection: hang-ups, failed handshakes. Nothing has to be done about it. */
  readonly onTrouble: (error: Error) => void;
  readonly limits?: Partial<SmtpServerLimits>;
}

/** What its clients may take of a listener. */
export interface SmtpServerLimits {
  /** Connections of one address at a time: 421 4.7.0 for the next one, which tells a sender to come back. */
  readonly connections: number;
  /** Octets of the messages that are arriving, or being dealt with: 452 4.3.1 for what goes beyond it (RFC 5321 4.5.3.1). */
  readonly room: BudgetLimits;
}

/**
 * Postfix's own limit of connections, half of its clients as it is here a quarter. Ten of the largest submissions; five of
 * one key. Reports are small, whatever arrives.
 */
const LIMITS: SmtpServerLimits = {
  connections: 50,
  room: { total: 268_435_456, each: 134_217_728 },
};

/** A listener that runs. */
export interface SmtpServer {
  readonly port: number;
  /** Takes no new connection, lets messages under way finish, then settles. */
  close(): Promise<void>;
}

/** What a listener does, given the room there is for messages. */
export type Behaviour = (room: BodyBudget) => SMTPServerOptions;

/** Starts listening. Rejects when the port cannot be had. */
export const openSmtpServer = async (
  options: SmtpServerOptions,
  behaviour: Behaviour,
): Promise<SmtpServer> => {
  const { host, port, name, tls, onTrouble } = options;
  const limits = { ...LIMITS, ...options.limits };
  const connections = new ConnectionLimit(limits.connections);
  const server = new SMTPServer({
    name,
    banner: 'Posthorn',
    ...(tls ?? { disabledCommands: ['STARTTLS'] }),
    secure: options.implicitTls ?? false,
    logger: false,
    // A lookup per connection at the mercy of the client's own name servers.
    disableReverseLookup: true,
    maxClients: 200,
    socketTimeout: 60_000,
    closeTimeout: 10_000,
    onConnect: (session, done) => done(connections.admit(session) ? null : TOO_MANY),
    onClose: (session) => connections.leave(session),
    ...behaviour(new BodyBudget(limits.room)),
  });
  const listener = server.listen(port, host);
  await once(listener, 'listening');
  server.on('error', onTrouble);
  const { port: taken } = listener.address() as AddressInfo;
  return { port: taken, close: () => new Promise((resolve) => server.close(resolve)) };
};

/** An answer other than yes: `code` and, in the text, the enhanced status. */
export class Refusal extends Error {
  constructor(
    readonly responseCode: number,
    message: string,
  ) {
    // A line break would begin a reply of its own.
    super(message.replace(/\s+/g, ' ').slice(0, 400));
  }
}

/**
 * What is kept of a message. Rejects with a `Refusal` when it is larger than allowed, or than there is room for, having held
 * no more than that. A reply before the final dot would not be read (RFC 5321 3.3): the rest is let past.
 */
export const takeIn = (
  stream: SMTPServerDataStream,
  kept: MessageBuffer,
  place: BodyReservation,
): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    let refusal: Refusal | null = null;
    // Events and not `for await`, which was five times as slow (measured).
    stream.on('data', (chunk: Buffer) => {
      if (refusal !== null) return;
      kept.add(chunk);
      if (stream.sizeExceeded) refusal = TOO_LARGE;
      else if (!place.hold(kept.octets)) refusal = NO_ROOM;
      if (refusal === null) return;
      kept.clear();
      place.leave();
    });
    stream.on('end', () => {
      if (stream.sizeExceeded) refusal = TOO_LARGE;
      if (refusal === null) resolve(kept.message());
      else reject(refusal);
      kept.clear();
    });
    stream.on('error', reject);
  });

const TOO_LARGE = new Refusal(552, '5.3.4 The message is too large');
const NO_ROOM = new Refusal(452, '4.3.1 Too many large messages are arriving, please try again later');
const TOO_MANY = new Refusal(421, '4.7.0 Too many connections from your address, please try again later');
