/** Names of members that are never shown. */
const SECRET = /secret|sealed|password|token|hash|private/i;
const ADDRESS = /[^\s<>"@]+@[^\s<>"@]+/g;

/**
 * Removes personal data and secrets from a context. The machines hold none already; this covers future ones
 * too. Addresses are masked, URLs lose everything after the host (a path may be a capability), and secrets
 * are left out.
 */
export function redacted(value: unknown): unknown {
  if (typeof value === 'string') return masked(value);
  if (Array.isArray(value)) return value.map(redacted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([name]) => !SECRET.test(name));
  return Object.fromEntries(members.map(([name, member]) => [name, redacted(member)]));
}

function masked(text: string): string {
  const url = /^(https?:\/\/)(?:[^/@]*@)?([^/?#]+)[/?#]?/.exec(text);
  if (url) return `${url[1]}${url[2]}/…`;
  return text.replace(ADDRESS, '…@…');
}
