import type { Logger } from 'pino';
import type { Database } from '../../platform/db/database.ts';
import { lowestIdAt } from '../../platform/db/ids.ts';
import type { Clock } from '../../platform/time/clock.ts';
import type { OutboxEvent } from '../machine/draft.ts';
import type { ActorEvent } from '../machine/kind.ts';
import type { EventResult } from '../machine/result.ts';

/** An event older than this was not handled by the instance whose commit wrote it. */
const FORGOTTEN_MS = 5_000;
const PAGE = 500;
/** Events under way in this process at most; more are left to the recovery. */
const UNDER_WAY = 10_000;

const FORGOTTEN = `select id, to_kind as kind, to_id as "to", event from actor_outbox where id > $1 and id < $2 order by id limit ${PAGE}`;
/** Sorts before every id. */
const FIRST = '';

/** Hands a event to a mailbox and answers what became of it. */
export type Deliver = (kind: string, id: string, event: ActorEvent, outboxId: string) => Promise<EventResult>;

/**
 * Delivers events from actor to actor. A row is written with the sender's commit; delivery from memory is
 * only faster, and the age of its row recovers an event that is lost there.
 */
export class Outbox {
  readonly #underWay = new Set<string>();
  /** The place where the recovery goes on: an event that cannot be delivered must not block all others. */
  #recoveredTo = FIRST;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly deliver: Deliver,
    private readonly logger: Logger,
  ) {}

  /** Starts delivering events that were just committed. */
  post(events: readonly OutboxEvent[]): void {
    for (const one of events) void this.#carry(one).catch(() => {});
  }

  /**
   * Delivers events that no instance has delivered: those of an instance that died, or of a database that was
   * away. Reads on where it stopped for want of room, and begins again at the end. Returns the number found.
   */
  async recover(): Promise<number> {
    const before = lowestIdAt('mail', this.clock.now() - FORGOTTEN_MS);
    const deliveries: Promise<void>[] = [];
    let found = 0;
    while (found < UNDER_WAY && this.#underWay.size < UNDER_WAY) {
      const page = await this.database.query<OutboxEvent>(FORGOTTEN, [this.#recoveredTo, before]);
      found += page.length;
      deliveries.push(...page.map((event) => this.#carry(event)));
      this.#recoveredTo = page.length < PAGE ? FIRST : (page.at(-1) as OutboxEvent).id;
      if (page.length < PAGE) break;
    }
    const failed = (await Promise.allSettled(deliveries)).filter((one) => one.status === 'rejected');
    if (failed.length > 0)
      this.logger.warn(
        { err: failed[0]?.reason, undelivered: failed.length },
        'Events between actors could not be delivered; the service tries again.',
      );
    return found;
  }

  async #carry({ id, kind, to, event }: OutboxEvent): Promise<void> {
    if (this.#underWay.has(id) || this.#underWay.size >= UNDER_WAY) return;
    this.#underWay.add(id);
    try {
      const result = await this.deliver(kind, to, event, id);
      // A change deletes the row in its own commit. An actor that refuses the event, or is gone, will never
      // take it.
      if (result.outcome !== 'changed')
        await this.database.query('delete from actor_outbox where id = $1', [id]);
    } finally {
      this.#underWay.delete(id);
    }
  }
}
