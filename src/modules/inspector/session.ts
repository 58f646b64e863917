import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** What a session may see. */
export interface SessionScope {
  readonly workspaceId: string;
  readonly livemode: boolean;
  /** The key that it was exchanged for; null for a link that the service itself has printed. */
  readonly keyId: string | null;
}

/** A session as its cookie says it. */
export interface OpenSession extends SessionScope {
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** A ticket that nobody has taken yet. */
interface Ticket {
  readonly scope: SessionScope;
  readonly takenBefore: number;
  /** When the session that asked for it ends: no other that comes of it lasts longer. Null for a printed link. */
  readonly expiresAt: number | null;
}

const COOKIE = 'posthorn_session';
/** A session, and a link that nobody has opened yet, last this long. */
const LASTS_MS = 3_600_000;
/** Links that may wait to be opened at once. */
const MOST_TICKETS = 100;

/**
 * Sessions of browsers. The cookie carries everything and is signed, so that any instance can read it and none stores it.
 * Tickets (what a printed link carries) open one session each and live in this process only.
 */
export class Sessions {
  readonly #key: Buffer;
  readonly #tickets = new Map<string, Ticket>();

  constructor(
    secretKey: string,
    private readonly now: () => number,
    /** Whether browsers reach the service over https only. */
    private readonly secure: boolean,
  ) {
    this.#key = createHmac('sha256', secretKey).update('posthorn live view session').digest();
  }

  /** A ticket for a link that can be opened once; what it opens ends with the session that asked for it, where one did. */
  ticket({ workspaceId, livemode, keyId }: SessionScope, expiresAt: number | null = null): string {
    const [oldest] = this.#tickets.keys();
    if (oldest !== undefined && this.#tickets.size >= MOST_TICKETS) this.#tickets.delete(oldest);
    const ticket = randomBytes(24).toString('base64url');
    const scope = { workspaceId, livemode, keyId };
    this.#tickets.set(ticket, { scope, takenBefore: this.now() + LASTS_MS, expiresAt });
    return ticket;
  }

  /** Takes a ticket for good; null when it was taken before, is too old, or never existed. */
  redeem(ticket: string): OpenSession | null {
    const found = this.#tickets.get(ticket);
    this.#tickets.delete(ticket);
    if (!found || found.takenBefore <= this.now()) return null;
    const expiresAt = found.expiresAt ?? this.now() + LASTS_MS;
    return expiresAt > this.now() ? { ...found.scope, expiresAt } : null;
  }

  /** The Set-Cookie header of a new session. */
  open({ workspaceId, livemode, keyId }: SessionScope, expiresAt = this.now() + LASTS_MS): string {
    const session: OpenSession = { workspaceId, livemode, keyId, expiresAt };
    const text = Buffer.from(JSON.stringify(session)).toString('base64url');
    return this.#header(`${text}.${this.#sign(text)}`, Math.ceil((expiresAt - this.now()) / 1_000));
  }

  /** The Set-Cookie header that ends a session. */
  close(): string {
    return this.#header('', 0);
  }

  /** The session whose cookie a request carries; null where it has none, or one that is forged or over. */
  read(headers: Headers): OpenSession | null {
    const value = cookieIn(headers.get('cookie') ?? '');
    const [text = '', signature = ''] = value.split('.');
    const expected = Buffer.from(this.#sign(text));
    const given = Buffer.from(signature);
    if (text === '' || given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
    const session = JSON.parse(Buffer.from(text, 'base64url').toString()) as OpenSession;
    return session.expiresAt > this.now() ? session : null;
  }

  #sign(text: string): string {
    return createHmac('sha256', this.#key).update(text).digest('base64url');
  }

  #header(value: string, seconds: number): string {
    const secure = this.secure ? '; Secure' : '';
    return `${COOKIE}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
  }
}

function cookieIn(header: string): string {
  const pairs = header.split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${COOKIE}=`))?.slice(COOKIE.length + 1) ?? '';
}
