import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

// A client that submits mail, and costs as little as one can: nodemailer takes as much of the processor a
// message as the service does, so that a rate measured through it tells of both.

/** The server, and the way in. */
export interface SubmitterOptions {
  readonly port: number;
  /** Upgrades the session by STARTTLS, with this authority and name. */
  readonly tls?: { readonly ca: string; readonly servername: string };
  readonly auth?: { readonly user: string; readonly pass: string };
  /** False for a server that takes one command at a time, such as OpenSMTPD. */
  readonly pipelines?: boolean;
}

/** One session. It sends one message at a time. */
export interface Submitter {
  /** Resolves with the reply to the message, or with the first refusal. */
  send(from: string, to: string | readonly string[], message: Buffer): Promise<string>;
  close(): void;
}

/**
 * RFC 5321 4.5.3.2.6: a server has ten minutes for the end of a message. One that says nothing for longer
 * never will.
 */
const SILENCE_MS = 600_000;
const END = Buffer.from('\r\n.\r\n');

/** Reads whole replies (RFC 5321 4.2.1) of a socket, one after the other. */
function repliesOf(socket: Socket): () => Promise<string> {
  let text = '';
  const ready: string[] = [];
  const waiting: { readonly resolve: (reply: string) => void; readonly reject: (error: Error) => void }[] =
    [];
  socket.on('data', (octets: Buffer) => {
    text += octets.toString('latin1');
    for (let found = /^(?:\d{3}-.*\r\n)*\d{3}(?: .*)?\r\n/.exec(text); found !== null; ) {
      const [reply] = found;
      text = text.slice(reply.length);
      const next = waiting.shift();
      if (next) next.resolve(reply);
      else ready.push(reply);
      found = /^(?:\d{3}-.*\r\n)*\d{3}(?: .*)?\r\n/.exec(text);
    }
  });
  // It may end between two questions: the next one is answered with that.
  let ended: Error | null = null;
  const end = (error: Error = new Error('The server hung up.')): void => {
    ended ??= error;
    for (const { reject } of waiting.splice(0)) reject(error);
  };
  socket.on('error', end);
  socket.on('close', () => end());
  socket.setTimeout(SILENCE_MS, () => socket.destroy(new Error('The server says nothing.')));
  return () => {
    const known = ready.shift();
    if (known !== undefined) return Promise.resolve(known);
    if (ended !== null) return Promise.reject(ended);
    return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
  };
}

/** Opens a session, and signs in. */
export async function openSubmitter({
  port,
  tls,
  auth,
  pipelines = true,
}: SubmitterOptions): Promise<Submitter> {
  let socket: Socket = connectPlain({ host: '127.0.0.1', port, noDelay: true });
  let reply = repliesOf(socket);
  const ask = async (line: string, wanted: string): Promise<void> => {
    socket.write(`${line}\r\n`);
    const answer = await reply();
    if (!answer.startsWith(wanted)) throw new Error(`${line.split(' ')[0]}: ${answer.trim()}`);
  };
  const greeting = await reply();
  if (!greeting.startsWith('220')) {
    socket.destroy();
    throw new Error(greeting.trim());
  }
  await ask('EHLO bench.example', '250');
  if (tls) {
    await ask('STARTTLS', '220');
    socket.removeAllListeners('data');
    socket = connectTls({ socket, ...tls });
    reply = repliesOf(socket);
    await ask('EHLO bench.example', '250');
  }
  if (auth) await ask(`AUTH PLAIN ${Buffer.from(`\0${auth.user}\0${auth.pass}`).toString('base64')}`, '235');
  return {
    async send(from, to, message) {
      const commands = [`MAIL FROM:<${from}>`, ...[to].flat().map((one) => `RCPT TO:<${one}>`), 'DATA'];
      if (pipelines) socket.write(commands.map((command) => `${command}\r\n`).join(''));
      const replies: string[] = [];
      for (const command of commands) {
        if (!pipelines) socket.write(`${command}\r\n`);
        replies.push(await reply());
      }
      const refusal = replies.find((one) => !/^[23]/.test(one));
      if (refusal !== undefined) throw new Error(refusal.trim());
      socket.write(Buffer.concat([message, END]));
      const answer = await reply();
      if (!answer.startsWith('2')) throw new Error(answer.trim());
      return answer.trim();
    },
    close() {
      socket.end('QUIT\r\n');
    },
  };
}

/**
 * Sends all messages over so many sessions; resolves with how many were taken, and with the refusals by their
 * words.
 */
export async function submitAll(
  options: SubmitterOptions,
  connections: number,
  messages: readonly { readonly from: string; readonly to: string; readonly octets: Buffer }[],
): Promise<{ readonly taken: number; readonly refusals: ReadonlyMap<string, number> }> {
  const refusals = new Map<string, number>();
  let [taken, next] = [0, 0];
  const one = async (): Promise<void> => {
    let session = await openSubmitter(options);
    while (next < messages.length) {
      const message = messages[next++];
      if (!message) break;
      try {
        await session.send(message.from, message.to, message.octets);
        taken++;
      } catch (error) {
        const words = (error as Error).message.slice(0, 80);
        refusals.set(words, (refusals.get(words) ?? 0) + 1);
        session.close();
        session = await openSubmitter(options);
      }
    }
    session.close();
  };
  await Promise.all(Array.from({ length: connections }, one));
  return { taken, refusals };
}
