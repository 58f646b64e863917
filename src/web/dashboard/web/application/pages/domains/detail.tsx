import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Domain } from '../../../../../client/operations.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { Id } from '../../ui/display/copy-button.tsx';
import { dayText } from '../../ui/display/format.ts';
import { Time } from '../../ui/display/time.tsx';
import { Switches } from '../../ui/forms/switches.tsx';
import { icons } from '../../ui/icons.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import { Item, Menu } from '../../ui/overlays/menu.tsx';
import { toast } from '../../ui/overlays/toast.tsx';
import { Card, Facts, Page, PendingPage } from '../../ui/page.tsx';
import { Leaving } from './leaving.tsx';
import { Records } from './records.tsx';
import { Reports } from './reports.tsx';
import { areLookedUp, DOMAIN_STATES, PROVIDERS } from './states.ts';
import { Warming } from './warming.tsx';

const BACK = { to: '/domains', text: 'Domains' };

/** One domain: its records with what was found, and how it sends. */
export default function DomainDetail({ id }: { readonly id: string }) {
  const { may } = useViewer();
  const { data, error, refetch } = useRead('GET /domains/{id}', { path: { id } });
  const verify = useChange('POST /domains/{id}/verify');
  if (!data) return <PendingPage title="Domain" back={BACK} error={error} onRetry={() => void refetch()} />;
  const missing = data.dnsRecords.filter(({ required, status }) => required && status !== 'verified').length;
  const isLookedUp = areLookedUp(data);
  return (
    <Page
      title={data.name}
      back={BACK}
      about={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <Badge status={data.status} {...DOMAIN_STATES[data.status]} />
          {data.lastCheckedAt !== null && (
            <span>
              Checked <Time at={data.lastCheckedAt} />
            </span>
          )}
        </span>
      }
      actions={
        may('domains:write') && (
          <>
            <Button
              look={data.status === 'verified' ? 'plain' : 'main'}
              busy={verify.isPending}
              onClick={() => verify.mutate({ path: { id } }, 'DNS check started')}
            >
              Check now
            </Button>
            <More domain={data} />
          </>
        )
      }
    >
      <Card
        title="DNS records"
        about={
          !isLookedUp
            ? `Not needed while email of this domain is captured here. Set them at the DNS provider of ${data.name} before the service delivers email.`
            : missing === 0
              ? 'All required records are in place. Leave them: the service checks them regularly.'
              : `Set these records at the DNS provider of ${data.name}. ${missing} of the required records ${missing === 1 ? 'is' : 'are'} missing; new records take minutes, rarely hours.`
        }
      >
        <Records records={data.dnsRecords} isLookedUp={isLookedUp} />
      </Card>
      <Reports id={id} />
      <Tracking domain={data} />
      {may('domains:write') && <Leaving key={id} domain={data} />}
      <Warming key={`${id} warm-up`} domain={data} />
      <Card title="Details">
        <Facts
          facts={{
            Fallback: data.fallbacks.map((way) => PROVIDERS[way]).join(', then ') || null,
            'Return path': data.returnPath,
            'Tracking host': data.trackingDomain,
            'Signing keys': data.dkimKeys.map(({ selector, status }) => `${selector} (${status})`).join(', '),
            Added: dayText(data.createdAt),
            Verified: data.verifiedAt && dayText(data.verifiedAt),
            Id: <Id id={id} />,
          }}
        />
      </Card>
    </Page>
  );
}

const SWITCHES = {
  openTracking: [
    'Opens',
    'An invisible image reports that an email was displayed. Many mail programs load it automatically, so it proves little.',
  ],
  clickTracking: ['Clicks', 'Links lead through this service, which counts clicks.'],
} as const;

function Tracking({ domain }: { readonly domain: Domain }) {
  const { may } = useViewer();
  const update = useChange('PATCH /domains/{id}');
  return (
    <Card title="Tracking" about="Applies to email that is sent from now on.">
      <Switches
        values={domain}
        texts={SWITCHES}
        isReadOnly={!may('domains:write')}
        told={(label, value) => `${label}: ${value ? 'tracking on' : 'tracking off'}`}
        onChange={(name, value) => update.mutateAsync({ path: { id: domain.id }, body: { [name]: value } })}
      />
    </Card>
  );
}

function More({ domain: { id, name } }: { readonly domain: Domain }) {
  const [, navigate] = useLocation();
  const [asking, setAsking] = useState<'rotate' | 'remove' | null>(null);
  const rotate = useChange('POST /domains/{id}/rotate-dkim');
  const remove = useChange('DELETE /domains/{id}');
  const close = () => setAsking(null);
  return (
    <>
      <Menu
        label={`More actions for ${name}`}
        isPicture
        items={
          <>
            <Item onSelect={() => setAsking('rotate')}>{icons.Key} Rotate signing keys</Item>
            <Item danger onSelect={() => setAsking('remove')}>
              {icons.Block} Remove domain
            </Item>
          </>
        }
      >
        {icons.More}
      </Menu>
      {asking === 'rotate' && (
        <Confirm
          title="Rotate signing keys?"
          action="Rotate keys"
          onClose={close}
          onConfirm={async () => {
            await rotate.mutateAsync({ path: { id } });
            toast(
              'Keys created. Add the new records below; the old keys sign until the new records are found.',
            );
          }}
        >
          You get new DKIM records. The current keys keep signing until the new records are found in the DNS,
          so every email stays signed.
        </Confirm>
      )}
      {asking === 'remove' && (
        <Confirm
          title={`Remove ${name}?`}
          action="Remove domain"
          onClose={close}
          onConfirm={async () => {
            await remove.mutateAsync({ path: { id } });
            toast(`${name} removed`);
            navigate('/domains');
          }}
        >
          Email from this domain is refused from now on, and scheduled email fails. Its keys are destroyed: if
          you add the domain again, it needs new records.
        </Confirm>
      )}
    </>
  );
}
