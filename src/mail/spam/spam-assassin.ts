import { connect } from 'node:net';
import { within } from '../../platform/async/deadline.ts';
import { hostOf } from '../../platform/text/host.ts';
import { type SpamVerdict, verdictOf } from './spam-verdict.ts';

/** Asks SpamAssassin about a message. Rejects when it does not answer, or the signal fires before. */
export type AskSpamAssassin = (raw: Buffer, signal?: AbortSignal) => Promise<SpamVerdict>;

/** The port of spamd where the address names none. */
const SPAMD_PORT = 783;
/** Rules that ask name servers take some seconds. */
const DEADLINE_MS = 15_000;
/** A report has a line a rule. */
const LONGEST_ANSWER = 262_144;

export interface ServerPlace {
  readonly host: string;
  readonly port: number;
}

/** The place that SPAMASSASSIN_URL names. */
export const spamdAt = (text: string): ServerPlace => {
  const url = new URL(text);
  return { host: hostOf(url), port: Number(url.port || SPAMD_PORT) };
};

/** Asks the spamd at that address (`tcp://host:port`), by its own protocol. */
export const spamAssassinAt = (url: string): AskSpamAssassin => {
  const place = spamdAt(url);
  return async (raw, signal) => {
    const verdict = verdictOf(await report(place, raw, signal));
    if (!verdict) throw new Error('The answer of spamd is not a report.');
    return verdict;
  };
};

async function report(place: ServerPlace, raw: Buffer, signal?: AbortSignal): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(place);
  let answer = '';
  socket.setEncoding('utf8');
  socket.on('connect', () => {
    socket.write(`REPORT SPAMC/1.5\r\nContent-length: ${raw.length}\r\n\r\n`);
    socket.write(raw);
  });
  socket.on('data', (text: string) => {
    answer += text;
    if (answer.length > LONGEST_ANSWER) reject(new Error('The report of spamd is incomplete.'));
  });
  socket.on('error', reject);
  socket.on('close', () => resolve(answer));
  const giveUp = () => reject(new Error('spamd is no longer waited for.'));
  signal?.addEventListener('abort', giveUp, { once: true });
  if (signal?.aborted) giveUp();
  try {
    return await within(DEADLINE_MS, promise);
  } finally {
    signal?.removeEventListener('abort', giveUp);
    socket.destroy();
  }
}
