import { readFileSync } from 'node:fs';

/**
 * The part of a TLS connection that is checked: a word of the driver, or the options that it gives to
 * `tls.connect`.
 */
type Encryption = false | 'prefer' | 'require' | 'verify-full' | Readonly<Record<string, unknown>>;

/** The parts of the URL of one server, as the driver takes them. */
export interface UrlParts {
  readonly host: string;
  readonly port: number;
  /** The Unix socket; absent for a server over the network. */
  readonly path?: string;
  readonly user?: string;
  readonly password?: string;
  readonly database?: string;
  readonly ssl?: Encryption;
  readonly target_session_attrs?: string;
  /** The settings of the connection, which the server gets. */
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * Parameters that the service chooses itself: under another name its probes would not find its own
 * connections.
 */
const CHOSEN_HERE = 'application_name fallback_application_name client_encoding connect_timeout datestyle';
/** Parameters of libpq that the driver does not have. */
const OF_LIBPQ =
  'keepalives keepalives_idle keepalives_interval keepalives_count tcp_user_timeout gssencmode channel_binding sslcompression sslsni ssl_min_protocol_version';
/** Parameters of other drivers and their pools. */
const OF_OTHERS =
  'uselibpqcompat pgbouncer connection_limit pool_timeout max idle_timeout max_lifetime load_balance_hosts';
/** Parameters that say where the server is, and how it is reached. */
const OF_THE_WAY =
  'host port user password dbname target_session_attrs ssl sslmode sslrootcert sslcert sslkey sslnegotiation';

/** No server knows these as settings of a connection. */
const NOT_FOR_THE_SERVER = new Set(
  [CHOSEN_HERE, OF_LIBPQ, OF_OTHERS, OF_THE_WAY].flatMap((names) => names.split(' ')),
);

/** The modes of libpq, and the word of other drivers for encryption without a check. */
export const SSL_MODES = [
  'disable',
  'allow',
  'prefer',
  'require',
  'no-verify',
  'verify-ca',
  'verify-full',
] as const;
type SslMode = (typeof SSL_MODES)[number];

/** The mode that a URL asks for; null for none, and undefined for a word that means nothing. */
export function sslModeOf(query: URLSearchParams): SslMode | null | undefined {
  const mode = query.get('sslmode');
  const ssl = query.get('ssl');
  if (mode !== null) return SSL_MODES.find((each) => each === mode);
  const authority = query.get('sslrootcert');
  // An authority that is named is to be asked: without a word on TLS the password would go in the clear.
  if (ssl === null) return authority === null ? null : authority === 'system' ? 'verify-full' : 'verify-ca';
  if (ssl === 'true' || ssl === '1') return 'verify-full';
  if (ssl === 'false' || ssl === '0') return 'disable';
  return SSL_MODES.find((each) => each === ssl);
}

const UNKNOWN_MODE = `sslmode must be one of ${SSL_MODES.join(', ')}`;
const SESSIONS = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'];

/**
 * A sentence about a parameter of a URL that asks for what no connection here can have; null where there is
 * none.
 */
export function problemOfParameters(url: string): string | null {
  const { searchParams } = new URL(url);
  if (sslModeOf(searchParams) === undefined) return UNKNOWN_MODE;
  // Anyone has a certificate of these authorities, for another host; libpq refuses it as well.
  if (searchParams.get('sslrootcert') === 'system' && sslModeOf(searchParams) !== 'verify-full')
    return 'sslmode must be verify-full with sslrootcert=system';
  if (searchParams.get('channel_binding') === 'require')
    return 'channel_binding=require must be removed: no connection of this service binds its sign-in to TLS';
  const wanted = searchParams.get('target_session_attrs');
  if (wanted !== null && !SESSIONS.includes(wanted))
    return `target_session_attrs must be one of ${SESSIONS.join(', ')}`;
  const missing = FILES.find((name) => !isFile(searchParams.get(name)));
  return missing === undefined ? null : `${missing} must be the path of a file that can be read`;
}

/** The same for all servers of a setting; null where each can be connected to. */
export const problemOfServers = (urls: readonly string[]): string | null =>
  urls.map(problemOfParameters).find((each) => each !== null) ?? null;

const FILES = ['sslrootcert', 'sslcert', 'sslkey'];

/**
 * True for a file that can be read, and where none is named; `system` stands for the authorities that are
 * trusted anyway.
 */
function isFile(path: string | null): boolean {
  if (path === null || path === 'system') return true;
  try {
    return readFileSync(path).length > 0;
  } catch {
    return false;
  }
}

const decoded = (text: string): string | undefined => (text === '' ? undefined : decodeURIComponent(text));

/**
 * The name of the database that a URL leads to: as with every client of PostgreSQL, the user's where there is
 * none.
 */
export function databaseName(url: string): string {
  const { pathname, username } = new URL(url);
  return decoded(pathname.slice(1)) ?? decoded(username) ?? '';
}

/**
 * The parts of the URL of one server, as `serverUrls` answers it. @throws where a file of it cannot be read,
 * and at a word for TLS that means nothing
 */
export function partsOf(url: string): UrlParts {
  const { hostname, port: written, username, password, pathname, searchParams } = new URL(url);
  const port = Number(written || 5432);
  const host = decodeURIComponent(hostname).replace(/^\[(.*)\]$/, '$1');
  const user = decoded(username) ?? searchParams.get('user') ?? undefined;
  const secret = decoded(password) ?? searchParams.get('password') ?? undefined;
  const database = decoded(pathname.slice(1)) ?? searchParams.get('dbname') ?? undefined;
  // A socket leaves the machine with nothing, and the server offers no TLS there.
  const ssl = host.startsWith('/') ? false : encryptionOf(searchParams);
  const attributes = searchParams.get('target_session_attrs') ?? 'any';
  return {
    ...(host.startsWith('/') ? { host: 'localhost', path: `${host}/.s.PGSQL.${port}` } : { host }),
    port,
    ...(user !== undefined && { user }),
    ...(secret !== undefined && { password: secret }),
    ...(database !== undefined && { database }),
    ...(ssl !== undefined && { ssl }),
    ...(attributes !== 'any' && { target_session_attrs: attributes }),
    settings: Object.fromEntries(
      [...searchParams].filter(([name]) => !NOT_FOR_THE_SERVER.has(name.toLowerCase())),
    ),
  };
}

const lastRead = new Map<string, string>();

/**
 * The content of a file, or that of the last time: connections are replaced while a renewal may be writing
 * it. @throws the first time
 */
function textOf(path: string): string {
  try {
    const text = readFileSync(path, 'utf8');
    if (text !== '') lastRead.set(path, text);
  } catch (error) {
    if (!lastRead.has(path)) throw error;
  }
  return lastRead.get(path) ?? '';
}

/** The encryption that a URL asks for; undefined for one that does not say. */
function encryptionOf(query: URLSearchParams): Encryption | undefined {
  const mode = sslModeOf(query);
  // A misspelt wish for TLS must not become none.
  if (mode === undefined) throw new Error(UNKNOWN_MODE);
  if (mode === null) return undefined;
  if (mode === 'disable') return false;
  const file = (name: string): string | undefined => {
    const path = query.get(name);
    return path === null || path === 'system' ? undefined : textOf(path);
  };
  const [ca, cert, key] = [file('sslrootcert'), file('sslcert'), file('sslkey')];
  const files = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  // An authority that is named is asked, as libpq does it too.
  const checks = mode.startsWith('verify') || ca !== undefined;
  if (!checks) {
    if (Object.keys(files).length > 0) return { ...files, rejectUnauthorized: false };
    return mode === 'allow' || mode === 'prefer' ? 'prefer' : 'require';
  }
  if (mode === 'verify-full') return Object.keys(files).length > 0 ? files : 'verify-full';
  return { ...files, checkServerIdentity: () => undefined };
}
