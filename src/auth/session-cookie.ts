import type { Signer } from '../crypto/signer.ts';

/** The principal behind a session: the key that was exchanged for it, or the link that opened it. */
export interface SessionSubject {
  readonly kind: 'key' | 'operatorLink';
  readonly id: string;
  readonly workspaceId: string;
  readonly livemode: boolean;
}

/** The content of a session cookie. */
export interface Session {
  readonly subject: SessionSubject;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

const NAME = 'posthorn_session';
const PURPOSE = 'session cookie';
const SIGNATURE_BYTES = 32;

/**
 * The session cookie of a browser. It holds the whole session and is signed, so that every instance can read it and none
 * stores it. It is HttpOnly and SameSite=Strict; behind https it has the prefix that keeps other hosts and plain http from
 * setting it (RFC 6265bis, 4.1.3.2).
 */
export class SessionCookie {
  readonly name: string;

  constructor(
    private readonly signer: Signer,
    private readonly now: () => number,
    /** True when browsers reach the service over https only. */
    private readonly secure: boolean,
  ) {
    this.name = secure ? `__Host-${NAME}` : NAME;
  }

  /** The Set-Cookie header of a session. */
  write(session: Session): string {
    const text = Buffer.from(JSON.stringify(session)).toString('base64url');
    const signature = this.signer.sign(PURPOSE, text, SIGNATURE_BYTES).toString('base64url');
    return this.#header(`${text}.${signature}`, Math.ceil((session.expiresAt - this.now()) / 1_000));
  }

  /** The Set-Cookie header that ends a session. */
  clear(): string {
    return this.#header('', 0);
  }

  /** The session of a request; null when the cookie is missing, forged or expired. */
  read(headers: Headers): Session | null {
    const value = new Bun.CookieMap(headers.get('cookie') ?? '').get(this.name) ?? '';
    const [text = '', signature = ''] = value.split('.');
    const given = Buffer.from(signature, 'base64url');
    if (given.length !== SIGNATURE_BYTES || !this.signer.proves(given, PURPOSE, text)) return null;
    const session = JSON.parse(Buffer.from(text, 'base64url').toString()) as Session;
    return session.expiresAt > this.now() ? session : null;
  }

  #header(value: string, maxAge: number): string {
    const { secure } = this;
    return new Bun.Cookie(this.name, value, {
      path: '/',
      maxAge,
      httpOnly: true,
      sameSite: 'strict',
      secure,
    }).serialize();
  }
}
