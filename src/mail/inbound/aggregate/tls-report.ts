import {
  countIn,
  dayOfPeriod,
  domainIn,
  labelIn,
  TLS_FAILURE_TYPES,
  type TlsFailure,
  type TlsPolicy,
  type TlsReport,
} from './aggregate-report.ts';

const MOST_POLICIES = 100;
const MOST_FAILURES = 1_000;

type Json = Readonly<Record<string, unknown>>;

/**
 * Reads a TLS report (RFC 8460 4.4); null for anything else. `about` is the domain that its mail names:
 * reports of sessions without a policy may leave it out.
 */
export function readTlsReport(text: string, now: number, about: string | null = null): TlsReport | null {
  const report = objectIn(parsed(text));
  const range = objectIn(report?.['date-range']);
  const id = labelIn(textIn(report?.['report-id']));
  const begin = Date.parse(textIn(range?.['start-datetime']));
  const day = dayOfPeriod(begin, Date.parse(textIn(range?.['end-datetime'])), now);
  if (report === null || id === '' || day === null) return null;
  const policies = listIn(report.policies, MOST_POLICIES).flatMap((each) => policyOf(each, about) ?? []);
  if (policies.length === 0) return null;
  return { kind: 'tls', id, organization: labelIn(textIn(report['organization-name'])), day, policies };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function policyOf(each: unknown, about: string | null): TlsPolicy | null {
  const entry = objectIn(each);
  const domain = domainIn(textIn(objectIn(entry?.policy)?.['policy-domain']) || (about ?? ''));
  const summary = objectIn(entry?.summary);
  const successful = countIn(summary?.['total-successful-session-count']) ?? 0;
  const failures = listIn(entry?.['failure-details'], MOST_FAILURES).flatMap(
    (detail) => failureOf(detail) ?? [],
  );
  const details = failures.reduce((sum, { sessions }) => sum + sessions, 0);
  const failed = countIn(summary?.['total-failure-session-count']) ?? details;
  return domain === null ? null : { domain, successful, failed, failures };
}

function failureOf(each: unknown): TlsFailure | null {
  const detail = objectIn(each);
  const sessions = countIn(detail?.['failed-session-count']);
  if (sessions === null || sessions === 0) return null;
  const word = textIn(detail?.['result-type']).toLowerCase();
  return { type: TLS_FAILURE_TYPES.find((type) => type === word) ?? 'other', sessions };
}

const objectIn = (value: unknown): Json | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
const textIn = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 1_024) : '');
const listIn = (value: unknown, most: number): readonly unknown[] =>
  Array.isArray(value) ? value.slice(0, most) : [];
