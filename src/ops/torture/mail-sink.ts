import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type RandomSource, randomFrom } from './random.ts';

/** The copies of one message that were accepted for one recipient. */
export interface ReceivedCopies {
  /** Times that the message was accepted, even when the reply did not reach the sender. */
  copies: number;
  /** Time of the first copy (epoch ms). */
  readonly firstAt: number;
}

/** Percentage of messages that each fault hits; the rest is accepted at once. */
const FAULTS = {
  /** The connection is reset within the message: it was not accepted. */
  'cut before the final dot': 6,
  /** The connection is reset after the message was accepted, before the reply: the sender cannot know. */
  'cut after the final dot': 6,
  /** A transient refusal (RFC 5321 4.2.5). */
  '451': 8,
  /** The reply to an accepted message comes late, sometimes later than the lease ends. */
  slow: 5,
} as const;

type Fault = keyof typeof FAULTS;

const SLOW_MS = [50, 2_500] as const;
const END = '\r\n.\r\n';
const MAIL = /^MAIL FROM:/i;
const RCPT = /^RCPT TO:<([^>]*)>/i;
const MESSAGE_ID = /^message-id:\s*<(em_\w+)@/im;

/** Recipients whose local part begins with this are refused permanently. */
export const REFUSED = 'refused';

/** A mail server that accepts, refuses, resets and delays, and records what it accepted. */
export class MailSink {
  /** Accepted messages by email id, which the Message-ID contains, and recipient. */
  readonly taken = new Map<string, ReceivedCopies>();
  /** When each message began, monotonic: its `MAIL FROM` was read. */
  readonly begun: number[] = [];
  readonly faults = new Map<Fault, number>();
  readonly #chance: RandomSource;
  readonly #sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    seed: number,
    private readonly isFaulty: boolean,
  ) {
    this.#chance = randomFrom(seed);
  }

  /** Listens on a free port of 127.0.0.1. */
  static async open(seed: number, manner: 'faulty' | 'faultless' = 'faulty'): Promise<MailSink> {
    const server = createServer();
    const sink = new MailSink(server, seed, manner === 'faulty');
    server.on('connection', (socket) => sink.#converse(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return sink;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  #converse(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => {});
    let pending = '';
    let recipients: string[] = [];
    let inData = false;
    let cut = false;
    let working = false;
    const work = async (): Promise<void> => {
      if (working) return;
      working = true;
      while (!socket.destroyed) {
        if (inData && cut) {
          socket.resetAndDestroy();
          return;
        }
        const mark = inData ? END : '\r\n';
        const end = pending.indexOf(mark);
        if (end < 0) break;
        const text = pending.slice(0, end + 2);
        pending = pending.slice(end + mark.length);
        if (inData) {
          inData = false;
          await this.#take(socket, text, recipients);
          continue;
        }
        const reply = replyTo(text);
        if (MAIL.test(text)) {
          recipients = [];
          this.begun.push(performance.now());
        }
        const recipient = RCPT.exec(text)?.[1];
        if (recipient !== undefined && reply.startsWith('250')) recipients.push(recipient);
        inData = reply.startsWith('354');
        cut = inData && this.#strikes('cut before the final dot');
        socket.write(`${reply}\r\n`);
      }
      working = false;
    };
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      pending += chunk;
      void work();
    });
    socket.write('220 sink ESMTP\r\n');
  }

  /**
   * Called after the final dot: unless the server refuses now, the message is its responsibility (RFC 5321
   * 4.2.5).
   */
  async #take(socket: Socket, message: string, recipients: readonly string[]): Promise<void> {
    if (this.#strikes('451')) return void socket.write('451 4.3.0 Not now\r\n');
    const id = MESSAGE_ID.exec(message)?.[1] ?? 'without a Message-ID';
    for (const recipient of recipients) {
      const known = this.taken.get(`${id} ${recipient}`);
      if (known) known.copies++;
      else this.taken.set(`${id} ${recipient}`, { copies: 1, firstAt: Date.now() });
    }
    if (this.#strikes('cut after the final dot')) return void socket.resetAndDestroy();
    if (this.#strikes('slow')) await pause(this.#chance.between(...SLOW_MS));
    socket.write('250 2.0.0 Taken\r\n');
  }

  #strikes(fault: Fault): boolean {
    if (!this.isFaulty || this.#chance.next() * 100 >= FAULTS[fault]) return false;
    this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1);
    return true;
  }
}

/** The reply to one command. PIPELINING is not offered, so that the client waits for each reply. */
function replyTo(line: string): string {
  switch (line.slice(0, 4).toUpperCase()) {
    case 'EHLO':
      return '250-sink\r\n250-ENHANCEDSTATUSCODES\r\n250 8BITMIME';
    case 'RCPT':
      return line.includes(`<${REFUSED}`) ? '550 5.1.1 No such user' : '250 2.1.5 Ok';
    case 'DATA':
      return '354 Go ahead';
    case 'QUIT':
      return '221 2.0.0 Bye';
    default:
      return '250 2.0.0 Ok';
  }
}
