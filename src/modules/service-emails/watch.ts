import type { DomainState } from '../../../machines/domain.ts';
import { FAILURES_TO_DISABLE, type WebhookEndpointContext } from '../../../machines/webhook-endpoint.ts';
import type { Draft } from '../../engine/draft.ts';
import { stateOf } from '../../engine/kind.ts';
import type { ServiceEmail } from './commands.ts';

/** Whether a domain may send in that state. */
const SENDS: Readonly<Record<DomainState, boolean>> = {
  pending: false,
  verified: true,
  temporaryFailure: true,
  failed: false,
  removed: false,
};

const stateBefore = ({ before }: Draft): string | null => (before ? stateOf(before.snapshot) : null);

/** What a commit of an actor is worth a warning for; null for nearly all. `nameOf` answers the name of a domain. */
export async function warningOf(
  kind: string,
  draft: Draft,
  nameOf: (domainId: string) => Promise<string | null>,
): Promise<ServiceEmail | null> {
  const { id, workspaceId, snapshot } = draft.after;
  const before = stateBefore(draft);
  const after = stateOf(snapshot);
  if (kind === 'webhookEndpoint' && before === 'active' && after === 'disabled') {
    const { failureCount, url } = snapshot.context as WebhookEndpointContext;
    // Fewer failures mean that somebody has switched it off.
    if (failureCount < FAILURES_TO_DISABLE) return null;
    return { kind: 'webhookDisabled', workspaceId, url, failures: failureCount };
  }
  if (kind === 'domain' && before !== null && SENDS[before as DomainState] && after === 'failed') {
    const domain = await nameOf(id);
    return domain === null ? null : { kind: 'domainLost', workspaceId, domain };
  }
  return null;
}
