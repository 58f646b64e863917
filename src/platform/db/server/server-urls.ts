/** The most servers that DATABASE_URL may name. */
export const MOST_SERVERS = 9;

/**
 * Scheme and account, the servers, and the rest. As in any URL the account ends at the last `@`, for any
 * password.
 */
const FORM = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^@/?#]+)((?:[/?#].*)?)$/;
const ATTRIBUTE = 'target_session_attrs';

/**
 * Answers a URL for each server of `postgres://user:password@one:5432,two:5432/name`, in their order; null where that is no such
 * URL. The one that takes writes is looked for among several, so `target_session_attrs` may only ask for that.
 */
export function serverUrls(url: string): readonly string[] | null {
  const [, before = '', servers = '', rest = ''] = FORM.exec(url) ?? [];
  const urls = servers.split(',').map((server) => `${before}${server}${rest}`);
  if (
    urls.length > MOST_SERVERS ||
    !urls.every((each) => URL.canParse(each) && new URL(each).hostname !== '')
  )
    return null;
  if (urls.length === 1) return urls;
  const asked = new URL(urls[0] as string).searchParams.get(ATTRIBUTE);
  if (asked === null) return urls;
  return ['primary', 'read-write'].includes(asked) ? urls.map(withoutAttribute) : null;
}

function withoutAttribute(url: string): string {
  const plain = new URL(url);
  plain.searchParams.delete(ATTRIBUTE);
  return plain.href;
}

/** The server of a URL as a sentence names it: without user and password. */
export function serverName(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port || 5432}`;
}
