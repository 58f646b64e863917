/** A random token of 32 bytes in base64url, the only content of a cookie. */
const TOKEN = /^[\w-]{43}$/;
const NAME = 'posthorn_session';

/**
 * The session cookie of a browser. It holds a random token and nothing else; the session is a row of the
 * database, so that it ends on the server. It is HttpOnly and SameSite=Lax, so that a link in an email finds
 * its reader signed in; behind https it has the prefix that keeps other hosts and plain http from setting it
 * (RFC 6265bis, 4.1.3.2).
 */
export class SessionCookie {
  readonly name: string;

  constructor(
    private readonly now: () => number,
    /** True when browsers reach the service over https only. */
    private readonly secure: boolean,
  ) {
    this.name = secure ? `__Host-${NAME}` : NAME;
  }

  /** The Set-Cookie header of a session that ends at that moment. */
  write(token: string, expiresAt: number): string {
    return this.#header(token, Math.ceil((expiresAt - this.now()) / 1_000));
  }

  /** The Set-Cookie header that ends a session. */
  clear(): string {
    return this.#header('', 0);
  }

  /** The token of a request; null when the cookie is missing or malformed. */
  read(headers: Headers): string | null {
    const value = new Bun.CookieMap(headers.get('cookie') ?? '').get(this.name) ?? '';
    return TOKEN.test(value) ? value : null;
  }

  #header(value: string, maxAge: number): string {
    const { secure } = this;
    return new Bun.Cookie(this.name, value, {
      path: '/',
      maxAge,
      httpOnly: true,
      sameSite: 'lax',
      secure,
    }).serialize();
  }
}
