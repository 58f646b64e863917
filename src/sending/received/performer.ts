import type { ReceivedEvent, ReceivedStop } from '../../../machines/received/context.ts';
import type { Order } from '../../engine/machine/draft.ts';
import type { Performer } from '../../engine/runtime/performers.ts';
import { FairQueue } from '../../platform/async/fair-slots.ts';
import type { Sealer } from '../../platform/crypto/sealer.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Clock } from '../../platform/time/clock.ts';
import { openRouteSecret, type RouteTarget, routeTarget } from '../inbound-routes/queries.ts';
import { isSuccess, REASONS, type WebhookPosting } from '../webhooks/commands.ts';
import { readParts } from './contents.ts';
import { type ForwardDeps, forward } from './forward.ts';
import { payloadOf, RECEIVED_COLUMNS, type ReceivedRow } from './views.ts';

/** Most orders in this process at once; others are left to their leases. */
const ORDERS = 2_048;
/** Posts at once, and those of one route: a message may have megabytes. */
const LIMITS = { total: 64, perKey: 16, backlog: ORDERS };
/** Forwards at once, and those of one route; each is a few statements. */
const FORWARD_LIMITS = { total: 16, perKey: 8, backlog: ORDERS };
/** A forward holds its message as it came, unpacked, packed and in its statement. */
const COPIES = 4;
/**
 * Octets that forwards hold at once, but for one of a larger message, which runs alone: 32 MiB is the
 * largest.
 */
const FORWARD_OCTETS = 64 * 1_048_576;
/** Longest duration of an attempt: the ten seconds of one POST, and two for a slow machine. */
const LONGEST_ATTEMPT_MS = 12_000;

/** The parts that attempts use. */
export interface PostingWork {
  readonly database: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly posting: () => WebhookPosting;
  readonly forwarding: () => ForwardDeps;
}

const READ = `select ${RECEIVED_COLUMNS} from received r where r.id = $1 and r.workspace_id = $2`;

/**
 * Posts received messages to the webhooks of their routes, or forwards them, with the guards, limits and
 * signature of webhooks.
 */
export class ReceivedPerformer implements Performer {
  readonly slots = ORDERS;
  readonly backlog = 0;
  readonly #posts = new FairQueue(LIMITS);
  readonly #forwards = new FairQueue(FORWARD_LIMITS, FORWARD_OCTETS);

  constructor(private readonly work: PostingWork) {}

  /** Starts no further attempt. Attempts under way end; waiting ones are left to other instances. */
  stop(): void {
    this.#posts.close();
    this.#forwards.close();
  }

  /**
   * A declined attempt is made again when its lease has ended; one that did not begin before a stop need not
   * wait for that.
   */
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
    const target = await routeTarget(database, workspaceId, row.routeId);
    const isForward = (target?.forwardTo ?? null) !== null;
    const octets = isForward ? COPIES * row.size : 0;
    const queue = isForward ? this.#forwards : this.#posts;
    const came = await queue.take(row.routeId, () => this.#attempt(order, row, isForward), { octets });
    return came ?? this.declined(order, queue.isClosed);
  }

  async #attempt(order: Order, row: ReceivedRow, isForward: boolean): Promise<readonly ReceivedEvent[]> {
    const { database, clock, sealer, posting } = this.work;
    const { actor, effect } = order;
    const { attempt } = effect.params as { readonly attempt: number };
    const stopped = (reason: ReceivedStop): readonly ReceivedEvent[] => [
      { type: 'posting.stopped', at: clock.now(), attempt, reason },
    ];
    // The route is read at the time of posting: a changed URL or secret counts from the next attempt on, on
    // every instance.
    const target = await routeTarget(database, actor.workspaceId, row.routeId);
    if (!target) return stopped('route_deleted');
    // An attempt that outlives its lease is made twice. One that has changed its kind has no leave of the
    // other queue.
    const isLate = clock.now() + LONGEST_ATTEMPT_MS > Math.min(...Object.values(actor.timers));
    if (isLate || (target.forwardTo !== null) !== isForward) return [];
    if (target.forwardTo !== null) return this.#forward(actor.workspaceId, row, target, attempt);
    if (target.url === null || target.sealed === null) return stopped('route_keeps');
    const parts = await readParts(database, actor.workspaceId, row.contentId);
    if (!parts) return stopped('content_expired');
    const attemptedAt = clock.now();
    const secret = openRouteSecret(sealer, row.routeId, target.sealed);
    const result =
      secret === null
        ? UNSIGNED
        : await posting().post({
            webhookId: row.routeId,
            url: target.url,
            secret,
            body: payloadOf(row, parts),
          });
    const { httpStatus, responseBody, durationMs, error } = result;
    const outcome = { at: clock.now(), attempt, attemptedAt, httpStatus, responseBody, durationMs, error };
    return [{ type: isSuccess(result) ? 'attempt.succeeded' : 'attempt.failed', ...outcome }];
  }

  async #forward(
    workspaceId: string,
    row: ReceivedRow,
    target: RouteTarget,
    attempt: number,
  ): Promise<readonly ReceivedEvent[]> {
    const { clock, forwarding } = this.work;
    const attemptedAt = clock.now();
    const came = await forward(forwarding(), workspaceId, row, target);
    const at = clock.now();
    if ('emailId' in came) return [{ type: 'message.forwarded', at, attempt, emailId: came.emailId }];
    if ('stopped' in came) return [{ type: 'posting.stopped', at, attempt, reason: came.stopped }];
    const reply = { httpStatus: 0, responseBody: came.refused, error: 'not_accepted' };
    return [
      {
        type: 'attempt.failed',
        at,
        attempt,
        attemptedAt,
        durationMs: Math.max(0, at - attemptedAt),
        ...reply,
      },
    ];
  }
}

/** The outcome of an attempt that could not be signed. */
const UNSIGNED = {
  httpStatus: 0,
  durationMs: 0,
  responseBody: REASONS.sealed_secret,
  error: 'sealed_secret' as const,
};
