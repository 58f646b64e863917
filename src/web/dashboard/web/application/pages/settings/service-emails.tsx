import type { Workspace } from '../../../../../client/operations.ts';
import { useChange } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Switches } from '../../ui/forms/switches.tsx';
import { Card } from '../../ui/page.tsx';

const KINDS = {
  domainLost: ['Domain problems', 'When a domain can no longer send.'],
  webhookDisabled: ['Disabled webhooks', 'When an endpoint is disabled after ten failures.'],
  campaignPaused: ['Paused campaigns', 'When bounces or complaints pause a campaign.'],
  invitation: [
    'Invitations',
    'Sends the link to the invited address. When off, you share the link yourself.',
  ],
} as const satisfies Record<keyof Workspace['serviceEmails'], readonly [string, string]>;

/** The notifications that the service itself sends. */
export function ServiceEmails({ workspace }: { readonly workspace: Workspace }) {
  const { may } = useViewer();
  const update = useChange('PATCH /workspace');
  return (
    <Card
      title="Notifications"
      about="Warnings go to owners and admins. They do not count towards the quota."
    >
      <Switches
        values={workspace.serviceEmails}
        texts={KINDS}
        isReadOnly={!may('workspace:write')}
        told={(label, value) => `${label}: ${value ? 'notifications on' : 'notifications off'}`}
        onChange={(name, value) => update.mutateAsync({ body: { serviceEmails: { [name]: value } } })}
      />
    </Card>
  );
}
