import { and, eq, isNotNull } from 'drizzle-orm';
import type { WebhookDeliveryContext } from '../../../../machines/webhook-delivery/context.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { ActorRow } from '../../../engine/machine/storage.ts';
import { type ClockedActors, clockedActors, type OwnClock } from '../../../engine/runtime/clocked.ts';
import { type Database, PREPARED } from '../../../platform/db/database.ts';
import { webhookDeliveries } from '../../../platform/db/schema/webhooks.ts';
import { webhookDeliveryKind } from './kind.ts';
import type { WebhookPerformer } from './performer.ts';

/** The deliveries on test clocks, as the clocks move them. Their posts are real. */
export function clockedDeliveries(deps: {
  readonly database: Database;
  readonly engine: Pick<Engine, 'tell' | 'fireTimers'>;
  readonly performer: Pick<WebhookPerformer, 'attempt'>;
}): ClockedActors {
  const { database, engine, performer } = deps;
  const ids =
    ({ id, workspaceId }: OwnClock) =>
    async () => {
      const rows = await database.read(
        (orm) =>
          orm
            .select({ id: webhookDeliveries.id })
            .from(webhookDeliveries)
            .where(
              and(
                eq(webhookDeliveries.testClockId, id),
                eq(webhookDeliveries.workspaceId, workspaceId),
                isNotNull(webhookDeliveries.wakeAt),
              ),
            )
            .orderBy(webhookDeliveries.id),
        PREPARED,
      );
      return rows.map((row) => row.id);
    };
  const attempt = async (
    { id, workspace_id: workspaceId }: ActorRow,
    { attempt: number, at }: WebhookDeliveryContext,
  ): Promise<void> => {
    const order = {
      id,
      workspaceId,
      subject: null,
      attempt: number,
      leaseEnd: Number.POSITIVE_INFINITY,
      standsAt: at,
    };
    for (const event of await performer.attempt(order)) await engine.tell('webhookDelivery', id, event);
  };
  return clockedActors(deps, {
    kind: webhookDeliveryKind,
    name: 'webhookDelivery',
    ids,
    isUnderWay: ({ state }) => state === 'posting',
    perform: (row) => attempt(row, row.context as WebhookDeliveryContext),
    // The event was recorded, so it is posted once more; a failure then is not retried.
    async end(row, at) {
      const { id, state } = row;
      const own = row.context as WebhookDeliveryContext;
      if (state === 'posting') await attempt(row, own);
      const event = { type: 'endpoint.stopped', at: at ?? own.at, reason: 'test_clock_deleted' } as const;
      await engine.tell('webhookDelivery', id, event);
    },
  });
}
