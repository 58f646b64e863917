/** Aggregate reports of other mail servers, in one shape whatever form they came in. */

import { asciiHost } from '../../../platform/text/host.ts';
import { DAY_MS } from '../../../platform/time/clock.ts';

/** The policies that a receiver applied, from the mildest on. */
export const DISPOSITIONS = ['none', 'quarantine', 'reject'] as const;
export type Disposition = (typeof DISPOSITIONS)[number];

/** The messages from one address that had the same results. */
export interface DmarcRow {
  /** The address of the server that sent them. */
  readonly source: string;
  readonly messages: number;
  readonly disposition: Disposition;
  /** True when a signature of the author's organization was valid. */
  readonly isDkimAligned: boolean;
  /** True when SPF passed for a domain of the author's organization. */
  readonly isSpfAligned: boolean;
  /** The domain of the From field. */
  readonly from: string;
}

/** A DMARC aggregate report (RFC 9990, and the older form of RFC 7489). */
export interface DmarcReport {
  readonly kind: 'dmarc';
  readonly id: string;
  readonly organization: string;
  /** The UTC day in the middle of its period, `2026-11-24`. */
  readonly day: string;
  /** The domain whose policy was applied, and the policy as it was published. */
  readonly policy: { readonly domain: string; readonly p: string | null; readonly isTesting: boolean };
  readonly rows: readonly DmarcRow[];
}

/** Failures of one kind in sessions with the mail servers of a domain. */
export interface TlsFailure {
  readonly type: TlsFailureType;
  readonly sessions: number;
}

/** The sessions with the mail servers of a domain. */
export interface TlsPolicy {
  readonly domain: string;
  readonly successful: number;
  readonly failed: number;
  readonly failures: readonly TlsFailure[];
}

/** A report of SMTP TLS sessions (RFC 8460). */
export interface TlsReport {
  readonly kind: 'tls';
  readonly id: string;
  readonly organization: string;
  readonly day: string;
  readonly policies: readonly TlsPolicy[];
}

export type AggregateReport = DmarcReport | TlsReport;

/** RFC 8460 4.3; `other` is any further one. */
export const TLS_FAILURE_TYPES = [
  'starttls-not-supported',
  'certificate-host-mismatch',
  'certificate-expired',
  'certificate-not-trusted',
  'validation-failure',
  'tlsa-invalid',
  'dnssec-invalid',
  'dane-required',
  'sts-policy-fetch-error',
  'sts-policy-invalid',
  'sts-webpki-invalid',
  'other',
] as const;
export type TlsFailureType = (typeof TLS_FAILURE_TYPES)[number];

/**
 * Mail waits for five days at most; older reports come from no server. Their ids are remembered for longer.
 */
export const OLDEST_REPORT_MS = 40 * DAY_MS;
/** Clocks differ, and so do time zones. */
const AHEAD_MS = 2 * DAY_MS;
const LONGEST_MS = 8 * DAY_MS;

/** The day of a period, in epoch milliseconds; null for one that no honest report has. */
export function dayOfPeriod(begin: number, end: number, now: number): string | null {
  if (!Number.isFinite(begin) || !Number.isFinite(end) || end < begin || end - begin > LONGEST_MS)
    return null;
  if (begin > now + AHEAD_MS || end < now - OLDEST_REPORT_MS) return null;
  return new Date((begin + end) / 2).toISOString().slice(0, 10);
}

const NAME = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_-]{1,63})+$/;

/** A domain in lower case, in punycode and without its last dot; null for any other text. */
export function domainIn(text: string): string | null {
  const name = text.trim().toLowerCase().replace(/\.$/, '');
  return NAME.test(name) ? name : asciiHost(name);
}

/** A text of a report as it is stored: one line, at most 255 characters. */
export const labelIn = (text: string): string =>
  text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, 255);

/** A number of messages or sessions; null for any other text. */
export function countIn(value: unknown): number | null {
  const number =
    typeof value === 'number'
      ? value
      : typeof value === 'string'
        ? Number(value.trim() || 'NaN')
        : Number.NaN;
  return Number.isInteger(number) && number >= 0 && number <= 1_000_000_000 ? number : null;
}
