import { ImapFlow } from 'imapflow';
import { AUTHORITY } from '../integration/transport/certificates.ts';
import { eventually } from './eventually.ts';

/** The password of every user. */
export const PASSWORD = 'right horse';

/** An IMAP server of the tests' own on loopback, with TLS. */
export interface ImapServer extends AsyncDisposable {
  /** TLS from the first octet on. */
  readonly tlsPort: number;
  /** STARTTLS. */
  readonly port: number;
  /** The file of the authority that has signed its certificate for localhost. */
  readonly ca: string;
  /** Puts messages into a folder, as if they came at that time. */
  append(user: string, messages: readonly (string | Buffer)[], folder?: string, at?: Date): Promise<void>;
  /** The flags and the number of the messages in INBOX. */
  flags(user: string): Promise<readonly string[][]>;
  /**
   * The messages of INBOX by the threads of their References alone, as their numbers (REFS; REFERENCES of RFC
   * 5256 joins equal subjects too).
   */
  threads(user: string): Promise<readonly (readonly number[])[]>;
  /** Gives INBOX another UIDVALIDITY, as after a loss of the index. */
  renumber(user: string): Promise<void>;
  /** Ends the connections of a user, or of all. */
  kick(user: string): Promise<void>;
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Acts as a user of a server, by another connection than the service has. */
export async function asUser<Answer>(
  { tlsPort, user }: { readonly tlsPort: number; readonly user: string },
  act: (client: ImapFlow) => Promise<Answer>,
): Promise<Answer> {
  const client = new ImapFlow({
    host: 'localhost',
    port: tlsPort,
    secure: true,
    logger: false,
    tls: { ca: AUTHORITY },
    auth: { user, pass: PASSWORD },
    disableAutoIdle: true,
  });
  client.on('error', () => {});
  await client.connect();
  try {
    return await act(client);
  } finally {
    await client.logout().catch(() => client.close());
  }
}

/** The acts on a server that its own protocol has. */
export const byImap = (tlsPort: number): Pick<ImapServer, 'append' | 'flags' | 'threads'> => ({
  append: (user, messages, folder = 'INBOX', at) =>
    asUser({ tlsPort, user }, async (client) => {
      if (folder !== 'INBOX') await client.mailboxCreate(folder).catch(() => {});
      for (const message of messages) await client.append(folder, message, [], at);
    }),
  flags: (user) =>
    asUser({ tlsPort, user }, async (client) => {
      await client.mailboxOpen('INBOX', { readOnly: true });
      const all = await client.fetchAll('1:*', { flags: true });
      return all.map(({ flags }) => [...(flags ?? [])]);
    }),
  threads: (user) =>
    asUser({ tlsPort, user }, async (client) => {
      await client.mailboxOpen('INBOX', { readOnly: true });
      return threadsOf(client as unknown as CommandClient);
    }),
});

type Node = { readonly value: string } | readonly Node[];
/** ImapFlow knows no THREAD, and sends any command all the same. */
interface CommandClient {
  exec(
    command: string,
    attributes: readonly { readonly type: 'ATOM'; readonly value: string }[],
    options: {
      readonly untagged: Readonly<
        Record<string, (answer: { readonly attributes: readonly Node[] }) => Promise<void>>
      >;
    },
  ): Promise<{ next(): void }>;
}

const numbersIn = (node: Node): number[] =>
  'value' in node ? [Number(node.value)] : node.flatMap((one) => numbersIn(one));

async function threadsOf(client: CommandClient): Promise<readonly (readonly number[])[]> {
  const words = ['REFS', 'UTF-8', 'ALL'].map((value) => ({ type: 'ATOM', value }) as const);
  let found: readonly (readonly number[])[] = [];
  const reply = await client.exec('THREAD', words, {
    untagged: {
      async THREAD({ attributes }) {
        found = attributes.map((one) => numbersIn(one));
      },
    },
  });
  reply.next();
  return found;
}

const isOpen = async (port: number): Promise<boolean> =>
  Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } }).then(
    (socket) => {
      socket.end();
      return true;
    },
    () => false,
  );

/** Waits until a port is open, or closed. */
export const untilPort = (port: number, is: 'open' | 'closed'): Promise<true> =>
  eventually(`the port of the IMAP server is ${is}`, async () =>
    (await isOpen(port)) === (is === 'open') ? true : undefined,
  );

/**
 * Runs a command. Servers keep the streams of the command that starts them, so that none is read to its end.
 */
export async function run(
  words: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<void> {
  const env = { ...process.env, ...more };
  const code = await Bun.spawn([...words], { stdout: 'ignore', stderr: 'ignore', env }).exited;
  if (code !== 0) throw new Error(`${words.join(' ')}: ended with ${code}`);
}
