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

/** What a ticket says. */
interface Ticket extends SessionScope {
  /** Tells it from all others. */
  readonly id: string;
  readonly takenBefore: number;
  /** When the session that asked for it ends: no other that comes of it lasts longer. Null for a printed link. */
  readonly expiresAt: number | null;
}

/** Marks a ticket as taken, for every process there is; false when it was taken before. @throws Unavailable */
export type TakeTicket = (ticket: { readonly id: string } & SessionScope) => Promise<boolean>;

const COOKIE = 'posthorn_session';
/** A session, and a link that nobody has opened yet, last this long. */
const LASTS_MS = 3_600_000;
/** Octets of a signature, at the beginning of a ticket. */
const SIGNATURE = 32;

/**
 * Sessions of browsers. The cookie carries everything and is signed, so that any process can read it and none stores it. So
 * does a ticket (what a printed link carries), under a key of its own: it is no cookie. It opens one session, whichever of
 * several processes is asked, so that one that was written down somewhere on the way is worth nothing; what is stored is
 * that it was taken.
 */
export class Sessions {
  readonly #key: Buffer;
  readonly #ticketKey: Buffer;

  constructor(
    secretKey: string,
    private readonly now: () => number,
    /** Whether browsers reach the service over https only. */
    private readonly secure: boolean,
    private readonly take: TakeTicket,
  ) {
    this.#key = createHmac('sha256', secretKey).update('posthorn live view session').digest();
    this.#ticketKey = createHmac('sha256', secretKey).update('posthorn live view ticket').digest();
  }

  /** A ticket for a link that can be opened once; what it opens ends with the session that asked for it, where one did. */
  ticket({ workspaceId, livemode, keyId }: SessionScope, expiresAt: number | null = null): string {
    const id = randomBytes(15).toString('base64url');
    const takenBefore = this.now() + LASTS_MS;
    const ticket: Ticket = { id, workspaceId, livemode, keyId, takenBefore, expiresAt };
    const content = Buffer.from(JSON.stringify(ticket));
    return Buffer.concat([this.#signTicket(content), content]).toString('base64url');
  }

  /** Takes a ticket for good; null when it was taken before, is too old, or was not made here. @throws Unavailable */
  async redeem(ticket: string): Promise<OpenSession | null> {
    const found = this.#readTicket(ticket);
    if (!found || found.takenBefore <= this.now()) return null;
    const { workspaceId, livemode, keyId } = found;
    const expiresAt = found.expiresAt ?? this.now() + LASTS_MS;
    if (expiresAt <= this.now() || !(await this.take(found))) return null;
    return { workspaceId, livemode, keyId, expiresAt };
  }

  #readTicket(ticket: string): Ticket | null {
    const octets = Buffer.from(ticket, 'base64url');
    const [given, content] = [octets.subarray(0, SIGNATURE), octets.subarray(SIGNATURE)];
    if (given.length !== SIGNATURE || !timingSafeEqual(given, this.#signTicket(content))) return null;
    return JSON.parse(content.toString()) as Ticket;
  }

  #signTicket(content: Buffer): Buffer {
    return createHmac('sha256', this.#ticketKey).update(content).digest();
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
