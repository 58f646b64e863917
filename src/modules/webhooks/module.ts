import { defineModule } from '../module.ts';
import { isAmongItself } from './address-guard.ts';
import { auditDeliveries } from './audit.ts';
import type { WebhookCommands } from './commands.ts';
import { webhookDeliveryKind } from './delivery-kind.ts';
import { deliveryStopper } from './delivery-stopper.ts';
import { webhookEndpointKind } from './endpoint-kind.ts';
import { fanOut } from './fan-out.ts';
import { openWebhooks } from './open.ts';
import { webhookRoutes } from './routes.ts';
import { webhookPruner } from './webhook-pruner.ts';

/** Webhook endpoints, and the deliveries to them. */
export const webhooksModule = defineModule<WebhookCommands>({
  name: 'webhooks',
  tags: [
    {
      segment: 'webhooks',
      name: 'Webhooks',
      description: 'Have events posted to your own server, signed.',
    },
  ],
  kinds: [
    { kind: webhookEndpointKind, permission: 'webhooks:read' },
    { kind: webhookDeliveryKind, permission: 'webhooks:read', audit: auditDeliveries },
  ],
  children: [{ of: 'email', child: fanOut }],
  routes: webhookRoutes,
  open({ database, clock, sealer, config, ca }) {
    const policy = { allowPrivate: isAmongItself(config), allowCidrs: config.webhookAllowCidrs ?? [] };
    const { kinds, targetRules, stopping } = openWebhooks({ database, clock, sealer, policy, ca });
    return {
      registrations: kinds,
      connect: ({ engine }) => ({
        deps: { database, engine, sealer, targetRules, stopping, simulatorDomain: config.simulatorDomain },
        duties: [webhookPruner({ database, clock }), deliveryStopper({ database, clock })],
      }),
    };
  },
});
