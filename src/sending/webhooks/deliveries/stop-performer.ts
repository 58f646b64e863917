import type { ActorEvent } from '../../../engine/machine/kind.ts';
import type { Performer } from '../../../engine/runtime/performers.ts';
import type { SelectionTeller } from '../../../engine/runtime/timers/tell-where.ts';
import { isKeptSql } from '../../../engine/store/local-leases-sql.ts';
import type { Principal } from '../../../http/auth/principal.ts';
import { Batcher } from '../../../platform/async/batcher.ts';
import { within } from '../../../platform/async/deadline.ts';
import type { Database } from '../../../platform/db/database.ts';
import { UnavailableError } from '../../../platform/errors/unavailable.ts';
import type { Clock } from '../../../platform/time/clock.ts';
import { webhookDeliveryKind } from './kind.ts';
import { stopDeliveries } from './stop-pending.ts';

/**
 * True when deliveries wait for a disabled endpoint. Written so that no index but the clock's serves the
 * first half, which holds waiting deliveries and nothing else: the planner would rather read ten million
 * ended deliveries of one endpoint.
 */
const WAITS = `with w as materialized (
  select id from webhook_endpoints w where w.id = $1 and w.workspace_id = $2 and w.livemode = $3::boolean and w.state = 'disabled'
)
select exists (select true from w join webhook_deliveries d on d.webhook_id || '' = w.id where d.wake_at is not null and d.workspace_id = $2)
  or exists (select true from w join webhook_deliveries d on d.webhook_id = w.id where ${isKeptSql(webhookDeliveryKind, 'd')} and d.workspace_id = $2) as waits`;

/** Longest wait of a client until a great many deliveries have stopped. */
const PATIENCE_MS = 5_000;

interface StopRequest {
  readonly settle: () => void;
  readonly fail: (error: unknown) => void;
}

/** Stops the deliveries of an endpoint once it is inactive; concurrent calls share a walk. */
export class StopPerformer implements Performer {
  readonly slots = 10_000;
  readonly backlog = 0;
  readonly #closing = new AbortController();
  readonly #batcher = new Batcher<StopRequest>('stopped endpoints', (batch) => this.#walk(batch));

  #engine: SelectionTeller | undefined;

  constructor(private readonly deps: { readonly database: Database; readonly clock: Clock }) {}

  attached(engine: SelectionTeller): void {
    this.#engine = engine;
  }

  /** The duty finds again every delivery that fails here or is cut short. */
  async perform(): Promise<readonly ActorEvent[]> {
    await this.#stopAll().catch(() => {});
    return [];
  }

  stop(): void {
    this.#closing.abort();
  }

  /**
   * Resolves when no delivery waits any more for an endpoint that was disabled. A request that enables the
   * endpoint awaits this first, or deliveries that had stopped would be sent after all.
   * @throws UnavailableError when that takes too long; it goes on meanwhile
   */
  async finished(id: string, { workspaceId, livemode }: Principal): Promise<void> {
    const waits = async (): Promise<boolean> => {
      const rows = await this.deps.database.query<{ waits: boolean }>(WAITS, [id, workspaceId, livemode]);
      return rows[0]?.waits ?? false;
    };
    if (!(await waits())) return;
    await within(PATIENCE_MS, this.#stopAll());
    if (await waits()) throw new UnavailableError('Deliveries of the endpoint are still being stopped.');
  }

  #stopAll(): Promise<void> {
    return new Promise((settle, fail) => this.#batcher.push({ settle, fail }));
  }

  async #walk(batch: readonly StopRequest[]): Promise<void> {
    try {
      if (!this.#engine) throw new Error('Deliveries cannot be stopped before the engine is there.');
      await stopDeliveries({ engine: this.#engine, clock: this.deps.clock }, this.#closing.signal);
      for (const { settle } of batch) settle();
    } catch (error) {
      for (const { fail } of batch) fail(error);
    }
  }
}
