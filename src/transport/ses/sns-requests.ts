import { isAmazon } from './sns-message.ts';

const TIMEOUT_MS = 10_000;
const LONGEST = 65_536;

/**
 * Asks an address of SNS. Rejects for any other address, and for any answer but 200. Also confirms a subscription,
 * which is all that asking for its address takes.
 */
export const askSns = async (url: string): Promise<string> => {
  if (!isAmazon(url)) throw new TypeError('Not an address of SNS.');
  const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (response.status !== 200) throw new Error(`SNS answered ${response.status}.`);
  return (await response.text()).slice(0, LONGEST);
};
