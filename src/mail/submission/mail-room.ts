import { type BodyReservation, SMALL } from '../../platform/async/body-budget.ts';
import { FairQueue } from '../../platform/async/fair-slots.ts';
import { type BudgetLimits, KeyedBudget } from '../../platform/async/keyed-budget.ts';
import { MESSAGE_MEMORY } from '../../platform/config/message-memory.ts';
import { LargeGarbage } from '../../platform/threads/large-garbage.ts';

/**
 * Octets of messages that are read and stored at once, which takes several times as much memory: five of 25
 * MiB took 1.5 GB.
 */
const MOST_AT_ONCE = 32 * 1024 * 1024;
/**
 * Large messages under way, besides their octets; one workspace has an eighth of those that are free. Those
 * that wait are bounded by their memory.
 */
const LARGE_ONES = { total: 64, perKey: 64, backlog: 8_192 };
/**
 * While the room is full, a message gives its memory to another once fewer octets than these have come in so
 * many milliseconds, 17 kB/s: ten that came octet by octet held all of it for an hour.
 */
export const SLOW = { octets: 1_048_576, ms: 60_000 };

/** The memory of a message that is arriving. */
interface ArrivingPlace extends BodyReservation {
  /** Has `drop` called when the memory is another message's from now on. */
  onLost(drop: () => void): void;
  /** The message is whole, and keeps its memory until the release. */
  keep(): void;
}

/** A message that may lose its memory. */
interface Arriving {
  readonly lose: () => void;
  held: number;
  /** The octets at the last time that enough had come, and that time. */
  seen: number;
  since: number;
}

/**
 * The memory of whole messages and the turns in which they are read and stored, the same for every way by
 * which they come: both SMTP ports and `POST /v1/emails/raw`. Two ways with a room each would take twice the
 * memory.
 */
export class MailRoom {
  readonly #memory: KeyedBudget;
  readonly #queue = new FairQueue(LARGE_ONES, MOST_AT_ONCE);
  readonly #arriving = new Set<Arriving>();
  readonly #garbage = new LargeGarbage();

  constructor(
    memory: BudgetLimits = MESSAGE_MEMORY.submitted,
    private readonly monotonic: () => number = () => performance.now(),
  ) {
    this.#memory = new KeyedBudget(memory);
  }

  /** The memory of one message of a workspace that arrives at the pace of its sender. */
  arriving(workspaceId: string): ArrivingPlace {
    let isReleased = false;
    let drop = (): void => {};
    const release = (): void => {
      this.#arriving.delete(message);
      if (isReleased) return;
      isReleased = true;
      this.#memory.give(workspaceId, message.held);
      this.#garbage.add(message.held);
    };
    const lose = (): void => {
      release();
      drop();
    };
    const message: Arriving = { lose, held: 0, seen: 0, since: this.monotonic() };
    this.#arriving.add(message);
    return {
      hold: (octets) => {
        if (isReleased) return false;
        if (octets <= SMALL || octets <= message.held) return true;
        const more = octets - message.held;
        const slow = this.#toLose(workspaceId, more, message);
        if (slow === null) return false;
        for (const one of slow) one.lose();
        this.#memory.take(workspaceId, more);
        message.held = octets;
        if (octets - message.seen < SLOW.octets) return true;
        message.seen = octets;
        message.since = this.monotonic();
        return true;
      },
      release,
      onLost: (lost) => {
        drop = lost;
      },
      keep: () => void this.#arriving.delete(message),
    };
  }

  /** True where a message of so many octets would have its memory now. */
  hasRoom(workspaceId: string, octets: number): boolean {
    return octets <= SMALL || this.#toLose(workspaceId, octets) !== null;
  }

  /**
   * Runs the work on a large message at its workspace's turn, as memory allows, and that on a small one at
   * once. Null when the turn never comes, or the signal fires before.
   */
  async take<Result>(
    workspaceId: string,
    work: () => Promise<Result>,
    { octets, signal }: { readonly octets: number; signal(): AbortSignal | undefined },
  ): Promise<Result | null> {
    return octets <= SMALL ? work() : this.#queue.take(workspaceId, work, { octets, signal: signal() });
  }

  /**
   * The slow messages that lose their memory so that a workspace can have so much more, the slowest first;
   * null where it cannot. A message that is slow itself takes nothing from another.
   */
  #toLose(workspaceId: string, octets: number, asking?: Arriving): readonly Arriving[] | null {
    const { own, shared } = this.#memory.left(workspaceId);
    if (octets > own) return null;
    let missing = octets - shared;
    if (missing <= 0) return [];
    const latest = this.monotonic() - SLOW.ms;
    if (asking && asking.since <= latest) return null;
    const lost: Arriving[] = [];
    for (const one of [...this.#arriving].sort((a, b) => a.since - b.since)) {
      if (missing <= 0 || one.since > latest) break;
      if (one.held === 0) continue;
      lost.push(one);
      missing -= one.held;
    }
    return missing <= 0 ? lost : null;
  }
}
