import type { MonotonicClock } from '../../../platform/time/monotonic.ts';
import { askSns } from './sns-requests.ts';

/** The options of a store of signing certificates. */
export interface CertificateStoreParts {
  readonly ask?: (url: string) => Promise<string>;
  readonly monotonic: MonotonicClock;
}

interface Entry {
  readonly certificate: Promise<string>;
  /**
   * Monotonic time until which a failed fetch is not repeated; null while it is in progress, and after a
   * success.
   */
  readonly until: number | null;
}

/** Amazon uses one certificate per region at a time, and publishes a new one at a new address. */
const KEPT = 20;
const FAILED_MS = 60_000;
/** Limit of fetches per minute: forged notifications can name ever new addresses. */
const ASKED_AT_MOST = 10;
const PER_MS = 60_000;

/**
 * Fetches signing certificates, each once. A failed fetch is not repeated for a minute, and at most ten new
 * ones are fetched a minute: forged notifications cannot turn this service against SNS, nor displace the
 * certificates that are known.
 */
export function createCertificateStore({
  ask = askSns,
  monotonic,
}: CertificateStoreParts): (url: string) => Promise<string> {
  const kept = new Map<string, Entry>();
  let asked: number[] = [];

  const makeRoom = (): void => {
    for (const [url, { until }] of kept) if (until !== null) return void kept.delete(url);
    const [oldest] = kept.keys();
    if (oldest !== undefined) kept.delete(oldest);
  };

  return (url) => {
    const now = monotonic();
    const known = kept.get(url);
    if (known && (known.until === null || known.until > now)) return known.certificate;
    asked = asked.filter((at) => at > now - PER_MS);
    if (asked.length >= ASKED_AT_MOST)
      return Promise.reject(new Error('Certificates were asked for too often just now.'));
    asked.push(now);
    kept.delete(url);
    if (kept.size >= KEPT) makeRoom();
    const certificate = ask(url);
    kept.set(url, { certificate, until: null });
    certificate.catch(() => {
      if (kept.get(url)?.certificate === certificate)
        kept.set(url, { certificate, until: monotonic() + FAILED_MS });
    });
    return certificate;
  };
}
