import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { freePort } from '../../src/ops/torture/free-port.ts';

/** The way in which a server refuses what exceeds one of its limits. */
export type Refusal =
  | { readonly at: 'connect'; readonly how: 'refused' | 'closed' | 'greeting'; readonly reply?: string }
  | { readonly at: 'mail' | 'rcpt' | 'data' | 'dot'; readonly reply: string; readonly closes?: boolean }
  /** It closes the session after the last mail that it takes, without a word. */
  | { readonly at: 'end' };

/** The limits of a server; what is absent has none. */
export interface ServerLimits {
  readonly connections?: { readonly most: number; readonly refusal: Refusal };
  readonly mailsPerSession?: { readonly most: number; readonly refusal: Refusal };
  readonly recipientsPerMail?: { readonly most: number; readonly refusal: Refusal };
  /** So many mails in each window of so many ms, which begins with the first mail in it. */
  readonly rate?: { readonly most: number; readonly windowMs: number; readonly refusal: Refusal };
  /** Refuses this one recipient always. */
  readonly recipient?: { readonly address: string; readonly reply: string };
  /** True when commands may be sent ahead of the replies (RFC 2920). */
  readonly isPipelining?: boolean;
  /** Time that each mail takes after its dot. */
  readonly takesMs?: number;
  /** No mail is answered after its dot before this settles. */
  readonly holds?: Promise<unknown>;
}

/** A server with limits, which keeps for whom it took mail. */
export interface LimitedSmtp extends AsyncDisposable {
  readonly port: number;
  limits: ServerLimits;
  /** The recipients of the mails that were taken, one after the other. */
  readonly taken: string[];
  /** The messages refused for a limit. */
  refused: number;
  /** The sessions that are open. */
  readonly open: number;
  /** The most sessions at once that mail could have been taken over. */
  most: number;
}

/** Starts one on a free port of this machine. */
export async function startLimitedSmtp(limits: ServerLimits): Promise<LimitedSmtp> {
  const sockets = new Set<Socket>();
  let open = 0;
  let windowEnds = 0;
  let inWindow = 0;
  let listening: Promise<unknown> = Promise.resolve();
  const isFull = (): boolean => open >= (server.limits.connections?.most ?? Number.POSITIVE_INFINITY);
  const refusesToConnect = (): boolean => {
    const refusal = server.limits.connections?.refusal;
    return refusal?.at === 'connect' && refusal.how === 'refused';
  };

  const accept = (socket: Socket): void => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    const refusal = server.limits.connections?.refusal;
    const isSurplus = isFull();
    if (isSurplus) server.refused += 1;
    if (isSurplus && refusal?.at === 'connect') {
      socket.on('close', () => sockets.delete(socket));
      if (refusal.how === 'greeting') socket.end(`${refusal.reply ?? '421 4.7.0 Too many connections'}\r\n`);
      else socket.end();
      return;
    }
    if (!isSurplus) open += 1;
    server.most = Math.max(server.most, open);
    // A full server that refuses connections does not listen until one has ended.
    if (refusesToConnect() && isFull()) stopListening();
    socket.on('close', () => {
      sockets.delete(socket);
      if (!isSurplus) open -= 1;
      if (refusesToConnect() && !isFull()) listening = listen();
    });
    new Conversation(socket, server, isSurplus ? (refusal ?? null) : null, countMail).begin();
  };
  /** Counts a mail against the rate; false when it is too many. */
  const countMail = (): boolean => {
    const { rate } = server.limits;
    if (rate === undefined) return true;
    const now = performance.now();
    if (now >= windowEnds) {
      windowEnds = now + rate.windowMs;
      inWindow = 0;
    }
    if (inWindow >= rate.most) return false;
    inWindow += 1;
    return true;
  };

  let listener: Server | null = null;
  const port = await freePort();
  const listen = async (): Promise<void> => {
    if (listener !== null) return;
    listener = createServer(accept).listen(port, '127.0.0.1');
    await once(listener, 'listening');
  };
  const stopListening = (): void => {
    listener?.close();
    listener = null;
  };
  const server: LimitedSmtp = {
    port,
    get open() {
      return open;
    },
    limits,
    taken: [],
    refused: 0,
    most: 0,
    async [Symbol.asyncDispose]() {
      server.limits = {};
      for (const socket of sockets) socket.destroy();
      await listening;
      stopListening();
    },
  };
  await listen();
  return server;
}

/** One session with a client. */
class Conversation {
  #pending = '';
  #isInData = false;
  #hasSender = false;
  #recipients: string[] = [];
  #mails = 0;

  constructor(
    private readonly socket: Socket,
    private readonly server: LimitedSmtp,
    /** Refuses every mail so, since there are too many sessions. */
    private readonly surplus: Refusal | null,
    private readonly countMail: () => boolean,
  ) {}

  begin(): void {
    this.socket.on('data', (chunk) => {
      this.#pending += chunk.toString('latin1');
      while (this.socket.writable && (this.#isInData ? this.#onMessage() : this.#onCommand()));
    });
    this.#say('220 limited.test ESMTP');
  }

  #say(line: string): void {
    this.socket.write(`${line}\r\n`);
  }

  /** Refuses at that step where a limit is reached; false when the step may be taken. */
  #refuses(at: Refusal['at']): boolean {
    const { mailsPerSession, recipientsPerMail, rate } = this.server.limits;
    const refusals = [
      this.surplus,
      mailsPerSession && this.#mails >= mailsPerSession.most ? mailsPerSession.refusal : null,
      recipientsPerMail && this.#recipients.length >= recipientsPerMail.most
        ? recipientsPerMail.refusal
        : null,
    ];
    const refusal =
      refusals.find((one) => one?.at === at) ??
      (rate?.refusal.at === at && !this.countMail() ? rate.refusal : null);
    if (!refusal || !('reply' in refusal) || refusal.reply === undefined) return false;
    this.server.refused += 1;
    this.#say(refusal.reply);
    if ('closes' in refusal && refusal.closes) this.socket.end();
    return true;
  }

  #onCommand(): boolean {
    const end = this.#pending.indexOf('\r\n');
    if (end < 0) return false;
    const command = this.#pending.slice(0, end);
    this.#pending = this.#pending.slice(end + 2);
    const verb = command.slice(0, 4).toUpperCase();
    const pipelining = this.server.limits.isPipelining ? '250-PIPELINING\r\n' : '';
    if (verb === 'EHLO') this.#say(`250-limited.test\r\n${pipelining}250-8BITMIME\r\n250 SIZE 20000000`);
    else if (verb === 'QUIT') this.socket.end('221 2.0.0 Bye\r\n');
    else if (verb === 'MAIL') this.#onMail();
    else if (verb === 'RCPT') this.#onRecipient(command);
    else if (verb === 'DATA') this.#onData();
    else this.#say('250 2.0.0 Ok');
    return true;
  }

  #onMail(): void {
    this.#recipients = [];
    this.#hasSender = !this.#refuses('mail');
    if (this.#hasSender) this.#say('250 2.1.0 Ok');
  }

  #onRecipient(command: string): void {
    if (!this.#hasSender) return this.#say('503 5.5.1 No sender');
    const address = /<([^>]*)>/.exec(command)?.[1] ?? '';
    const { recipient } = this.server.limits;
    if (recipient?.address === address) {
      this.server.refused += 1;
      return this.#say(recipient.reply);
    }
    if (this.#refuses('rcpt')) return;
    this.#recipients.push(address);
    this.#say('250 2.1.5 Ok');
  }

  #onData(): void {
    if (this.#recipients.length === 0) return this.#say('503 5.5.1 No recipients');
    if (this.#refuses('data')) return;
    this.#isInData = true;
    this.#say('354 Go on');
  }

  #onMessage(): boolean {
    const end = `\r\n${this.#pending}`.indexOf('\r\n.\r\n');
    if (end < 0) return false;
    this.#pending = this.#pending.slice(end + 3);
    this.#isInData = false;
    this.#hasSender = false;
    if (this.#refuses('dot')) return true;
    this.#mails += 1;
    this.server.taken.push(...this.#recipients);
    const say = () => {
      this.#say('250 2.0.0 Taken');
      const { mailsPerSession } = this.server.limits;
      if (mailsPerSession?.refusal.at === 'end' && this.#mails >= mailsPerSession.most) this.socket.end();
    };
    const { takesMs, holds } = this.server.limits;
    if (holds !== undefined) void holds.then(say);
    else if (takesMs === undefined) say();
    else setTimeout(say, takesMs);
    return true;
  }
}
