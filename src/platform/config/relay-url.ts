import { hostOf } from '../text/host.ts';

/** The server that `SMTP_URL` names. */
export interface RelayUrl {
  readonly host: string;
  readonly port: number;
  /** The use of TLS; `opportunistic` continues in clear text when STARTTLS is not offered or refused. */
  readonly tls: 'implicit' | 'required' | 'opportunistic' | 'none';
  readonly credentials: { readonly user: string; readonly pass: string } | null;
}

/**
 * Reads `smtp[s]://user:pass@host:port`. `smtps` speaks TLS from the start (port 465); `smtp` starts it when
 * offered (port 587), and insists on it when there is a password to protect and the relay is not this
 * machine. `?tls=required`, `opportunistic` or `none` overrides that. Null when the text is no such URL.
 */
export const readRelayUrl = (text: string): RelayUrl | null => {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['smtp:', 'smtps:'].includes(url.protocol) || url.hostname === '') return null;
  // A password with `#` or `/` in it ends there, and its beginning passes for the port.
  if (url.hash !== '' || url.pathname.replace('/', '') !== '') return null;
  const implicit = url.protocol === 'smtps:';
  const host = hostOf(url);
  const credentials = credentialsOf(url);
  if (credentials === undefined) return null;
  const tls = tlsOf(url.searchParams.get('tls'), implicit, credentials !== null && !isLoopback(host));
  if (tls === null) return null;
  return {
    host,
    port: url.port === '' ? (implicit ? 465 : 587) : Number(url.port),
    tls,
    credentials,
  };
};

/** Undefined where a bare % in them leaves open what is meant. */
function credentialsOf({ username, password }: URL): RelayUrl['credentials'] | undefined {
  if (username === '') return null;
  try {
    return { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  } catch {
    return undefined;
  }
}

const tlsOf = (asked: string | null, implicit: boolean, secretAtStake: boolean): RelayUrl['tls'] | null => {
  if (implicit) return asked === null ? 'implicit' : null;
  if (asked === null) return secretAtStake ? 'required' : 'opportunistic';
  return asked === 'required' || asked === 'opportunistic' || asked === 'none' ? asked : null;
};

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host.startsWith('127.');
