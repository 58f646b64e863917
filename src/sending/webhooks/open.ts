import type { Registration } from '../../engine/runtime/running-kind.ts';
import type { NameServer } from '../../mail/dns/exchange.ts';
import type { Sealer } from '../../platform/crypto/sealer.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tracing } from '../../platform/telemetry/tracing.ts';
import type { Clock } from '../../platform/time/clock.ts';
import type { WebhookPosting } from './commands.ts';
import { webhookDeliveries } from './deliveries/kind.ts';
import { WebhookPerformer } from './deliveries/performer.ts';
import { StopPerformer } from './deliveries/stop-performer.ts';
import { webhookEndpoints } from './endpoints/kind.ts';
import { problemOfTarget, type TargetRules } from './endpoints/target.ts';
import { createAddressGuard, type TargetPolicy } from './http/address-guard.ts';
import { webhookResolver } from './http/lookup.ts';
import { createPoster } from './http/poster.ts';
import { createProber, type Prober } from './http/prober.ts';

export interface WebhookParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly policy: TargetPolicy;
  /** The name servers of `DNS_SERVERS`; null for the resolver of the system. */
  readonly nameServers: readonly NameServer[] | null;
  /** The trusted certificate authorities in PEM; null for the runtime's own list. */
  readonly ca: string | null;
  readonly tracing?: Tracing | null;
  /** True where the database is distributed. */
  readonly isOnNodes?: boolean;
}

export interface Webhooks {
  readonly kinds: readonly Registration[];
  readonly targetRules: TargetRules;
  readonly stopping: StopPerformer;
  readonly posting: WebhookPosting;
  readonly prober: Prober;
  readonly performer: WebhookPerformer;
}

/** Builds the parts of webhooks. */
export function openWebhooks({
  database,
  clock,
  sealer,
  policy,
  nameServers,
  ca,
  tracing,
  isOnNodes = false,
}: WebhookParts): Webhooks {
  const targetRules = {
    guard: createAddressGuard(policy),
    resolve: webhookResolver(nameServers),
    privateNames: policy.allowPrivate || policy.allowCidrs.length > 0,
  };
  const poster = createPoster({ ...targetRules, clock, ca });
  const performer = new WebhookPerformer({ database, clock, sealer, poster, tracing, isOnNodes });
  const stopping = new StopPerformer({ database, clock });
  const posting: WebhookPosting = {
    problemOfUrl: (url) => problemOfTarget(url, targetRules),
    post: (one) => poster.post(one),
  };
  return {
    kinds: [webhookEndpoints(stopping), webhookDeliveries(performer)],
    targetRules,
    stopping,
    posting,
    performer,
    prober: createProber({ ...targetRules, clock, ca }),
  };
}
