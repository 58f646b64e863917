import { isAmazon } from './sns-message.ts';

const TIMEOUT_MS = 10_000;
const LONGEST = 65_536;
const KEPT = 20;

/** Fetches signing certificates, each once: Amazon puts a new one at a new address. Rejects when there is none to be had. */
export const createCertificateStore = (): ((url: string) => Promise<string>) => {
  const kept = new Map<string, string>();
  return async (url) => {
    const known = kept.get(url);
    if (known !== undefined) return known;
    const certificate = await askAmazon(url);
    const [oldest] = kept.keys();
    if (kept.size >= KEPT && oldest !== undefined) kept.delete(oldest);
    kept.set(url, certificate);
    return certificate;
  };
};

/** Confirms a subscription, after which notifications come. Rejects when Amazon does not take it. */
export const confirmSubscription = async (subscribeUrl: string): Promise<void> => {
  await askAmazon(subscribeUrl);
};

const askAmazon = async (url: string): Promise<string> => {
  if (!isAmazon(url)) throw new TypeError('Not an address of SNS.');
  const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (response.status !== 200) throw new Error(`SNS answered ${response.status}.`);
  return (await response.text()).slice(0, LONGEST);
};
