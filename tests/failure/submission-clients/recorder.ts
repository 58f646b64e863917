import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { CERTIFICATE, PRIVATE_KEY } from '../../integration/transport/certificates.ts';

/** A message as a client gave it, on its way through a recorder. */
export interface HandedMessage {
  /** The commands of its envelope, as they came. */
  readonly mail: string;
  readonly recipients: readonly string[];
  /** The message without the dots of SMTP. */
  readonly octets: Buffer;
  /** The last reply of the server. */
  readonly reply: string;
}

/** A port that passes on all octets of SMTP sessions to another one, and keeps the messages in them. */
export interface Recorder extends AsyncDisposable {
  readonly port: number;
  readonly handed: HandedMessage[];
}

/**
 * Starts one before a port of this machine. `isTls`: its clients come by TLS, and the server is reached
 * without.
 */
export async function startRecorder(to: number, isTls = false): Promise<Recorder> {
  const handed: HandedMessage[] = [];
  const sockets = new Set<Socket>();
  const accept = (client: Socket): void => {
    const server = connect(to, '127.0.0.1');
    const session = new Session((message) => handed.push(message));
    const pairs = [
      [client, server, (chunk: Buffer) => session.onClient(chunk)],
      [server, client, (chunk: Buffer) => session.onServer(chunk)],
    ] as const;
    for (const [from, into, see] of pairs) {
      sockets.add(from);
      from.on('data', (chunk: Buffer) => {
        see(chunk);
        into.write(chunk);
      });
      from.on('error', () => into.destroy());
      from.on('end', () => into.end());
      from.on('close', () => sockets.delete(from));
    }
  };
  const listener = isTls
    ? createTlsServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, accept)
    : createServer(accept);
  // A client that does not like the certificate hangs up.
  listener.on('tlsClientError', () => {}).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    handed,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      listener.close();
      await once(listener, 'close');
    },
  };
}

type OnReply = (line: string) => void;

/** Reads a session: commands, messages by DATA and BDAT, and the reply to each command. */
class Session {
  #client = '';
  #server = '';
  #state: 'command' | 'waiting' | 'data' | 'chunk' = 'command';
  #chunk = { left: 0, isLast: false };
  #octets = '';
  #mail = '';
  #recipients: string[] = [];
  /** The command that each reply answers, in order. The first reply is the greeting. */
  readonly #replies: OnReply[] = [() => {}];

  constructor(private readonly keep: (message: HandedMessage) => void) {}

  onClient(chunk: Buffer): void {
    this.#client += chunk.toString('latin1');
    while (this.#step());
  }

  onServer(chunk: Buffer): void {
    this.#server += chunk.toString('latin1');
    for (let end = this.#server.indexOf('\n'); end !== -1; end = this.#server.indexOf('\n')) {
      const line = this.#server.slice(0, end).trimEnd();
      this.#server = this.#server.slice(end + 1);
      if (/^\d{3}(?: |$)/.test(line)) this.#replies.shift()?.(line);
    }
  }

  #step(): boolean {
    if (this.#state === 'data') return this.#onData();
    if (this.#state === 'chunk') return this.#onChunk();
    const end = this.#client.indexOf('\n');
    if (this.#state === 'waiting' || end === -1) return false;
    const line = this.#client.slice(0, end).trimEnd();
    this.#client = this.#client.slice(end + 1);
    this.#onCommand(line);
    return true;
  }

  #onCommand(line: string): void {
    const verb = line.slice(0, 4).toUpperCase();
    if (verb === 'DATA') {
      this.#state = 'waiting';
      this.#replies.push((reply) => {
        this.#state = reply.startsWith('354') ? 'data' : 'command';
        this.onClient(Buffer.alloc(0));
      });
      return;
    }
    if (verb === 'BDAT') {
      const [, octets = '0', last = ''] = /^BDAT\s+(\d+)(?:\s+(LAST))?/i.exec(line) ?? [];
      this.#chunk = { left: Number(octets), isLast: last !== '' };
      this.#state = 'chunk';
      return;
    }
    if (verb === 'MAIL') {
      this.#mail = line;
      this.#recipients = [];
      this.#octets = '';
    }
    this.#replies.push((reply) => {
      if (verb === 'RCPT' && reply.startsWith('2')) this.#recipients.push(line);
    });
  }

  #onData(): boolean {
    const end = this.#client.startsWith('.\r\n') ? 0 : this.#client.indexOf('\r\n.\r\n') + 2;
    if (end === 1) return false;
    const octets = this.#client.slice(0, end).replace(/(^|\r\n)\./g, '$1');
    this.#client = this.#client.slice(end + 3);
    this.#state = 'command';
    this.#keepOnReply(octets);
    return true;
  }

  #onChunk(): boolean {
    const taken = this.#client.slice(0, this.#chunk.left);
    this.#client = this.#client.slice(taken.length);
    this.#chunk.left -= taken.length;
    this.#octets += taken;
    if (this.#chunk.left > 0) return false;
    this.#state = 'command';
    if (this.#chunk.isLast) this.#keepOnReply(this.#octets);
    else this.#replies.push(() => {});
    return true;
  }

  #keepOnReply(octets: string): void {
    const mail = this.#mail;
    // The replies to RCPT come before this one, and fill it.
    const recipients = this.#recipients;
    this.#replies.push((reply) =>
      this.keep({ mail, recipients, octets: Buffer.from(octets, 'latin1'), reply }),
    );
  }
}
