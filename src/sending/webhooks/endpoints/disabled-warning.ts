import { eq } from 'drizzle-orm';
import {
  type CountedFailure,
  FAILURES_TO_DISABLE,
  type WebhookEndpointContext,
  type WebhookEndpointState,
} from '../../../../machines/webhook-endpoint/machine.ts';
import type { Warning, WebhookAnswer } from '../../../accounts/service-emails.ts';
import { webhookEndpoints } from '../../../platform/db/schema/webhooks.ts';
import { webhookEndpointKind } from './kind.ts';

type DisabledContext = Pick<
  WebhookEndpointContext,
  'at' | 'url' | 'failureCount' | 'lastFailures' | 'disabled'
>;

/** The results of the failed attempts, each once with its number. */
function answersOf(failures: readonly CountedFailure[]): WebhookAnswer[] {
  const answers = new Map<string, WebhookAnswer>();
  for (const { httpStatus, error } of failures) {
    const name = error ?? `${httpStatus}`;
    answers.set(name, { httpStatus, error, count: (answers.get(name)?.count ?? 0) + 1 });
  }
  return [...answers.values()];
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
      kind: 'webhookDisabled',
      workspaceId,
      webhookId: id,
      livemode: row.livemode,
      url,
      failures,
      answers,
      disabledAt: disabled?.at ?? at,
    };
  },
};
