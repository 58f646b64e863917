import { FairQueue } from '../../platform/async/fair-slots.ts';
import type { MailboxRow } from './queries.ts';

const MIB = 1_048_576;

/** A message is held as it came, with CRLF at its lines, unpacked, packed and in its statement. */
const COPIES = 5;

/** Larger messages wait for each other alone: one of 32 MiB takes two minutes at a slow server. */
export const LARGE = 2 * MIB;

/**
 * A server may be slow, so that one environment gets a few turns. In the memory there is room for six of the
 * largest.
 */
const SMALL = { slots: { total: 32, perKey: 2, backlog: 1_000 }, octets: 64 * MIB };
/** Two at once, or one that needs more than the memory alone. */
const LARGER = { slots: { total: 2, perKey: 1, backlog: 1_000 }, octets: 160 * MIB };

/** The time for a message: a server that is slower is left. */
export const readingMs = (size: number): number => Math.min(120_000, 10_000 + (1_000 * size) / 262_144);

/**
 * The turns of messages that are read at once, and the memory that they take, fairly among the environments.
 */
export class MessageTurns {
  readonly #small = new FairQueue(SMALL.slots, SMALL.octets);
  readonly #larger = new FairQueue(LARGER.slots, LARGER.octets);

  /** Reads a message at its turn; null when that never comes. */
  take<Result>(
    { workspaceId, livemode }: Pick<MailboxRow, 'workspaceId' | 'livemode'>,
    size: number,
    read: () => Promise<Result>,
  ): Promise<Result | null> {
    const queue = size > LARGE ? this.#larger : this.#small;
    return queue.take(`${workspaceId} ${livemode}`, read, { octets: COPIES * size });
  }

  /** Lets no further message begin. */
  close(): void {
    this.#small.close();
    this.#larger.close();
  }
}
