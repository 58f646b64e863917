import {
  FAILURES_TO_DISABLE,
  type WebhookEndpointContext,
  type WebhookEndpointState,
} from '../../../../machines/webhook-endpoint.ts';
import type { Warning } from '../../service-emails/commands.ts';
import { webhookEndpointKind } from './kind.ts';

type Told = Pick<WebhookEndpointContext, 'url' | 'failureCount'>;
const READ = 'select context from webhook_endpoints where id = $1';

/** An endpoint that failures have switched off. Fewer failures mean that somebody has done it. */
export const disabledWarning: Warning = {
  kind: webhookEndpointKind,
  from: ['active' satisfies WebhookEndpointState],
  to: 'disabled' satisfies WebhookEndpointState,
  where: `(a.context ->> 'failureCount')::integer >= ${FAILURES_TO_DISABLE}`,
  async email(database, { id, workspaceId }) {
    const [row] = await database.query<{ context: Told }>(READ, [id]);
    if (!row) return null;
    const { url, failureCount: failures } = row.context;
    return { kind: 'webhookDisabled', workspaceId, url, failures };
  },
};
