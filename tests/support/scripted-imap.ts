import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import type { ImapAccount } from '../../src/mail/imap/imap-mailbox.ts';
import { AUTHORITY, CERTIFICATE, PRIVATE_KEY } from '../integration/transport/certificates.ts';

/** One client of the server. */
interface ImapSession {
  readonly tag: string;
  /** The whole command. */
  readonly line: string;
  /** Sends lines, and resolves once the client takes more. False once it has closed the connection. */
  say(...lines: readonly string[]): Promise<boolean>;
  /** Closes the connection. */
  hangUp(): void;
}

/** The untagged lines of an answer that ends with OK, or a function that answers by itself. */
type ScriptedAnswer = readonly string[] | ((session: ImapSession) => unknown);

/** The answers by command, `UID SEARCH` being one. */
export type ImapScript = Readonly<Record<string, ScriptedAnswer>>;

/** An IMAP server on loopback that says what a test wants. */
export interface ScriptedImap extends AsyncDisposable {
  readonly account: ImapAccount;
  /** The commands so far. */
  readonly commands: readonly string[];
  /** Sends to all clients. */
  say(...lines: readonly string[]): void;
  hangUp(): void;
}

/** An empty INBOX whose UIDVALIDITY is 7, and whose next UID is 5. */
export const EXAMINED: readonly string[] = [
  '* FLAGS (\\Seen)',
  '* 4 EXISTS',
  '* OK [UIDVALIDITY 7] valid',
  '* OK [UIDNEXT 5] next',
];

const USUAL: ImapScript = {
  CAPABILITY: ['* CAPABILITY IMAP4rev1 IDLE'],
  LIST: ['* LIST () "/" INBOX'],
  EXAMINE: EXAMINED,
  'UID SEARCH': ['* SEARCH'],
  IDLE: ({ say }) => say('+ idling'),
};

/** Starts one. What the script does not name is answered as by an idle server with an empty INBOX. */
export async function startScriptedImap(script: ImapScript): Promise<ScriptedImap> {
  const answers: ImapScript = { ...USUAL, ...script };
  const commands: string[] = [];
  const sockets = new Set<TLSSocket>();
  const server = createServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    const say = (...lines: readonly string[]): Promise<boolean> => {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const text = lines.map((line) => `${line}\r\n`).join('');
      if (socket.destroyed) resolve(false);
      else socket.write(text, () => resolve(!socket.destroyed));
      return promise;
    };
    let idleTag = '';
    const answer = async (line: string): Promise<void> => {
      if (line === 'DONE') return void (await say(`${idleTag} OK done`));
      const [tag = '', first = '', second = ''] = line.split(' ');
      const command = (first.toUpperCase() === 'UID' ? `UID ${second}` : first).toUpperCase();
      commands.push(command);
      if (command === 'IDLE') idleTag = tag;
      const found = answers[command] ?? [];
      if (typeof found === 'function') await found({ tag, line, say, hangUp: () => socket.destroy() });
      else await say(...found, `${tag} OK done`);
    };
    let rest = '';
    socket.on('data', (octets) => {
      const lines = (rest + octets.toString('latin1')).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) void answer(line);
    });
    void say('* OK [CAPABILITY IMAP4rev1 IDLE] ready');
  });
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const hangUp = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    account: {
      address: '127.0.0.1',
      host: 'localhost',
      port,
      security: 'tls',
      ca: AUTHORITY,
      username: 'ada',
      password: 'right horse',
      folder: 'INBOX',
    },
    commands,
    say(...lines) {
      for (const socket of sockets) socket.write(lines.map((line) => `${line}\r\n`).join(''));
    },
    hangUp,
    async [Symbol.asyncDispose]() {
      hangUp();
      server.close();
    },
  };
}
