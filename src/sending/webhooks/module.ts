import type { Module } from '../../http/module.ts';
import type { WebhooksApi } from './api.ts';
import type { WebhookCommands } from './commands.ts';
import { auditDeliveries } from './deliveries/audit-deliveries.ts';
import { clockedDeliveries } from './deliveries/clocked-deliveries.ts';
import { webhookPruner } from './deliveries/delivery-pruner.ts';
import { deliveryStopper } from './deliveries/delivery-stopper.ts';
import { clockedFanOut, fanOut } from './deliveries/fan-out.ts';
import { webhookDeliveryKind } from './deliveries/kind.ts';
import { webhookEndpointKind } from './endpoints/kind.ts';
import { hostChecks } from './endpoints/target.ts';
import { isLocalOnly } from './http/address-guard.ts';
import { openWebhooks } from './open.ts';
import type { DeliveryLister } from './queries.ts';
import { webhookRoutes } from './routes.ts';

/** Webhook endpoints, and the deliveries to them. */
export const webhooksModule: Module<
  WebhookCommands & DeliveryLister,
  Required<Pick<WebhookCommands, 'testClocks'>>,
  WebhooksApi
> = {
  name: 'webhooks',
  tags: [
    {
      segment: 'webhooks',
      name: 'Webhooks',
      description: 'Signed POSTs of events to your own server.',
    },
  ],
  kinds: [
    {
      kind: webhookEndpointKind,
      permission: 'webhooks:read',
      resource: 'webhooks',
      label: { title: `a.context ->> 'url'`, facts: `array[array_to_string(a.events, ', ')]` },
    },
    {
      kind: webhookDeliveryKind,
      permission: 'webhooks:read',
      resource: 'webhooks',
      audit: auditDeliveries,
      label: {
        title: 'a.event_type',
        facts: `array[(select w.context ->> 'url' from webhook_endpoints w where w.id = a.webhook_id)]`,
      },
    },
  ],
  children: [
    { of: 'email', child: fanOut },
    { of: 'email', child: clockedFanOut },
  ],
  routes: webhookRoutes,
  open({ database, shards, reads, clock, sealer, config, ca, tracing }) {
    const policy = { allowPrivate: isLocalOnly(config), allowCidrs: config.webhookAllowCidrs ?? [] };
    const { kinds, targetRules, stopping, posting, prober, performer } = openWebhooks({
      database,
      clock,
      sealer,
      policy,
      nameServers: config.dnsServers,
      ca,
      tracing,
      isOnNodes: shards !== null,
    });
    return {
      registrations: kinds,
      connect({ engine }, { testClocks }) {
        return {
          api: {
            posting,
            prober,
            hosts: hostChecks(targetRules),
            clockedDeliveries: clockedDeliveries({ database, engine, performer }),
          },
          deps: {
            database,
            testClocks,
            reads,
            engine,
            sealer,
            targetRules,
            stopping,
            simulatorDomain: config.simulatorDomain,
          },
          duties: [webhookPruner({ database, clock, config }), deliveryStopper({ engine, clock })],
        };
      },
    };
  },
};
