/** What the two SMTP listeners share: starting, stopping, taking in a message, answering with a code. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerOptions } from 'smtp-server';

/** Where a listener stands. */
export interface DoorOptions {
  readonly host: string;
  /** 0 for any that is free. */
  readonly port: number;
  /** The name in the greeting. */
  readonly name: string;
  /** PEM. With it STARTTLS is offered. */
  readonly tls: { readonly cert: string; readonly key: string } | null;
  /** Told of what goes wrong in a connection: hang-ups, failed handshakes. Nothing has to be done about it. */
  readonly onTrouble: (error: Error) => void;
}

/** A listener that runs. */
export interface SmtpDoor {
  readonly port: number;
  /** Takes no new connection, lets messages under way finish, then settles. */
  close(): Promise<void>;
}

/** Starts listening. Rejects when the port cannot be had. */
export const openDoor = async (options: DoorOptions, behaviour: SMTPServerOptions): Promise<SmtpDoor> => {
  const { host, port, name, tls, onTrouble } = options;
  const server = new SMTPServer({
    name,
    banner: 'Posthorn',
    ...(tls ?? { disabledCommands: ['STARTTLS'] }),
    logger: false,
    // A lookup per connection at the mercy of the client's own name servers.
    disableReverseLookup: true,
    maxClients: 200,
    socketTimeout: 60_000,
    closeTimeout: 10_000,
    ...behaviour,
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

/** The whole message. Rejects with a `Refusal` when it is larger than allowed, having held no more than that. */
export const takeIn = (stream: SMTPServerDataStream): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    // Events and not `for await`, which was five times as slow (measured).
    stream.on('data', (chunk: Buffer) => {
      if (stream.sizeExceeded) chunks = [];
      else chunks.push(chunk);
    });
    stream.on('end', () => (stream.sizeExceeded ? reject(TOO_LARGE) : resolve(Buffer.concat(chunks))));
    stream.on('error', reject);
  });

const TOO_LARGE = new Refusal(552, '5.3.4 The message is too large');
