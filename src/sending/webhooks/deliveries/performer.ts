import type { AttemptOutcome, WebhookDeliveryEvent } from '../../../../machines/webhook-delivery/context.ts';
import type { Order } from '../../../engine/machine/draft.ts';
import { decidedFor } from '../../../engine/machine/kind.ts';
import type { Performer } from '../../../engine/runtime/performers.ts';
import { FairQueue } from '../../../platform/async/fair-slots.ts';
import type { Sealer } from '../../../platform/crypto/sealer.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tracing } from '../../../platform/telemetry/tracing.ts';
import type { Clock } from '../../../platform/time/clock.ts';
import { openSecret } from '../endpoints/secret.ts';
import { isSuccess, type PostResult, REASONS } from '../http/post-result.ts';
import type { Poster } from '../http/poster.ts';
import { attemptReader, type DeliveryPayload, type Target } from './reader.ts';
import { STOPS_IN } from './stop-pending.ts';

/** Most orders in this process at once; others are left to their leases. */
const ORDERS = 8_192;
const LIMITS = { total: 1_024, perKey: 64, backlog: ORDERS };
/** Longest duration of an attempt: the ten seconds of one POST, and two for a slow machine. */
const LONGEST_ATTEMPT_MS = 12_000;
/**
 * An endpoint is read together with the event, and again when the attempt had to wait for a slot longer than
 * this. A change within 10 ms could as well have met a request that was already in the network.
 */
const FRESH_MS = 10;

type PostPayload = Omit<DeliveryPayload, 'body' | 'target'> & { readonly body: string };

/** The parts that attempts use. */
export interface WebhookWork {
  readonly database: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly poster: Poster;
  readonly tracing?: Tracing | null | undefined;
  /** True where the database is distributed. */
  readonly isOnNodes: boolean;
}

/** An attempt that was ordered. */
export interface AttemptOrder {
  /** The delivery. */
  readonly id: string;
  readonly workspaceId: string;
  /**
   * The subject of the delivery, as the commit that made it returned it (`SUBJECT_SQL`); null where it has to
   * be read.
   */
  readonly subject: string | null;
  readonly attempt: number;
  /** The time at which the attempt counts as lost. */
  readonly leaseEnd: number;
  /** The time of the delivery's test clock, during which attempts take no time; null for the real time. */
  readonly standsAt: number | null;
}

/** Performs the attempts of deliveries. */
export class WebhookPerformer implements Performer {
  readonly slots = ORDERS;
  readonly backlog = 0;
  readonly #queue = new FairQueue(LIMITS);
  readonly #read: ReturnType<typeof attemptReader>;
  /** Endpoints whose last attempt in this process failed. Their rows may not show it yet. */
  readonly #failing = new Set<string>();
  readonly #secrets = new WeakMap<Target, string | null>();

  constructor(private readonly work: WebhookWork) {
    this.#read = attemptReader(work.database, work.isOnNodes);
  }

  /** Starts no further attempt. Attempts under way end; waiting ones are left to other instances. */
  stop(): void {
    this.#queue.close();
  }

  /**
   * A declined attempt is tried again when its lease has ended; one that did not begin before a stop need not
   * wait for that.
   */
  declined({ effect }: Order, isStopping: boolean): readonly WebhookDeliveryEvent[] {
    const { attempt } = effect.params as { readonly attempt: number };
    return isStopping ? [{ type: 'attempt.declined', at: this.work.clock.now(), attempt }] : [];
  }

  stopped(): void {
    this.work.poster.close();
  }

  async perform(order: Order): Promise<readonly WebhookDeliveryEvent[]> {
    const { attempt } = order.effect.params as { readonly attempt: number };
    const came = await this.attempt({
      id: order.actor.id,
      workspaceId: order.actor.workspaceId,
      subject: (order.payload as string | undefined) ?? null,
      attempt,
      leaseEnd: Math.min(...Object.values(order.actor.timers)),
      standsAt: null,
    });
    return came.length > 0 ? came : this.declined(order, this.#queue.isClosed);
  }

  /**
   * Makes an attempt, and returns the events for the delivery.
   * @throws UnavailableError
   */
  async attempt(order: AttemptOrder): Promise<readonly WebhookDeliveryEvent[]> {
    const { clock } = this.work;
    const payload = await this.#read.payload(order);
    const readAt = clock.monotonic();
    if (!payload) return [];
    const { webhookId, emailId, eventType, body, target } = payload;
    if (body === null)
      return [{ type: 'endpoint.stopped', at: order.standsAt ?? clock.now(), reason: 'event_expired' }];
    const outcome = await this.#queue.take(webhookId, async () => {
      const isFresh = clock.monotonic() - readAt < FRESH_MS;
      return this.#attempt(order, isFresh ? target : await this.#read.target(webhookId), {
        webhookId,
        emailId,
        eventType,
        body,
      });
    });
    return outcome ? [outcome] : [];
  }

  /**
   * Makes one attempt; null when the lease is too short for it, because an attempt that outlives its lease is
   * made twice.
   */
  async #attempt(
    { attempt, leaseEnd, standsAt }: AttemptOrder,
    target: Target | null,
    { webhookId, emailId, eventType, body }: PostPayload,
  ): Promise<WebhookDeliveryEvent | null> {
    const { clock, poster } = this.work;
    if (standsAt === null && clock.now() + LONGEST_ATTEMPT_MS > leaseEnd) return null;
    const reason = decidedFor(STOPS_IN, target?.state ?? 'deleted');
    if (!target || reason !== null || target.sealed === null) {
      this.#failing.delete(webhookId);
      return { type: 'endpoint.stopped', at: standsAt ?? clock.now(), reason: reason ?? 'endpoint_deleted' };
    }
    const attemptedAt = clock.now();
    const secret = this.#secretOf(target, target.sealed);
    const answer =
      secret === null ? UNSIGNED : await poster.post({ webhookId, url: target.context.url, secret, body });
    const succeeded = isSuccess(answer);
    const endpointIsFailing = this.#isFailing(target, succeeded);
    const { httpStatus, responseBody, durationMs, error } = answer;
    this.work.tracing?.record({
      emailId,
      name: 'webhook post',
      startedAt: attemptedAt,
      attributes: {
        'http.request.method': 'POST',
        'http.response.status_code': httpStatus,
        'server.address': new URL(target.context.url).hostname,
        'posthorn.webhook.id': webhookId,
        'posthorn.event.type': eventType,
        'posthorn.attempt': attempt,
      },
      problem: succeeded ? null : (error ?? `status ${httpStatus}`),
    });
    const real = { at: clock.now(), attemptedAt };
    const outcome: AttemptOutcome = {
      ...(standsAt === null ? real : { at: standsAt, attemptedAt: standsAt, real }),
      attempt,
      httpStatus,
      responseBody,
      durationMs,
      error,
      webhookId,
      endpointIsFailing,
    };
    return { type: succeeded ? 'attempt.succeeded' : 'attempt.failed', ...outcome };
  }

  /**
   * Opens the secret once for all attempts whose endpoint was read together, and keeps it no longer than they
   * do.
   */
  #secretOf(target: Target, sealed: string): string | null {
    const known = this.#secrets.get(target);
    if (known !== undefined) return known;
    const secret = openSecret(this.work.sealer, target.id, sealed);
    this.#secrets.set(target, secret);
    return secret;
  }

  /** True when the endpoint has counted failures, or soon will have, as far as this process can know. */
  #isFailing({ id, context }: Target, succeeded: boolean): boolean {
    const isFailing = this.#failing.has(id) || context.failureCount > 0;
    if (succeeded) this.#failing.delete(id);
    else this.#failing.add(id);
    return isFailing;
  }
}

/** The outcome of an attempt that could not be signed. */
const UNSIGNED: PostResult = {
  httpStatus: 0,
  durationMs: 0,
  responseBody: REASONS.sealed_secret,
  error: 'sealed_secret',
};
