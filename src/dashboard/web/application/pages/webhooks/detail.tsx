import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Webhook, WebhookWithSecret } from '../../api/operations.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Id } from '../../ui/copy-button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Form } from '../../ui/form.tsx';
import { count, dayText } from '../../ui/format.ts';
import { icons } from '../../ui/icons.tsx';
import { Item, Menu } from '../../ui/menu.tsx';
import { Card, Facts, Page, PendingPage } from '../../ui/page.tsx';
import { toast, toastProblem } from '../../ui/toast.tsx';
import { Deliveries } from './deliveries.tsx';
import { EventTicks, tickedEvents } from './events.tsx';
import { Secret } from './new-webhook.tsx';

const BACK = { to: '/webhooks', text: 'Webhooks' };

/** One endpoint: what it hears of, and what became of each delivery. */
export default function WebhookDetail({ id }: { readonly id: string }) {
  const { may } = useViewer();
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
      {data.status === 'disabled' && (
        <p data-color="waiting" className="card border-l-4 border-l-(--state) p-4">
          Nothing is posted to it now. What happens meanwhile waits, and is posted once the endpoint is
          enabled again.
        </p>
      )}
      <Deliveries webhook={data} />
      <Card title="Details">
        <Facts
          facts={{
            'Hears of': data.events.join(', '),
            Secret: <span className="font-mono text-caption">{data.secretPrefix}</span>,
            'Failures in a row': count(data.failureCount),
            Added: dayText(data.createdAt),
            Id: <Id id={id} />,
          }}
        />
      </Card>
    </Page>
  );
}

function Actions({ webhook }: { readonly webhook: Webhook }) {
  const path = { id: webhook.id };
  const [, navigate] = useLocation();
  const [opened, setOpened] = useState<'edit' | 'rotate' | 'remove' | null>(null);
  const [secret, setSecret] = useState<WebhookWithSecret | null>(null);
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
        <Button
          busy={test.isPending}
          onClick={() =>
            test.mutate(
              { path },
              { onError: toastProblem, onSuccess: () => toast('A test event is on its way.') },
            )
          }
        >
          Send a test event
        </Button>
      )}
      <Button onClick={() => setOpened('edit')}>Edit</Button>
      <Menu
        label="More for this endpoint"
        isPicture
        items={
          <>
            <Item onSelect={() => void turn(isActive ? 'disabled' : 'active').catch(toastProblem)}>
              {icons.Block} {isActive ? 'Disable it' : 'Enable it'}
            </Item>
            <Item onSelect={() => setOpened('rotate')}>{icons.Key} New secret</Item>
            <Item danger onSelect={() => setOpened('remove')}>
              {icons.Block} Remove it
            </Item>
          </>
        }
      >
        {icons.More}
      </Menu>
      {opened === 'edit' && (
        <Dialog title="Edit the endpoint" onClose={close} width="max-w-xl">
          <Form
            action="Save"
            aside={<Button onClick={close}>Cancel</Button>}
            onSend={async ({ url = '', ...fields }) => {
              await update.mutateAsync({ path, body: { url: url.trim(), events: tickedEvents(fields) } });
              close();
              toast('The endpoint is saved.');
            }}
          >
            <Field label="Address" name="url" type="url" defaultValue={webhook.url} />
            <EventTicks ticked={webhook.events} />
          </Form>
        </Dialog>
      )}
      {opened === 'rotate' && (
        <Confirm
          title="Make a new secret?"
          action="Make a new secret"
          onClose={close}
          onConfirm={async () => setSecret(await rotate.mutateAsync({ path }))}
        >
          For 24 hours both secrets sign, so that your program has time to change.
        </Confirm>
      )}
      {secret && <Secret webhook={secret} onClose={() => setSecret(null)} />}
      {opened === 'remove' && (
        <Confirm
          title="Remove this endpoint?"
          action="Remove the endpoint"
          keep="Keep it"
          onClose={close}
          onConfirm={async () => {
            await remove.mutateAsync({ path });
            toast('The endpoint is removed.');
            navigate('/webhooks');
          }}
        >
          Its deliveries and their history go with it. Whoever listens there hears nothing more.
        </Confirm>
      )}
    </>
  );
}
