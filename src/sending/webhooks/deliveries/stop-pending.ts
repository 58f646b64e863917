import type { StopReason, WebhookEndpointState } from '../../../../machines/webhook-endpoint/machine.ts';
import type { Selection, SelectionTeller } from '../../../engine/runtime/timers/tell-where.ts';
import { isKeptSql } from '../../../engine/store/local-leases-sql.ts';
import type { Clock } from '../../../platform/time/clock.ts';
import { webhookDeliveryKind } from './kind.ts';

// The commit that stops an endpoint writes its row alone; its waiting deliveries stop afterwards. The state
// of the endpoint is the only record of that work: nothing is posted to an inactive endpoint, and every
// delivery that still waits for one, after a crash or not, has to stop.

/** The stop reason of an endpoint's deliveries in each state; null: they do not stop. */
export const STOPS_IN: Readonly<Record<WebhookEndpointState, StopReason | null>> = {
  active: null,
  disabled: 'endpoint_disabled',
  deleted: 'endpoint_deleted',
};

const reasons = Object.entries(STOPS_IN).map(
  ([state, reason]) => `when '${state}' then ${reason && `'${reason}'`}`,
);

const REASON = `select case w.state ${reasons.join(' ')} end from webhook_endpoints w`;

/**
 * The waiting deliveries of inactive endpoints. They are found among all waiting deliveries, along the index
 * of the clock, since the index of an endpoint's deliveries holds all ended ones as well. A delivery that an
 * attempt under way puts behind the walk comes due by itself, and is refused then.
 */
const OF_INACTIVE: Selection = {
  where: 'a.wake_at is not null',
  along: [
    { name: 'wake_at', type: 'timestamptz' },
    { name: 'webhook_id', type: 'text' },
  ],
  reason: `${REASON} where w.id = p.webhook_id`,
};

/**
 * The deliveries that instances keep for inactive endpoints, which the index of the clock does not have:
 * found by their ids among the newest deliveries.
 */
const KEPT_OF_INACTIVE: Selection = {
  where: isKeptSql(webhookDeliveryKind, 'a'),
  along: [],
  reason: `${REASON} join webhook_deliveries d on d.webhook_id = w.id where d.id = p.id`,
};

const someWait = (condition: string): string => `exists (select from webhook_deliveries d
  join webhook_endpoints w on w.id = d.webhook_id || '' where w.state <> 'active' and ${condition})`;

/**
 * True when some delivery waits for an inactive endpoint. Written so that no index of an endpoint's
 * deliveries serves it, and that it reads no deliveries where all endpoints are active.
 */
export const SOME_WAIT = `case when exists (select from webhook_endpoints where state <> 'active')
  then ${someWait('d.wake_at is not null')} or ${someWait(isKeptSql(webhookDeliveryKind, 'd'))} else false end`;

/** The tools that stopping needs. */
export interface StoppingDeps {
  readonly engine: SelectionTeller;
  readonly clock: Clock;
}

/**
 * Stops all waiting deliveries of inactive endpoints.
 * @throws UnavailableError
 */
export async function stopDeliveries({ engine, clock }: StoppingDeps, stop?: AbortSignal): Promise<void> {
  const eventFor = (reason: string) =>
    ({ type: 'endpoint.stopped', at: clock.now(), reason: reason as StopReason }) as const;
  // Kept deliveries first: they may be left to the clock meanwhile, and are then found there.
  await engine.tellWhere('webhookDelivery', KEPT_OF_INACTIVE, eventFor, stop);
  await engine.tellWhere('webhookDelivery', OF_INACTIVE, eventFor, stop);
}
