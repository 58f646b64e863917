/** Members that are never shown, whatever a kind keeps in them. */
const SECRET = /secret|sealed|password|token|hash|private/i;
const ADDRESS = /[^\s<>"@]+@[^\s<>"@]+/g;

/**
 * A context as others may see it. Machines keep personal data out of theirs already; this holds for the ones to come too:
 * addresses are masked, URLs lose everything behind the host (a path may be a capability), secrets are left out.
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
