import { isIP } from 'node:net';
import type { FetchMessageObject, FetchQueryObject, ImapFlow, MailboxObject } from 'imapflow';
import { within } from '../../platform/async/deadline.ts';
import { AnswerGuard, type AnswerLimits } from './answer-limits.ts';
import { MailboxUnreadable, problemOf } from './imap-problem.ts';

/** A folder of an account at a server. */
export interface ImapAccount {
  /** The address to connect to, which the caller has checked. */
  readonly address: string;
  /** The name that the certificate has to have. */
  readonly host: string;
  readonly port: number;
  /**
   * `tls` from the first octet on, or `starttls` before the login. There is no other: a password is never
   * sent in the clear.
   */
  readonly security: 'tls' | 'starttls';
  readonly username: string;
  readonly password: string;
  readonly folder: string;
  /** The trusted certificate authorities in PEM; null for the runtime's own list. */
  readonly ca: string | null;
}

/** A message of a folder. */
export interface ImapMessage {
  /** When the server got it, in epoch milliseconds. */
  readonly at: number;
  readonly raw: Buffer;
}

/** The times that a server may take. */
export interface ImapTimes {
  readonly connectMs: number;
  readonly silentMs: number;
  /** Between two looks that found nothing, for a server that tells of news all the time. */
  readonly restMs: number;
}

export const IMAP_TIMES: ImapTimes = {
  connectMs: 20_000,
  silentMs: 120_000,
  restMs: 1_000,
};

/** Octets of a line, and of what is no message. */
const ROOM = 65_536;
/** Before a folder is open the library collects what a server sends. */
const OPENING: AnswerLimits = { line: ROOM, literal: ROOM, total: 4 * ROOM };
/** A server tells of other messages at any time: after a change of many flags that is a line for each. */
const NEWS = 1_048_576;
const ANSWER: AnswerLimits = { line: ROOM, literal: ROOM, total: NEWS };
/** 2 MiB hold 200,000 UIDs. */
const SEARCH: AnswerLimits = { line: 2 * NEWS, literal: ROOM, total: 3 * NEWS };
/** A row for each UID, with its date at most: 8 MiB hold 100,000. */
const ROWS: AnswerLimits = { line: ROOM, literal: ROOM, total: 8 * NEWS };
const MOST_TOKENS = 100_000;
/** A server may answer a search with a range, which is expanded up to this number. */
const MOST_MESSAGES = 2_000_000;
/** RFC 9051 2.3.1.1: UIDs and their validity have 32 bits. */
const HIGHEST_VALIDITY = 0xff_ff_ff_ffn;

/** Octets that a message may have of which a server says the size: some only estimate it. */
export const roomFor = (size: number): number => Math.ceil(size * 1.25) + 4 * ROOM;

/**
 * An open folder. It is opened read-only (EXAMINE), and messages are read with PEEK: nothing in the mailbox
 * changes.
 */
export class ImapMailbox {
  readonly #guard: AnswerGuard;
  #hasNews = false;
  #hasFoundNothing = false;
  #isResting = false;
  #isLeft = false;
  #wake: (() => void) | null = null;
  #problem: MailboxUnreadable | null = null;

  private constructor(
    private readonly client: ImapFlow,
    private readonly times: ImapTimes,
  ) {
    this.#guard = new AnswerGuard(client, () => this.#endAs('protocol'));
    client.on('exists', ({ count }) => {
      if (count > MOST_MESSAGES) return this.#endAs('protocol');
      this.#hasNews = true;
      if (!this.#isResting) this.#wake?.();
    });
    // The library goes through all UIDs of a range that a server says it has deleted; they are not asked for
    // here.
    Object.assign(client, { untaggedVanished: async () => {} });
    // Without a listener an error would end the process.
    client.on('error', (error: unknown) => this.#end(problemOf(error)));
    client.on('close', () => this.#end('closed'));
  }

  /** Connects, logs in and opens the folder, unless the signal ends it. @throws MailboxUnreadable */
  static async open(
    { address, host, port, security, username, password, folder, ca }: ImapAccount,
    signal: AbortSignal,
    times: ImapTimes = IMAP_TIMES,
  ): Promise<ImapMailbox> {
    // With the tables of Japanese character sets among the rest of it, evaluating it would take 25 ms of each
    // start.
    const { ImapFlow } = await import('imapflow');
    const client = new ImapFlow({
      host: address,
      port,
      secure: security === 'tls',
      // RFC 6066 3: an address is no name of a server.
      ...(isIP(host) === 0 && { servername: host }),
      ...(security === 'starttls' && { doSTARTTLS: true }),
      auth: { user: username, pass: password },
      tls: { minVersion: 'TLSv1.2', ...(ca !== null && { ca }) },
      logger: false,
      disableAutoIdle: true,
      disableCompression: true,
      disableAutoEnable: true,
      clientInfo: { name: 'posthorn' },
      connectionTimeout: times.connectMs,
      greetingTimeout: times.connectMs,
      socketTimeout: times.silentMs,
      maxResponseTokens: MOST_TOKENS,
    });
    const mailbox = new ImapMailbox(client, times);
    const abort = (): void => mailbox.close();
    signal.addEventListener('abort', abort, { once: true });
    try {
      if (signal.aborted) throw new MailboxUnreadable('closed');
      mailbox.#guard.allow(OPENING);
      await within(times.connectMs * 2, client.connect(), late);
      mailbox.#guard.allow(OPENING);
      await mailbox.#openFirst(namesOf(folder, client));
      mailbox.#opened();
      return mailbox;
    } catch (error) {
      const failure = mailbox.#failure(error);
      mailbox.close();
      throw failure;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /**
   * Opens the folder again: only then a server tells that its messages have other UIDs. @throws
   * MailboxUnreadable
   */
  async reopen(): Promise<void> {
    const { path } = this.#opened();
    await this.#asked(ANSWER, this.times.silentMs, () => this.client.mailboxOpen(path, { readOnly: true }));
    this.#opened();
  }

  /** Opens the first of the names that the server has a folder of. @throws MailboxUnreadable */
  async #openFirst(names: readonly string[]): Promise<void> {
    for (const [at, name] of names.entries()) {
      try {
        this.#guard.allow(OPENING);
        await within(this.times.silentMs, this.client.mailboxOpen(name, { readOnly: true }), late);
        return;
      } catch (error) {
        if (!this.client.usable || error instanceof MailboxUnreadable) throw error;
        // A folder that cannot be opened now is waited for: another one of a like name is not it.
        const { serverResponseCode = '' } = error as { readonly serverResponseCode?: string };
        if (at === names.length - 1 || TEMPORARY.has(serverResponseCode))
          throw new MailboxUnreadable('folder');
      }
    }
  }

  /**
   * The number that changes when the server gives the messages new UIDs (RFC 9051 2.3.1.1). @throws
   * MailboxUnreadable
   */
  get uidValidity(): number {
    return Number(this.#opened().uidValidity);
  }

  /** The UID of the last message, as of the opening; 0 of an empty folder. @throws MailboxUnreadable */
  async lastUid(): Promise<number> {
    const { uidNext, exists } = this.#opened();
    if (Number.isInteger(uidNext)) return Math.max(0, uidNext - 1);
    if (exists === 0) return 0;
    // Courier does not name it, and finds nothing by `SEARCH UID *`. The last message has the highest UID
    // (RFC 9051 2.3.1.1).
    const rows = await this.#rows(String(exists), { uid: true }, false);
    // A server may tell of other messages as well, and of those that have come since.
    const last = rows.find(({ number }) => number === exists);
    if (!last) throw new MailboxUnreadable('protocol');
    return last.uid;
  }

  /**
   * The UIDs after one, in order; of those since a day, where it is named (epoch ms). @throws
   * MailboxUnreadable
   */
  async uidsAfter(uid: number, since: number | null): Promise<readonly number[]> {
    this.#hasNews = false;
    const uids = await this.#uidsFrom(uid + 1, since);
    // `n:*` has the last message also where its UID is lower.
    const after = [...new Set(uids)].filter((each) => each > uid).sort((a, b) => a - b);
    this.#hasFoundNothing = after.length === 0;
    return after;
  }

  /** The octets of a message; null when it is gone. @throws MailboxUnreadable */
  async sizeOf(uid: number): Promise<number | null> {
    const row = await this.#fetch(ANSWER, this.times.silentMs, uid, { uid: true, size: true });
    return row ? (row.size ?? 0) : null;
  }

  /** A message of at most so many octets within a time, unless it is gone. @throws MailboxUnreadable */
  async read(uid: number, largest: number, withinMs: number): Promise<ImapMessage | null> {
    const limits = { line: ROOM, literal: largest, total: largest + NEWS };
    const query = { uid: true, source: true, internalDate: true };
    const row = await this.#fetch(limits, withinMs, uid, query);
    if (!row?.source) return null;
    const at = new Date(row.internalDate ?? 0).getTime();
    return { at: Number.isNaN(at) ? 0 : at, raw: row.source };
  }

  /**
   * Waits until there may be new messages, for at most that time. A server without IDLE is asked at its end.
   * @throws MailboxUnreadable
   */
  async changed(withinMs: number): Promise<void> {
    if (this.#problem) throw this.#problem;
    this.#guard.allow(ANSWER);
    // It ends with the next command.
    if ((!this.#hasNews || this.#hasFoundNothing) && this.client.capabilities.has('IDLE'))
      void this.client.idle().catch(() => {});
    if (this.#hasFoundNothing) {
      this.#isResting = true;
      await this.#rest(this.times.restMs);
      this.#isResting = false;
    }
    if (!this.#hasNews && !this.#problem) await this.#rest(withinMs);
    if (this.#problem) throw this.#problem;
    // It tells of messages, and that the connection still is one.
    await this.#asked(ANSWER, this.times.silentMs, () => this.client.noop());
  }

  /** Closes the connection. */
  close(): void {
    this.#endAs('closed');
  }

  /**
   * The folder, with what a server has to say of one. The library forgets it as soon as the connection is
   * closed. @throws MailboxUnreadable
   */
  #opened(): MailboxObject {
    const { mailbox, usable } = this.client;
    if (this.#problem || !usable || typeof mailbox !== 'object')
      throw this.#problem ?? new MailboxUnreadable('closed');
    const { uidValidity, exists } = mailbox;
    if (typeof uidValidity === 'bigint' && uidValidity > 0n && uidValidity <= HIGHEST_VALIDITY)
      if (exists <= MOST_MESSAGES) return mailbox;
    throw new MailboxUnreadable('protocol');
  }

  /**
   * A search by UIDs finds nothing at the server of GNU Mailutils, so that only a whole folder is searched,
   * which may have many old messages.
   */
  async #uidsFrom(first: number, since: number | null): Promise<readonly number[]> {
    if (this.#opened().exists === 0) return [];
    if (since !== null && first === 1) return this.#search(new Date(since));
    const rows = await this.#rows(
      `${first}:*`,
      { uid: true, ...(since !== null && { internalDate: true }) },
      true,
    );
    return rows.filter(({ at }) => since === null || at === null || at >= since).map(({ uid }) => uid);
  }

  async #search(since: Date): Promise<readonly number[]> {
    const uids = await this.#asked(SEARCH, this.times.silentMs, () =>
      this.client.search({ since }, { uid: true }),
    );
    // The library has none of a search that is refused.
    if (!Array.isArray(uids)) throw this.#problem ?? new MailboxUnreadable('protocol');
    return uids;
  }

  /**
   * The rows about a range: the number of each message in the folder, its UID, and its arrival where it is
   * asked for and named.
   */
  #rows(range: string, query: FetchQueryObject, isOfUids: boolean): Promise<readonly Row[]> {
    return this.#asked(ROWS, this.times.silentMs, async () => {
      const rows: Row[] = [];
      for await (const { seq: number, uid, internalDate } of this.client.fetch(range, query, {
        uid: isOfUids,
      })) {
        const at = internalDate === undefined ? Number.NaN : new Date(internalDate).getTime();
        if (Number.isInteger(uid)) rows.push({ number, uid, at: Number.isNaN(at) ? null : at });
      }
      return rows;
    });
  }

  /** The row about a message. Rows are dropped as they come: a server may send any, of any message. */
  #fetch(
    limits: AnswerLimits,
    ms: number,
    uid: number,
    query: FetchQueryObject,
  ): Promise<FetchMessageObject | null> {
    return this.#asked(limits, ms, async () => {
      let about = null as FetchMessageObject | null;
      for await (const row of this.client.fetch(String(uid), query, { uid: true })) {
        if (row.uid !== uid && (row.uid !== undefined || row.seq !== about?.seq)) continue;
        // A server may answer in several rows, and tell of new flags before.
        about = about === null ? { ...row, uid } : { ...row, ...about };
      }
      return about;
    });
  }

  async #rest(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const timer = setTimeout(resolve, ms);
    await promise;
    clearTimeout(timer);
    this.#wake = null;
  }

  #end(problem: MailboxUnreadable['problem']): void {
    this.#problem ??= new MailboxUnreadable(problem);
    this.#wake?.();
  }

  #endAs(problem: MailboxUnreadable['problem']): void {
    this.#isLeft ||= this.#problem === null;
    this.#end(problem);
    this.client.close();
  }

  /** The answer to a command, within its limits. A server that does not answer is left. */
  async #asked<Answer>(limits: AnswerLimits, ms: number, ask: () => Promise<Answer>): Promise<Answer> {
    try {
      this.#guard.allow(limits);
      return await within(ms, ask(), late);
    } catch (error) {
      const failure = this.#failure(error);
      this.close();
      throw failure;
    }
  }

  #failure(error: unknown): MailboxUnreadable {
    if (error instanceof MailboxUnreadable) return error;
    // The library's words about a connection that was closed here are no reason.
    if (this.#isLeft && this.#problem) return this.#problem;
    const problem = problemOf(error);
    return problem === 'closed' && this.#problem ? this.#problem : new MailboxUnreadable(problem);
  }
}

/**
 * The names under which a folder may be there: below the prefix of the person's own folders, which people
 * leave out, or as it is, which one of another person or of a team is (RFC 2342). The library puts the prefix
 * before every name; here it puts it before none.
 */
function namesOf(folder: string, client: ImapFlow): readonly string[] {
  const { namespace } = client;
  const prefix = namespace?.prefix ?? '';
  if (namespace) namespace.prefix = '';
  const isWhole = folder.startsWith(prefix) || folder.toUpperCase() === 'INBOX';
  return isWhole ? [folder] : [`${prefix}${folder}`, folder];
}

interface Row {
  readonly number: number;
  readonly uid: number;
  readonly at: number | null;
}

/** RFC 5530 (3): the server cannot do it now. */
const TEMPORARY: ReadonlySet<string> = new Set(['UNAVAILABLE', 'INUSE', 'SERVERBUG', 'LIMIT']);

/** The server is left to itself: its answer is dropped. */
const late = (): Error => new MailboxUnreadable('timeout');
