import type { AskScanner, Origin } from './spam-judgement.ts';

/**
 * The actions by which rspamd says that a message is spam. Greylisting asks for a second delivery of what is
 * not known yet.
 */
const OF_SPAM: ReadonlySet<string> = new Set([
  'reject',
  'add header',
  'rewrite subject',
  'quarantine',
  'discard',
]);
const OF_HAM: ReadonlySet<string> = new Set(['no action', 'greylist', 'soft reject']);
/** An answer names each rule that matched, and each address in the message. */
const LONGEST_ANSWER = 1_048_576;

/**
 * Asks the rspamd at that address (`http://host:port`, with `:password@` for its controller), by `POST
 * /checkv2`.
 */
export const rspamdAt = (url: string): AskScanner => {
  const { origin, password } = new URL(url);
  const ask = async (raw: Buffer, from: Origin, signal: AbortSignal): Promise<unknown> => {
    const response = await fetch(`${origin}/checkv2`, {
      method: 'POST',
      headers: headersOf(from, decodeURIComponent(password)),
      body: raw,
      redirect: 'manual',
      signal,
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`rspamd answered ${response.status}.`);
    }
    return JSON.parse(await textOf(response));
  };
  return async (raw, from, signal) => {
    const verdict = verdictOf(await ask(raw, from, signal));
    if (!verdict) throw new Error('The answer of rspamd is not a verdict.');
    return verdict;
  };
};

/** A header of a request holds printable ASCII alone. Any other value is left out. */
const isHeader = (value: string): boolean => /^[ -~]{1,320}$/.test(value);

function headersOf({ helo, client, from, by }: Origin, password: string): Record<string, string> {
  const all = { Helo: helo, IP: client ?? '', From: from, 'MTA-Name': by, Password: password };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => isHeader(value)));
}

async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > LONGEST_ANSWER) throw new Error('The answer of rspamd is too long.');
  }
  return text + decoder.decode();
}

/**
 * The verdict in an answer; null when it is none. `is_skipped` says that rules were left out, also where a
 * single one has decided: GTUBE.
 */
export function verdictOf(answer: unknown): Awaited<ReturnType<AskScanner>> | null {
  if (typeof answer !== 'object' || answer === null) return null;
  const { action, score, is_skipped: isSkipped } = answer as Readonly<Record<string, unknown>>;
  if (typeof action !== 'string' || typeof score !== 'number' || !Number.isFinite(score)) return null;
  if (OF_SPAM.has(action)) return { isSpam: true, score };
  return OF_HAM.has(action) && isSkipped !== true ? { isSpam: false, score } : null;
}
