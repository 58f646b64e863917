import { lazy, Suspense, useState } from 'react';
import { useLocation } from 'wouter';
import type { Webhook } from '../../../../../client/operations.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { Id } from '../../ui/display/copy-button.tsx';
import { count, dayText } from '../../ui/display/format.ts';
import { icons } from '../../ui/icons.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import { Item, Menu } from '../../ui/overlays/menu.tsx';
import { toast, toastProblem } from '../../ui/overlays/toast.tsx';
import { Card, Facts, Page, PendingPage } from '../../ui/page.tsx';
import { Deliveries } from './deliveries.tsx';
import { answersText, Disabled } from './disabled.tsx';
import { EditWebhook } from './edit.tsx';
import { Replay } from './replay.tsx';
import { Secret } from './secret.tsx';

const Verify = lazy(() => import('./verify.tsx'));

const BACK = { to: '/webhooks', text: 'Webhooks' };

/** One endpoint: its events, and the outcome of each delivery. */
export default function WebhookDetail({ id }: { readonly id: string }) {
  const { may } = useViewer();
  const [isReplaying, setReplaying] = useState(false);
  const { data, error, refetch } = useRead('GET /webhooks/{id}', { path: { id } }, { every: 2_000 });
  if (!data)
    return <PendingPage title="Webhook endpoint" back={BACK} error={error} onRetry={() => void refetch()} />;
  return (
    <Page
      title={data.url}
      heading={<span className="break-all">{data.url}</span>}
      back={BACK}
      about={<Badge status={data.status} />}
      actions={may('webhooks:write') && <Actions webhook={data} />}
    >
      {data.status === 'disabled' && <Disabled webhook={data} onReplay={() => setReplaying(true)} />}
      {/* Here, since the panel goes as soon as the endpoint is enabled. */}
      {isReplaying && <Replay webhook={data} onClose={() => setReplaying(false)} />}
      <Deliveries webhook={data} />
      <Card title="Details">
        <Facts
          facts={{
            Events: data.events.join(', '),
            Secret: <span className="font-mono text-caption">{data.secretPrefix}</span>,
            'Failures in a row': failuresText(data),
            Added: dayText(data.createdAt),
            Id: <Id id={id} />,
          }}
        />
      </Card>
    </Page>
  );
}

const failuresText = (webhook: Webhook): string =>
  webhook.lastFailures.length === 0
    ? count(webhook.failureCount)
    : `${count(webhook.failureCount)}: ${answersText(webhook)}`;

function Actions({ webhook }: { readonly webhook: Webhook }) {
  const path = { id: webhook.id };
  const [, navigate] = useLocation();
  const [opened, setOpened] = useState<'edit' | 'replay' | 'verify' | 'rotate' | 'remove' | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const test = useChange('POST /webhooks/{id}/test');
  const update = useChange('PATCH /webhooks/{id}');
  const rotate = useChange('POST /webhooks/{id}/rotate-secret');
  const remove = useChange('DELETE /webhooks/{id}');
  const close = () => setOpened(null);
  const isActive = webhook.status === 'active';
  const turn = async (status: Webhook['status']) => {
    await update.mutateAsync({ path, body: { status } });
    const back = status === 'active' ? 'disabled' : 'active';
    toast(`The endpoint is ${status === 'active' ? 'enabled' : 'disabled'}.`, () =>
      update.mutateAsync({ path, body: { status: back } }),
    );
  };
  return (
    <>
      {isActive && (
        <Button busy={test.isPending} onClick={() => test.mutate({ path }, 'Test event queued')}>
          Send test event
        </Button>
      )}
      <Button onClick={() => setOpened('edit')}>Edit endpoint</Button>
      <Menu
        label="More actions for this endpoint"
        isPicture
        items={
          <>
            <Item onSelect={() => setOpened('replay')}>{icons.Hook} Replay events</Item>
            <Item onSelect={() => setOpened('verify')}>{icons.Lock} Verify signatures</Item>
            <Item onSelect={() => void turn(isActive ? 'disabled' : 'active').catch(toastProblem)}>
              {icons.Block} {isActive ? 'Disable endpoint' : 'Enable endpoint'}
            </Item>
            <Item onSelect={() => setOpened('rotate')}>{icons.Key} Rotate secret</Item>
            <Item danger onSelect={() => setOpened('remove')}>
              {icons.Block} Remove endpoint
            </Item>
          </>
        }
      >
        {icons.More}
      </Menu>
      {opened === 'edit' && <EditWebhook webhook={webhook} onClose={close} />}
      {opened === 'replay' && <Replay webhook={webhook} onClose={close} />}
      {opened === 'verify' && (
        <Suspense>
          <Verify onClose={close} />
        </Suspense>
      )}
      {opened === 'rotate' && (
        <Confirm
          title="Rotate secret?"
          action="Rotate secret"
          onClose={close}
          onConfirm={async () => setSecret((await rotate.mutateAsync({ path })).secret)}
        >
          The current secret becomes invalid at once: later posts, retries included, are signed with the new
          secret. A disabled endpoint is enabled.
        </Confirm>
      )}
      {secret !== null && <Secret title="Endpoint secret" secret={secret} onClose={() => setSecret(null)} />}
      {opened === 'remove' && (
        <Confirm
          title="Remove this endpoint?"
          action="Remove endpoint"
          onClose={close}
          onConfirm={async () => {
            await remove.mutateAsync({ path });
            toast('Endpoint removed');
            navigate('/webhooks');
          }}
        >
          Its delivery history is deleted. The URL gets no further events.
        </Confirm>
      )}
    </>
  );
}
