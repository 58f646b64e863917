import type { AttemptOutcome, WebhookDeliveryEvent } from '../../../../machines/webhook-delivery-context.ts';
import { FairQueue } from '../../../async/fair-slots.ts';
import type { Sealer } from '../../../crypto/sealer.ts';
import type { Database } from '../../../db/database.ts';
import type { Order } from '../../../engine/draft.ts';
import { decidedFor } from '../../../engine/kind.ts';
import type { Performer } from '../../../engine/performers.ts';
import type { Clock } from '../../../time/clock.ts';
import { openSecret } from '../endpoints/secret.ts';
import { isSuccess } from '../http/post-result.ts';
import type { Poster } from '../http/poster.ts';
import { attemptReader, type Target } from './reader.ts';
import { STOPS_IN } from './stop-pending.ts';

/** Orders in the process at once; more are left to their leases. */
const ORDERS = 8_192;
const LIMITS = { total: 1_024, perKey: 64, backlog: ORDERS };
/** What an attempt takes at the most: the poster's ten seconds, and as much again for a slow machine as it is likely to need. */
const LONGEST_ATTEMPT_MS = 12_000;
/**
 * An endpoint that was read together with the event serves an attempt that begins within so many milliseconds, as most do:
 * no more than what is on its way in the network anyway. Who waited for a slot reads it again.
 */
const FRESH_MS = 10;

/** What attempts are made with. */
export interface WebhookWork {
  readonly database: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly poster: Poster;
}

/** Performs the attempts of deliveries. */
export class WebhookPerformer implements Performer {
  readonly slots = ORDERS;
  readonly backlog = 0;
  readonly #turns = new FairQueue(LIMITS);
  readonly #read: ReturnType<typeof attemptReader>;
  /** Endpoints of which a failure was told here and no success since; the rows may not show it yet. */
  readonly #failing = new Set<string>();

  constructor(private readonly work: WebhookWork) {
    this.#read = attemptReader(work.database);
  }

  /** Lets attempts under way end and starts no other: those that wait are left to their leases. */
  stop(): void {
    this.#turns.close();
  }

  stopped(): void {
    this.work.poster.close();
  }

  async perform(order: Order): Promise<readonly WebhookDeliveryEvent[]> {
    const { clock } = this.work;
    const parcel = await this.#read.parcel(order.actor.id);
    const readAt = clock.monotonic();
    if (!parcel) return [];
    const { webhookId, body, target } = parcel;
    if (body === null) return [{ type: 'endpoint.stopped', at: clock.now(), reason: 'event_expired' }];
    const outcome = await this.#turns.take(webhookId, async () => {
      const isFresh = clock.monotonic() - readAt < FRESH_MS;
      return this.#attempt(order, isFresh ? target : await this.#read.target(webhookId), { webhookId, body });
    });
    return outcome ? [outcome] : [];
  }

  /** null where there is no time left: an attempt that outlives its lease would be made twice. */
  async #attempt(
    order: Order,
    target: Target | null,
    { webhookId, body }: { readonly webhookId: string; readonly body: string },
  ): Promise<WebhookDeliveryEvent | null> {
    const { clock, poster, sealer } = this.work;
    const leaseEnd = Math.min(...Object.values(order.actor.timers));
    if (clock.now() + LONGEST_ATTEMPT_MS > leaseEnd) return null;
    const reason = decidedFor(STOPS_IN, target?.state ?? 'deleted');
    if (!target || reason !== null || target.sealed === null) {
      this.#failing.delete(webhookId);
      return { type: 'endpoint.stopped', at: clock.now(), reason: reason ?? 'endpoint_deleted' };
    }
    const attemptedAt = clock.now();
    const secret = openSecret(sealer, webhookId, target.sealed);
    const answer = await poster.post({ webhookId, url: target.context.url, secret, body });
    const succeeded = isSuccess(answer);
    const endpointIsFailing = this.#isFailing(target, succeeded);
    const { attempt } = order.effect.params as { readonly attempt: number };
    const { httpStatus, responseBody, durationMs, error } = answer;
    const outcome: AttemptOutcome = {
      at: clock.now(),
      attempt,
      attemptedAt,
      httpStatus,
      responseBody,
      durationMs,
      error,
      webhookId,
      endpointIsFailing,
    };
    return { type: succeeded ? 'attempt.succeeded' : 'attempt.failed', ...outcome };
  }

  /** Whether the endpoint has counted failures, or soon will have, as far as this process can know. */
  #isFailing({ id, context }: Target, succeeded: boolean): boolean {
    const isFailing = this.#failing.has(id) || context.failureCount > 0;
    if (succeeded) this.#failing.delete(id);
    else this.#failing.add(id);
    return isFailing;
  }
}
