import type { Monotonic } from '../monotonic.ts';
import { askSns } from './sns-requests.ts';

/** What a store of signing certificates needs. */
export interface CertificateStoreParts {
  readonly ask?: (url: string) => Promise<string>;
  readonly monotonic: Monotonic;
}

interface Entry {
  readonly certificate: Promise<string>;
  /** Monotonic; until then a failure is not tried again. Null while it is asked for, and once it is there. */
  readonly until: number | null;
}

/** Amazon has one certificate a region at a time, and puts a new one at a new address. */
const KEPT = 20;
const FAILED_MS = 60_000;
/** Forged notifications can name ever new addresses; they do not make us ask Amazon more often than this. */
const ASKED_AT_MOST = 10;
const PER_MS = 60_000;

/**
 * Fetches signing certificates, each once. What could not be had is not asked for again for a minute, and new ones at most ten
 * times a minute: whoever sends us forgeries makes us no tool against SNS, and those that are known stay at hand.
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
