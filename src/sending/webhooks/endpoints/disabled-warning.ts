import { eq } from 'drizzle-orm';
import {
  type CountedFailure,
  FAILURES_TO_DISABLE,
  type WebhookEndpointContext,
  type WebhookEndpointState,
} from '../../../../machines/webhook-endpoint/machine.ts';
import type { Warning } from '../../../accounts/service-emails.ts';
import { webhookEndpoints } from '../../../platform/db/schema/webhooks.ts';
import { webhookEndpointKind } from './kind.ts';

type DisabledContext = Pick<
  WebhookEndpointContext,
  'at' | 'url' | 'failureCount' | 'lastFailures' | 'disabled'
>;

/** The results of the failed attempts, each once with its number: "timeout (7), HTTP 500 (3)". */
function answersOf(failures: readonly CountedFailure[]): string {
  const counts = new Map<string, number>();
  for (const { httpStatus, error } of failures) {
    const answer = error === null ? `HTTP ${httpStatus}` : error.replaceAll('_', ' ');
    counts.set(answer, (counts.get(answer) ?? 0) + 1);
  }
  return [...counts].map(([answer, count]) => `${answer} (${count})`).join(', ');
}

/** An endpoint that failures have disabled. With fewer failures a client has disabled it. */
export const disabledWarning: Warning = {
  kind: webhookEndpointKind,
  from: ['active' satisfies WebhookEndpointState],
  to: 'disabled' satisfies WebhookEndpointState,
  where: `(a.context ->> 'failureCount')::integer >= ${FAILURES_TO_DISABLE}`,
  async email(database, { id, workspaceId }) {
    const [row] = await database.read((orm) =>
      orm
        .select({ context: webhookEndpoints.context, livemode: webhookEndpoints.livemode })
        .from(webhookEndpoints)
        .where(eq(webhookEndpoints.id, id)),
    );
    if (!row) return null;
    const context = row.context as DisabledContext;
    const { at, url, failureCount: failures, lastFailures = [], disabled } = context;
    const answers = answersOf(lastFailures);
    return {
      ...{
        kind: 'webhookDisabled',
        workspaceId,
        webhookId: id,
        livemode: row.livemode,
        url,
        failures,
        answers,
      },
      disabledAt: disabled?.at ?? at,
    };
  },
};
