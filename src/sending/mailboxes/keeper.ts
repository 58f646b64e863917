import type { Duty } from '../../engine/duties/duty.ts';
import { problemOf } from '../../mail/imap/imap-problem.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';
import { TargetRefused } from '../webhooks/api.ts';
import { type ClaimedMailbox, someDue } from './leases.ts';
import {
  MailboxReader,
  type MailboxReaderDeps,
  MessageUnreadable,
  PasswordSealed,
} from './mailbox-reader.ts';
import { forgetOldMessages, MailboxLost } from './places.ts';
import type { REASONS } from './reasons.ts';
import { DomainUnproven } from './take-message.ts';

/** Mailboxes that one instance reads. */
const MOST_READ = 500;
const RENEW_MS = 10_000;
/** The waits after failures. */
const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 15 * 60_000;
/** Servers lock accounts after a few wrong passwords. */
const LOGIN_WAITS_MS = [5 * 60_000, 15 * 60_000, 60 * 60_000] as const;

/** Reads the mailboxes that no other instance reads. */
export class MailboxKeeper {
  readonly #readers = new Map<string, MailboxReader>();
  readonly #ended = new Set<Promise<void>>();
  #timer: Timer | null = null;
  #isWanted = false;
  #isClosed = false;

  constructor(
    private readonly deps: MailboxReaderDeps,
    private readonly logger: Logger,
  ) {}

  readonly duties: readonly Duty[] = [
    {
      name: 'mailboxKeeper',
      pattern: '*/2 * * * * *',
      asks: someDue,
      isWanted: () => this.#isWanted,
      run: () => this.claim(),
    },
    {
      name: 'mailboxPruner',
      pattern: '0 17 * * * *',
      goesByAge: true,
      run: (stop) => forgetOldMessages(this.deps.database, this.deps.now(), stop),
    },
  ];

  /** The mailboxes that this process reads at the moment. */
  get count(): number {
    return this.#readers.size;
  }

  /** Follows a change of settings at once. */
  changed(): void {
    this.#isWanted = true;
    void this.#renew();
  }

  /** Takes the mailboxes that wait. @throws UnavailableError */
  async claim(): Promise<void> {
    this.#isWanted = false;
    if (this.#isClosed) return;
    const { leases } = this.deps;
    const claimed = await leases.claim(MOST_READ - this.#readers.size);
    // It was closed meanwhile.
    if (this.#isClosed) return void (await Promise.allSettled(claimed.map((each) => leases.leave(each))));
    for (const settings of claimed) this.#read(settings);
    if (claimed.length > 0) this.#timer ??= setInterval(() => void this.#renew(), RENEW_MS);
  }

  /** Ends all readers, and leaves the mailboxes to others. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer) clearInterval(this.#timer);
    for (const reader of this.#readers.values()) reader.stop();
    await Promise.allSettled(this.#ended);
  }

  #read(settings: ClaimedMailbox): void {
    const { id } = settings;
    this.#readers.get(id)?.stop();
    const reader = new MailboxReader(settings, this.deps);
    this.#readers.set(id, reader);
    const ended = reader
      .run()
      .then(
        () => this.deps.leases.leave(settings),
        (error: unknown) => this.#failed(reader, error),
      )
      .then(
        () => {},
        // The database is away; the lease ends by itself.
        () => {},
      )
      .finally(() => {
        if (this.#readers.get(id) === reader) this.#readers.delete(id);
        this.#ended.delete(ended);
        this.#isWanted = true;
      });
    this.#ended.add(ended);
  }

  async #failed(reader: MailboxReader, error: unknown): Promise<unknown> {
    const { leases } = this.deps;
    const { id, failures } = reader.settings;
    if (reader.isStopped || error instanceof MailboxLost) return leases.leave(reader.settings);
    const problem = reasonOf(error);
    if (problem === 'internal' && !(error instanceof UnavailableError))
      this.logger.error({ err: error, mailbox: id }, 'A message of a mailbox could not be taken.');
    // The failures at a message are counted by themselves: after enough of them it is left out.
    const isFirst = reader.hasProgress || (problem === 'message' && reader.settings.problem !== 'message');
    const count = isFirst ? 1 : failures + 1;
    if (count === 3) this.logger.warn({ mailbox: id, problem }, 'A mailbox cannot be read.');
    return leases.failed(reader.settings, problem, count, waitAfter(problem, count));
  }

  /** Keeps the leases, and ends what is paused, deleted or changed. */
  async #renew(): Promise<void> {
    try {
      if (this.#readers.size === 0) return;
      const readers = [...this.#readers.values()];
      const held = await this.deps.leases.renew(readers.map(({ settings }) => settings.holder));
      for (const reader of readers) if (!held.has(reader.settings.holder)) reader.stop();
    } catch {
      // Without the database nothing is stored, and once it is back a lease that has ended is another's.
    }
  }
}

function reasonOf(error: unknown): keyof typeof REASONS {
  if (error instanceof PasswordSealed) return 'sealed';
  if (error instanceof MessageUnreadable) return 'message';
  if (error instanceof DomainUnproven) return 'unproven';
  if (error instanceof TargetRefused) return error.reason;
  if (error instanceof UnavailableError) return 'internal';
  return error instanceof Error && error.name === 'MailboxUnreadable' ? problemOf(error) : 'internal';
}

function waitAfter(problem: keyof typeof REASONS, count: number): number {
  if (problem === 'login')
    return LOGIN_WAITS_MS[Math.min(count, LOGIN_WAITS_MS.length) - 1] ?? LONGEST_WAIT_MS;
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(count - 1, 10));
}
