import { ImapMailbox, type ImapTimes, roomFor } from '../../mail/imap/imap-mailbox.ts';
import { MailboxUnreadable } from '../../mail/imap/imap-problem.ts';
import { LARGEST_INBOUND } from '../../mail/received/inbound-server.ts';
import { orAborted } from '../../platform/async/deadline.ts';
import type { Sealer } from '../../platform/crypto/sealer.ts';
import { DAY_MS } from '../../platform/time/clock.ts';
import type { HostChecks } from '../webhooks/api.ts';
import type { ClaimedMailbox, Leases } from './leases.ts';
import { type MessageTurns, readingMs } from './message-turns.ts';
import { beginAgain, beginAt, MailboxLost, pass } from './places.ts';
import { openPassword } from './queries.ts';
import { retried } from './retried.ts';
import { type MessageEnd, type TakingDeps, takeMessage } from './take-message.ts';

/** The services that reading a mailbox calls. */
export interface MailboxReaderDeps extends TakingDeps {
  readonly sealer: Sealer;
  readonly leases: Leases;
  readonly monotonic: () => number;
  readonly hosts: () => Pick<HostChecks, 'addressesOf'>;
  /** The trusted certificate authorities in PEM; null for the runtime's own list. */
  readonly ca: string | null;
  readonly turns: MessageTurns;
  readonly count: (end: MessageEnd) => void;
  readonly times?: ImapTimes | undefined;
}

/** A password that was sealed with another key. */
export class PasswordSealed extends Error {
  override readonly name = 'PasswordSealed';
}

/** A message that the server does not give out. It is left out only where others come. */
export class MessageUnreadable extends Error {
  override readonly name = 'MessageUnreadable';
}

/**
 * The failures in a row, some forty minutes in all, after which such a message is left out: Dovecot closes
 * the connection at one whose file it cannot read, and none behind it would ever be read.
 */
const MOST_FAILURES = 10;
/** The messages behind it of which one has to come: a server that gives none out is waited for. */
const MOST_ASKED_FOR = 5;

/** The wait for news, after which a server is asked: one may have no IDLE, or a connection may be dead. */
const POLL_MS = 60_000;
/** The folder is opened again, since a server tells only then that it has other UIDs. */
const REOPEN_MS = 15 * 60_000;

/** One mailbox while this instance reads it. */
export class MailboxReader {
  readonly #stop = new AbortController();
  #mailbox: ImapMailbox | null = null;
  #hasProgress = false;
  #lastUid: number;
  #since: number | null;
  #validity: number | null;

  constructor(
    readonly settings: ClaimedMailbox,
    private readonly deps: MailboxReaderDeps,
  ) {
    this.#lastUid = settings.lastUid;
    this.#since = settings.since;
    this.#validity = settings.uidValidity;
  }

  /** True once a message has been read, or all that were there. */
  get hasProgress(): boolean {
    return this.#hasProgress;
  }

  /** Ends it. */
  stop(): void {
    this.#stop.abort();
    this.#mailbox?.close();
  }

  get isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  /**
   * Reads until it is stopped. @throws MailboxUnreadable, MessageUnreadable, MailboxLost, PasswordSealed,
   * TargetRefused, UnavailableError
   */
  async run(): Promise<void> {
    const { deps, settings } = this;
    const mailbox = await this.#open();
    if (this.isStopped) return mailbox.close();
    this.#mailbox = mailbox;
    try {
      await deps.leases.connected(settings);
      let openedAt = deps.monotonic();
      while (!this.isStopped) {
        await this.#agree(mailbox);
        await this.#catchUp(mailbox);
        this.#hasProgress = true;
        await mailbox.changed(POLL_MS);
        if (deps.monotonic() - openedAt < REOPEN_MS) continue;
        await mailbox.reopen();
        openedAt = deps.monotonic();
      }
    } finally {
      mailbox.close();
    }
  }

  async #open(): Promise<ImapMailbox> {
    const { sealer, hosts, ca, times } = this.deps;
    const { id, host, port, security, username, folder, sealed, failures } = this.settings;
    const password = openPassword(sealer, id, sealed);
    if (password === null) throw new PasswordSealed();
    const { signal } = this.#stop;
    const addresses = await orAborted(hosts().addressesOf(host), signal, () => new MailboxLost());
    const address = addresses[failures % addresses.length] ?? '';
    const account = { address, host, port, security, username, password, folder, ca };
    return ImapMailbox.open(account, signal, times);
  }

  /** Begins at the end of a new mailbox, and again where the server has given its messages other UIDs. */
  async #agree(mailbox: ImapMailbox): Promise<void> {
    const { database, now } = this.deps;
    const validity = mailbox.uidValidity;
    if (validity === this.#validity) return;
    const { id, holder } = this.settings;
    const place = { id, holder };
    if (this.#validity === null) {
      this.#lastUid = await mailbox.lastUid();
      await beginAt(database, place, validity, { lastUid: this.#lastUid, now: now() });
    } else {
      this.#since = await beginAgain(database, place, validity, now());
      this.#lastUid = 0;
    }
    this.#validity = validity;
  }

  async #catchUp(mailbox: ImapMailbox): Promise<void> {
    // Servers compare days, in any zone.
    const since = this.#since === null ? null : this.#since - DAY_MS;
    const uids = await mailbox.uidsAfter(this.#lastUid, since);
    const { failures, problem } = this.settings;
    // Without progress the first one is the message that failed before.
    const hasFailed = problem === 'message' && !this.#hasProgress && failures >= MOST_FAILURES;
    // It is asked before: a server that cannot read a message may close the connection there.
    const givesOthers = hasFailed && (await this.#givesOut(mailbox, uids.slice(1, 1 + MOST_ASKED_FOR)));
    for (const uid of uids) {
      if (this.isStopped) return;
      await retried(() => this.#one(mailbox, uid), this.#stop.signal).catch((error: unknown) => {
        if (!givesOthers || uid !== uids[0] || !(error instanceof MessageUnreadable)) throw error;
        return this.#leaveOut(uid, error);
      });
      this.#hasProgress = true;
      this.#lastUid = uid;
    }
  }

  /**
   * True where one of these messages comes. Nothing is left out without: the server may give out none at
   * present, and where there is no other one nothing is held up. @throws MailboxUnreadable
   */
  async #givesOut(mailbox: ImapMailbox, uids: readonly number[]): Promise<boolean> {
    for (const uid of uids) {
      const size = await mailbox.sizeOf(uid);
      if (size === null || size > LARGEST_INBOUND) continue;
      const room = roomFor(size);
      const read = async () => ((await mailbox.read(uid, room, readingMs(room))) ? 'read' : 'gone');
      if ((await this.deps.turns.take(this.settings, room, read)) === 'read') return true;
    }
    return false;
  }

  /** Leaves out a message. The connection may be gone, so this one ends. */
  async #leaveOut(uid: number, error: MessageUnreadable): Promise<never> {
    const { id, holder } = this.settings;
    const place = { id, holder, uidValidity: this.#validity ?? 0, uid };
    await pass(this.deps.database, place, { skipped: 1 });
    this.deps.count('skipped');
    this.#hasProgress = true;
    throw error;
  }

  /** The answer of the server about one message. @throws MessageUnreadable, MailboxUnreadable */
  async #answered<Answer>(answer: Promise<Answer>): Promise<Answer> {
    try {
      return await answer;
    } catch (error) {
      if (this.isStopped || !(error instanceof MailboxUnreadable)) throw error;
      throw new MessageUnreadable();
    }
  }

  async #one(mailbox: ImapMailbox, uid: number): Promise<void> {
    const { database, turns, count } = this.deps;
    const { id, holder } = this.settings;
    const place = { id, holder, uidValidity: this.#validity ?? 0, uid };
    const size = await this.#answered(mailbox.sizeOf(uid));
    if (size === null) return;
    if (size > LARGEST_INBOUND) {
      await pass(database, place, { skipped: 1 });
      return count('skipped');
    }
    const room = roomFor(size);
    const turn = await turns.take(
      this.settings,
      room,
      async () => (await this.#take(mailbox, place, room)) ?? 'gone',
    );
    if (turn === null) throw this.isStopped ? new MailboxLost() : new MailboxUnreadable('timeout');
    if (turn !== 'gone') count(turn);
  }

  async #take(
    mailbox: ImapMailbox,
    place: Parameters<typeof takeMessage>[2],
    room: number,
  ): Promise<MessageEnd | null> {
    const message = await this.#answered(mailbox.read(place.uid, room, readingMs(room)));
    if (!message) return null;
    // Servers note seconds.
    if (this.#since !== null && message.at + 1_000 <= this.#since) return null;
    if (message.raw.length > LARGEST_INBOUND) {
      await pass(this.deps.database, place, { skipped: 1 });
      return 'skipped';
    }
    return takeMessage(this.deps, this.settings, place, message.raw);
  }
}
