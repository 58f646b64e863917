/** The parameters of an SMTP session. Times are in ms. */
export interface Endpoint {
  /** An address, or a name that the system resolves. */
  readonly host: string;
  readonly port: number;
  /** The server's name, which is checked against its certificate and reported as the remote MTA. */
  readonly name: string;
  /** The use of TLS; `opportunistic` continues in clear text when STARTTLS is not offered or refused. */
  readonly tls: 'implicit' | 'required' | 'opportunistic' | 'none';
  readonly verifyCertificate: boolean;
  /** PEM certificates to trust instead of the system's; null for the system's. */
  readonly ca: string | null;
  readonly ehloName: string;
  readonly credentials: { readonly user: string; readonly pass: string } | null;
  /** Limit for each of connecting, greeting and the TLS handshake. */
  readonly connectMs: number;
  /**
   * Silence after which a session counts as dead; RFC 5321 4.5.3.2.6 gives a server ten minutes after the
   * final dot.
   */
  readonly silenceMs: number;
}

/** Ten minutes, the longest that RFC 5321 4.5.3.2 asks a client to wait for a reply. */
export const SILENCE_MS = 600_000;
