/**
 * MTA-STS (RFC 8461): a domain publishes the hosts that take its mail, and that they do so over verified TLS
 * only.
 */

/** A published policy. */
export interface StsPolicy {
  readonly mode: 'enforce' | 'testing' | 'none';
  /** Host patterns; `*.` matches exactly one label. */
  readonly mx: readonly string[];
  readonly maxAgeMs: number;
}

const LONGEST_AGE_S = 31_557_600;

/** Reads a policy file (3.2); null when it is invalid, which means that the domain has no policy. */
export const readPolicy = (text: string): StsPolicy | null => {
  const fields = text
    .split(/\r?\n/)
    // The file is not trusted: a pattern that also trims white space would need seconds for 64 KB of it.
    .map((line) => /^([^:\s]+)[ \t]*:(.*)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, key = '', value = '']) => [key, value.trim()] as const);
  const first = (key: string) => fields.find(([name]) => name === key)?.[1];
  const mode = first('mode');
  const age = first('max_age') ?? '';
  const mx = fields.filter(([name]) => name === 'mx').map(([, host]) => host.toLowerCase());
  if (first('version') !== 'STSv1' || !/^\d{1,10}$/.test(age)) return null;
  if (mode !== 'enforce' && mode !== 'testing' && mode !== 'none') return null;
  if (mode !== 'none' && mx.length === 0) return null;
  return { mode, mx, maxAgeMs: Math.min(Number(age), LONGEST_AGE_S) * 1_000 };
};

/** The id in the `_mta-sts` TXT records (3.1); null when there is no record, or more than one. */
export const policyId = (records: readonly string[]): string | null => {
  const [record, ...others] = records.filter((text) => /^v=STSv1\s*;/.test(text));
  if (record === undefined || others.length > 0) return null;
  return /;\s*id\s*=\s*([A-Za-z0-9]{1,32})\s*(;|$)/.exec(record)?.[1] ?? null;
};

/** True when mail may go to `host`: always, unless the policy is enforced and does not name it (4.1). */
export const allowsHost = (policy: StsPolicy | null, host: string): boolean =>
  policy?.mode !== 'enforce' || policy.mx.some((pattern) => matches(pattern, host.toLowerCase()));

const matches = (pattern: string, host: string): boolean =>
  pattern.startsWith('*.') ? host.replace(/^[^.]+/, '*') === pattern : pattern === host;
