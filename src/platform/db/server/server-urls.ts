/** The most servers that DATABASE_URL may name. */
export const MOST_SERVERS = 9;

/**
 * Scheme and account, the servers, and the rest. As in any URL the account ends at the last `@`, for any
 * password.
 */
const FORM = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^@/?#]*)((?:[/?].*)?)$/;
/** The folder of a Unix socket as libpq writes it: no server, and `host=/run/postgresql` behind the name. */
const SOCKET_FOLDER = /[?&]host=((?:\/|%2f)[^&#]*)/i;
const SOCKET_PORT = /[?&]port=(\d+)/;
const ATTRIBUTE = 'target_session_attrs';

/**
 * Answers a URL for each server of `postgres://user:password@one:5432,two:5432/name`, in their order; null
 * where that is no such URL. The one that takes writes is looked for among several, so `target_session_attrs`
 * may only ask for that.
 */
export function serverUrls(url: string): readonly string[] | null {
  const [, before = '', named = '', rest = ''] = FORM.exec(url) ?? [];
  const servers = named || socketOf(rest);
  const urls = servers.split(',').map((server) => `${before}${server}${rest}`);
  if (urls.length > MOST_SERVERS || !urls.every(isReadable)) return null;
  if (urls.length === 1) return urls;
  const asked = new URL(urls[0] as string).searchParams.get(ATTRIBUTE);
  if (asked === null) return urls;
  return ['primary', 'read-write'].includes(asked) ? urls.map(withoutAttribute) : null;
}

/**
 * The server of `postgres:///name?host=/run/postgresql`, in the place that other servers have; empty without
 * one.
 */
function socketOf(rest: string): string {
  const folder = SOCKET_FOLDER.exec(rest)?.[1];
  if (folder === undefined || !isDecodable(folder)) return '';
  const port = SOCKET_PORT.exec(rest)?.[1];
  return encodeURIComponent(decodeURIComponent(folder)) + (port === undefined ? '' : `:${port}`);
}

/**
 * True for a URL with a server whose parts can be decoded. A password with `#`, `/` or `?` in it ends where
 * these stand, and what follows would pass for the server, the name and a parameter: a bare `@` behind the
 * server shows that.
 */
function isReadable(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname, username, password, pathname, searchParams } = new URL(url);
  const behind = [pathname, ...searchParams.keys()];
  return (
    hostname !== '' &&
    !behind.some((each) => each.includes('@')) &&
    [hostname, username, password, pathname].every(isDecodable)
  );
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function withoutAttribute(url: string): string {
  const plain = new URL(url);
  plain.searchParams.delete(ATTRIBUTE);
  return plain.href;
}

/** The server of a URL as a sentence names it: without user and password. */
export function serverName(url: string): string {
  const { hostname, port } = new URL(url);
  return `${decodeURIComponent(hostname)}:${port || 5432}`;
}
