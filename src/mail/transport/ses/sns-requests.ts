import { isAmazon } from './sns-message.ts';

const TIMEOUT_MS = 10_000;
const LONGEST = 65_536;

/**
 * Fetches an address of SNS, which also confirms a subscription. Rejects for any other address, and for any
 * status but 200.
 */
export const askSns = async (url: string): Promise<string> => {
  if (!isAmazon(url)) throw new TypeError('Not an address of SNS.');
  const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (response.status !== 200) throw new Error(`SNS answered ${response.status}.`);
  return (await response.text()).slice(0, LONGEST);
};
