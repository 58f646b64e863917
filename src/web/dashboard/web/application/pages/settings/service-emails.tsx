import type { Workspace } from '../../api/operations.ts';
import { useChange } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Switches } from '../../ui/forms/switches.tsx';
import { Card } from '../../ui/page.tsx';

const KINDS = {
  domainLost: ['Lost domains', 'When a domain cannot send any more.'],
  webhookDisabled: ['Disabled webhooks', 'When an endpoint was switched off after ten failures.'],
  campaignPaused: ['Paused campaigns', 'When bounces or complaints have stopped a campaign.'],
  invitation: ['Invitations', 'The link, to whoever is invited. Without it you give it to them yourself.'],
} as const satisfies Record<keyof Workspace['serviceEmails'], readonly [string, string]>;

/** Which emails the service itself sends, about what needs somebody. */
export function ServiceEmails({ workspace }: { readonly workspace: Workspace }) {
  const { may } = useViewer();
  const update = useChange('PATCH /workspace');
  return (
    <Card
      title="Emails of this service"
      about="Warnings go to owners and admins; none of them counts against the quota."
    >
      <Switches
        values={workspace.serviceEmails}
        texts={KINDS}
        isReadOnly={!may('workspace:write')}
        told={(label, value) => `${label}: ${value ? 'you are told' : 'nobody is told any more'}.`}
        onChange={(name, value) => update.mutateAsync({ body: { serviceEmails: { [name]: value } } })}
      />
    </Card>
  );
}
