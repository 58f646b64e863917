import type { ReceivedEvent } from '../../../machines/received/context.ts';
import type { Order } from '../../engine/machine/draft.ts';
import type { Performer } from '../../engine/runtime/performers.ts';
import { FairQueue } from '../../platform/async/fair-slots.ts';
import type { Sealer } from '../../platform/crypto/sealer.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Clock } from '../../platform/time/clock.ts';
import { openRouteSecret, routeTarget } from '../inbound-routes/queries.ts';
import { isSuccess, REASONS, type WebhookPosting } from '../webhooks/commands.ts';
import { readParts } from './contents.ts';
import { payloadOf, RECEIVED_COLUMNS, type ReceivedRow } from './views.ts';

/** Most orders in this process at once; others are left to their leases. */
const ORDERS = 2_048;
/** Posts at once, and those of one route: a message may have megabytes. */
const LIMITS = { total: 64, perKey: 16, backlog: ORDERS };
/** Longest duration of an attempt: the ten seconds of one POST, and two for a slow machine. */
const LONGEST_ATTEMPT_MS = 12_000;

/** The parts that attempts use. */
export interface PostingWork {
  readonly database: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly posting: () => WebhookPosting;
}

const READ = `select ${RECEIVED_COLUMNS} from received r where r.id = $1 and r.workspace_id = $2`;

/** Posts received messages to the webhooks of their routes, with the guards, limits and signature of webhooks. */
export class ReceivedPerformer implements Performer {
  readonly slots = ORDERS;
  readonly backlog = 0;
  readonly #queue = new FairQueue(LIMITS);

  constructor(private readonly work: PostingWork) {}

  /** Starts no further attempt. Attempts under way end; waiting ones are left to other instances. */
  stop(): void {
    this.#queue.close();
  }

  /** A declined attempt is made again when its lease has ended; one that did not begin before a stop need not wait for that. */
  declined({ effect }: Order, isStopping: boolean): readonly ReceivedEvent[] {
    const { attempt } = effect.params as { readonly attempt: number };
    return isStopping ? [{ type: 'attempt.declined', at: this.work.clock.now(), attempt }] : [];
  }

  async perform(order: Order): Promise<readonly ReceivedEvent[]> {
    const { database } = this.work;
    const { id, workspaceId } = order.actor;
    const [row] = await database.query<ReceivedRow>(READ, [id, workspaceId]);
    // It was deleted meanwhile, so no outcome is needed.
    if (!row) return [];
    const came = await this.#queue.take(row.routeId, () => this.#attempt(order, row));
    return came ?? this.declined(order, this.#queue.isClosed);
  }

  async #attempt(order: Order, row: ReceivedRow): Promise<readonly ReceivedEvent[]> {
    const { database, clock, sealer, posting } = this.work;
    const { actor, effect } = order;
    const { attempt } = effect.params as { readonly attempt: number };
    const stopped = (
      reason: 'route_deleted' | 'route_keeps' | 'content_expired',
    ): readonly ReceivedEvent[] => [{ type: 'posting.stopped', at: clock.now(), attempt, reason }];
    // The route is read at the time of posting: a changed URL or secret counts from the next attempt on, on every instance.
    const target = await routeTarget(database, actor.workspaceId, row.routeId);
    if (!target) return stopped('route_deleted');
    if (target.url === null || target.sealed === null) return stopped('route_keeps');
    const parts = await readParts(database, actor.workspaceId, row.contentId);
    if (!parts) return stopped('content_expired');
    // An attempt that outlives its lease is made twice.
    if (clock.now() + LONGEST_ATTEMPT_MS > Math.min(...Object.values(actor.timers))) return [];
    const attemptedAt = clock.now();
    const secret = openRouteSecret(sealer, row.routeId, target.sealed);
    const result =
      secret === null
        ? UNSIGNED
        : await posting().post({
            ...{ webhookId: row.routeId, url: target.url, secret },
            body: payloadOf(row, parts),
          });
    const { httpStatus, responseBody, durationMs, error } = result;
    const outcome = { at: clock.now(), attempt, attemptedAt, httpStatus, responseBody, durationMs, error };
    return [{ type: isSuccess(result) ? 'attempt.succeeded' : 'attempt.failed', ...outcome }];
  }
}

/** The outcome of an attempt that could not be signed. */
const UNSIGNED = {
  ...{ httpStatus: 0, durationMs: 0 },
  ...{ responseBody: REASONS.sealed_secret, error: 'sealed_secret' as const },
};
