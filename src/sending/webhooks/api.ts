import type { ClockedActors } from '../../engine/runtime/clocked.ts';
import type { WebhookPosting } from './commands.ts';
import type { HostChecks } from './endpoints/target.ts';
import type { Prober } from './http/prober.ts';

export type { HostChecks } from './endpoints/target.ts';
// biome-ignore lint/performance/noBarrelFile: mailboxes tell a refused host by it.
export { TargetRefused } from './http/lookup.ts';
export type { ProbeError, ProbeResult, Prober } from './http/prober.ts';

/** The functions that webhooks give to other modules. */
export interface WebhooksApi {
  /** Posts requests to receivers: with the guards, the limits and the signature of webhooks. */
  readonly posting: WebhookPosting;
  /** Asks where links lead, with the guards of webhooks. */
  readonly prober: Prober;
  /** Checks the hosts of mailboxes as those of webhooks. */
  readonly hosts: HostChecks;
  /** Deliveries on test clocks. */
  readonly clockedDeliveries: ClockedActors;
}
