import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerAddress, type SMTPServerOptions } from 'smtp-server';

/** A message as a server received it. */
export interface Received {
  readonly from: string;
  readonly to: readonly string[];
  readonly raw: Buffer;
  readonly secure: boolean;
  readonly user: string | null;
  readonly ehlo: string;
  /** The parameters of MAIL and of each RCPT, as they came. */
  readonly parameters?: readonly string[];
}

/** A well-behaved SMTP server (npm smtp-server) that keeps what it gets. */
export interface Sink extends AsyncDisposable {
  readonly port: number;
  readonly received: Received[];
}

const parametersOf = (address: SMTPServerAddress | false): string =>
  Object.entries(address === false ? {} : address.args || {})
    .filter(([name]) => name !== 'SIZE')
    .map(([name, value]) => (value === true ? name : `${name}=${value}`))
    .toSorted()
    .join(' ');

/** Starts one. Only what `options` change differs from an open server without TLS. */
export const startSink = async (
  options: SMTPServerOptions = {},
  { host = '127.0.0.1', port = 0 } = {},
): Promise<Sink> => {
  const received: Received[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: options.key ? [] : ['STARTTLS'],
    disableReverseLookup: true,
    logger: false,
    closeTimeout: 100,
    onAuth: ({ username, password }, _session, done) =>
      done(password === 'secret' ? null : new Error('wrong'), { user: username }),
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        received.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks),
          secure: session.secure,
          user: (session.user as string | undefined) ?? null,
          ehlo: session.hostNameAppearsAs,
          parameters: [mailFrom, ...rcptTo].map(parametersOf),
        });
        done();
      });
    },
    ...options,
  });
  // Clients that hang up in the middle are part of what the tests do.
  server.on('error', () => {});
  const listener = server.listen(port, host);
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    received,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(resolve)),
  };
};
