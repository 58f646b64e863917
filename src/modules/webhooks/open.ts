import type { Database } from '../../db/database.ts';
import type { Sealer } from '../../db/seal.ts';
import type { Clock } from '../../engine/clock-source.ts';
import type { Registration } from '../../engine/engine.ts';
import { createAddressGuard, type TargetPolicy } from './address-guard.ts';
import { webhookDeliveries } from './delivery-kind.ts';
import { webhookEndpoints } from './endpoint-kind.ts';
import { WebhookPerformer } from './perform.ts';
import { createPoster } from './post.ts';
import { resolveBySystem } from './resolve.ts';
import { Stopping } from './stopping.ts';
import type { TargetRules } from './target.ts';

/** What webhooks are built from. */
export interface WebhookParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly policy: TargetPolicy;
  /** The certificate authorities to trust, in PEM; null for the runtime's own. */
  readonly ca: string | null;
}

/** Webhooks, ready to run. */
export interface Webhooks {
  readonly kinds: readonly Registration[];
  readonly targetRules: TargetRules;
  readonly stopping: Stopping;
}

/** Puts the parts of webhooks together. */
export function openWebhooks({ database, clock, sealer, policy, ca }: WebhookParts): Webhooks {
  const targetRules = {
    guard: createAddressGuard(policy),
    resolve: resolveBySystem,
    privateNames: policy.allowPrivate || policy.allowCidrs.length > 0,
  };
  const poster = createPoster({ ...targetRules, clock, ca });
  const performer = new WebhookPerformer({ database, clock, sealer, poster });
  const stopping = new Stopping({ database, clock });
  return { kinds: [webhookEndpoints(stopping), webhookDeliveries(performer)], targetRules, stopping };
}
