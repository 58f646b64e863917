import type { WebhookDeliveryContext } from '../../../../machines/webhook-delivery-context.ts';
import type { Database } from '../../../db/database.ts';
import { type Clocked, clockedActors, type OwnClock } from '../../../engine/clocked.ts';
import type { Engine } from '../../../engine/engine.ts';
import { webhookDeliveryKind } from './kind.ts';
import type { WebhookPerformer } from './performer.ts';

const IDS = `select id from webhook_deliveries where test_clock_id = $1 and workspace_id = $2 and wake_at is not null order by id`;

/** The deliveries that live by test clocks, as the clocks move them. What they post really is posted. */
export function clockedDeliveries(deps: {
  readonly database: Database;
  readonly engine: Pick<Engine, 'tell' | 'fireTimers'>;
  readonly performer: Pick<WebhookPerformer, 'attempt'>;
}): Clocked {
  const { database, engine, performer } = deps;
  const ids =
    ({ id, workspaceId }: OwnClock) =>
    async () =>
      (await database.query<{ id: string }>(IDS, [id, workspaceId])).map((row) => row.id);
  const attempt = async (id: string, { attempt: number, at }: WebhookDeliveryContext): Promise<void> => {
    const order = { id, attempt: number, leaseEnd: Number.POSITIVE_INFINITY, standsAt: at };
    for (const event of await performer.attempt(order)) await engine.tell('webhookDelivery', id, event);
  };
  return clockedActors(deps, {
    ...{ kind: webhookDeliveryKind, name: 'webhookDelivery', ids },
    isUnderWay: ({ state }) => state === 'posting',
    perform: ({ id, context }) => attempt(id, context as WebhookDeliveryContext),
    // Its event was recorded: it is posted once more, and what fails then is not tried again.
    async end({ id, state, context }, at) {
      const own = context as WebhookDeliveryContext;
      if (state === 'posting') await attempt(id, own);
      const event = { type: 'endpoint.stopped', at: at ?? own.at, reason: 'test_clock_deleted' } as const;
      await engine.tell('webhookDelivery', id, event);
    },
  });
}
