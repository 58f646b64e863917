import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AUTHORITY } from './certificates.ts';

/** A client that says one command after the other, and keeps each reply as its lines. */
export class SmtpClient {
  #pending = '';
  #waiting: ((lines: readonly string[]) => void) | null = null;

  constructor(private socket: Socket) {
    this.#listen();
  }

  static async open(port: number, isTls = false): Promise<SmtpClient> {
    const options = { port, host: '127.0.0.1', ca: AUTHORITY, servername: 'relay.test' };
    const client = new SmtpClient(isTls ? connectTls(options) : connect(options));
    await client.read();
    return client;
  }

  read(): Promise<readonly string[]> {
    return new Promise((resolve) => {
      this.#waiting = resolve;
      this.#look();
    });
  }

  say(command: string): Promise<readonly string[]> {
    const reply = this.read();
    this.socket.write(`${command}\r\n`);
    return reply;
  }

  /** Sends octets as they are; `read` gives what is answered. */
  sendOctets(octets: Uint8Array): void {
    this.socket.write(octets);
  }

  /** Settles when what was sent has left this process. */
  flushed(): Promise<void> {
    return new Promise((done) => void this.socket.write('', () => done()));
  }

  /** Settles when the server has ended the session. */
  get ended(): Promise<unknown> {
    return this.socket.readableEnded ? Promise.resolve() : once(this.socket, 'end');
  }

  async startTls(): Promise<void> {
    await this.say('STARTTLS');
    this.socket.removeAllListeners('data');
    const secure = connectTls({ socket: this.socket, ca: AUTHORITY, servername: 'relay.test' });
    await once(secure, 'secureConnect');
    this.socket = secure;
    this.#listen();
  }

  end(): void {
    this.socket.destroy();
  }

  #listen(): void {
    this.socket.on('data', (chunk) => {
      this.#pending += chunk.toString('utf8');
      this.#look();
    });
    this.socket.on('error', () => {});
  }

  #look(): void {
    const reply = /^(?:\d{3}-[^\n]*\n)*\d{3}(?: [^\n]*)?\r\n/.exec(this.#pending)?.[0];
    if (reply === undefined || this.#waiting === null) return;
    this.#pending = this.#pending.slice(reply.length);
    this.#waiting(reply.slice(0, -2).split('\r\n'));
    this.#waiting = null;
  }
}
