import type { ClockedActors } from '../../engine/runtime/clocked.ts';
import type { WebhookPosting } from './commands.ts';

/** The functions that webhooks give to other modules. */
export interface WebhooksApi {
  /** Posts requests to receivers: with the guards, the limits and the signature of webhooks. */
  readonly posting: WebhookPosting;
  /** Deliveries on test clocks. */
  readonly clockedDeliveries: ClockedActors;
}
