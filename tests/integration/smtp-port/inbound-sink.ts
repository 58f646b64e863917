import type { SmtpServer } from '../../../src/mail/inbound/smtp-server.ts';
import { createMailReader } from '../../../src/mail/reading/mail-reader.ts';
import {
  type InboundServerOptions,
  type IncomingMessage,
  openInboundServer,
} from '../../../src/mail/received/inbound-server.ts';
import { SmtpClient } from '../transport/smtp-client.ts';

/** A message as the port handed it on. */
type Taken = Omit<IncomingMessage<string>, 'raw' | 'taken'> & { readonly raw: string };

/** The port for mail that comes in, which takes mail to `known…@sender.example` and keeps it. */
export interface InboundSink extends AsyncDisposable {
  readonly server: SmtpServer;
  /** In the order of their coming; a test may empty it. */
  readonly messages: Taken[];
  /** The errors of connections. */
  readonly errors: Error[];
  /** A session that has said EHLO. */
  greeted(): Promise<SmtpClient>;
}

/** Opens one. */
export async function openInboundSink(
  options: Partial<InboundServerOptions<string>> = {},
): Promise<InboundSink> {
  const messages: Taken[] = [];
  const errors: Error[] = [];
  const mailReader = createMailReader();
  const server = await openInboundServer<string>({
    host: '127.0.0.1',
    port: 0,
    name: 'relay.test',
    tls: null,
    takesReports: () => false,
    takersOf: async (address) => (address.startsWith('known') ? [address] : []),
    isTogether: () => true,
    routeOf: (taker: string) => taker,
    onMessage: async ({ raw, taken, ...message }) =>
      void messages.push({ ...message, raw: raw.toString('latin1') }),
    onReport: async () => {},
    onError: (error) => errors.push(error),
    mailReader,
    ...options,
  });
  return {
    server,
    messages,
    errors,
    async greeted() {
      const client = await SmtpClient.open(server.port);
      await client.say('EHLO client.test');
      return client;
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      mailReader.close();
    },
  };
}

/** The first lines of the next replies. */
export async function replies(client: SmtpClient, count: number): Promise<readonly string[]> {
  const lines: string[] = [];
  while (lines.length < count) lines.push((await client.read())[0] ?? '');
  return lines;
}
