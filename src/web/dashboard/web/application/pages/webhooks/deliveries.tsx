import { useState } from 'react';
import { Link } from 'wouter';
import type { Webhook, WebhookDelivery } from '../../../../../client/operations.ts';
import { useChange, useDownload, useList, useRead } from '../../api/queries.ts';
import { useMember, useViewer } from '../../api/viewer.tsx';
import { Button, Download } from '../../ui/button.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { Copyable } from '../../ui/display/copyable.tsx';
import type { Tone } from '../../ui/display/event-looks.ts';
import { count, momentText, wordsOf } from '../../ui/display/format.ts';
import { Empty, Skeleton } from '../../ui/display/states.tsx';
import { icons } from '../../ui/icons.tsx';
import { countColumn, timeColumn } from '../../ui/lists/column-kinds.tsx';
import { useOneChoice } from '../../ui/lists/filters.tsx';
import type { Column } from '../../ui/lists/list-types.ts';
import { Lead, RowActions, Table } from '../../ui/lists/table.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toast.tsx';
import { Facts } from '../../ui/page.tsx';

const TONES = { success: 'good', failed: 'bad', scheduled: 'waiting' } as const satisfies Record<
  WebhookDelivery['status'],
  Tone
>;
const answered = ({ httpStatus, error }: WebhookDelivery): string =>
  httpStatus === 0 ? wordsOf(error ?? 'no answer yet') : `HTTP ${httpStatus}`;

/** True for an event that was never posted: the API calls it failed, and its `error` says why. */
const isSkipped = ({ status, attemptedAt }: WebhookDelivery): boolean =>
  status === 'failed' && attemptedAt === null;

const DeliveryBadge = ({ delivery }: { readonly delivery: WebhookDelivery }) =>
  isSkipped(delivery) ? (
    <Badge status="skipped" tone="waiting" />
  ) : (
    <Badge status={delivery.status} tone={TONES[delivery.status]} />
  );

/** The choices of the filter by status, each with its query. */
const SHOWN = {
  success: { text: 'Success', query: { status: 'success' } },
  failed: { text: 'Failed', query: { status: 'failed', attempted: true } },
  skipped: { text: 'Skipped', query: { status: 'failed', attempted: false } },
  scheduled: { text: 'Scheduled', query: { status: 'scheduled' } },
} as const;
const OPTIONS = {
  success: SHOWN.success.text,
  failed: SHOWN.failed.text,
  skipped: SHOWN.skipped.text,
  scheduled: SHOWN.scheduled.text,
} as const satisfies Record<keyof typeof SHOWN, string>;

/** The deliveries of an endpoint, the latest first; each opens with its request and its answer. */
export function Deliveries({ webhook }: { readonly webhook: Webhook }) {
  const [opened, setOpened] = useState<WebhookDelivery | null>(null);
  const { chosen, isSet, bar } = useOneChoice('status', 'Status', OPTIONS);
  const asked = { path: { id: webhook.id }, query: chosen === undefined ? {} : SHOWN[chosen].query };
  const { environment, session } = useMember();
  const list = useList('GET /webhooks/{id}/deliveries', asked);
  const file = useDownload('GET /webhooks/{id}/deliveries/export', asked);
  const columns: readonly [Column<WebhookDelivery>, ...Column<WebhookDelivery>[]] = [
    { name: 'Event', cell: (each) => <Lead title={each.eventType} sub={answered(each)} /> },
    countColumn('Attempts', ({ retryCount, attemptedAt }) => (attemptedAt === null ? 0 : retryCount + 1), {
      from: 'md',
    }),
    timeColumn('Attempted', 'attemptedAt', { from: 'sm', isRight: false, none: 'not yet' }),
    { name: 'Status', width: 'w-32', cell: (each) => <DeliveryBadge delivery={each} /> },
    {
      name: 'Content',
      width: 'w-24',
      isRight: true,
      cell: (each) => (
        <RowActions>
          <Button
            look="quiet"
            aria-label={`Show ${each.eventType} ${each.id}`}
            onClick={() => setOpened(each)}
          >
            Show
          </Button>
        </RowActions>
      ),
    },
  ];
  return (
    <section aria-label="Deliveries" className="grid gap-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 className="text-heading font-semibold">Deliveries</h2>
        <span className="flex flex-wrap items-center gap-2">
          {bar}
          <Download href={file} name="deliveries.csv">
            Export CSV
          </Download>
        </span>
      </div>
      <Table
        label="Deliveries"
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          isSet ? (
            <Empty title="No delivery has this status" icon={icons.Hook}>
              <p>Choose another status, or clear the filter.</p>
            </Empty>
          ) : (
            <Empty title="No deliveries yet" icon={icons.Hook}>
              <p>
                The next matching event is posted within seconds. A test event is posted at once. To see a
                bounce, {environment === 'live' && 'add an endpoint in the test environment and '}send an
                email to <code className="break-all">{`bounced@${session.simulatorDomain}`}</code>
                {environment === 'live' && ' there'}.
              </p>
            </Empty>
          )
        }
      />
      {opened && <Delivery delivery={opened} onClose={() => setOpened(null)} />}
    </section>
  );
}

function Delivery({
  delivery,
  onClose,
}: {
  readonly delivery: WebhookDelivery;
  readonly onClose: () => void;
}) {
  const { may } = useViewer();
  const { id, webhookId, emailId, eventId, eventType, status } = delivery;
  const events = useRead(
    'GET /emails/{id}/events',
    { path: { id: emailId } },
    { enabled: may('emails:read') },
  );
  const redeliver = useChange('POST /webhooks/{id}/deliveries/{deliveryId}/redeliver');
  const event = events.data?.find((each) => each.id === eventId);
  return (
    <Dialog title={`Delivery of “${eventType}”`} onClose={onClose} width="max-w-2xl">
      <Facts
        facts={{
          Status: <DeliveryBadge delivery={delivery} />,
          Answer: isSkipped(delivery) ? null : answered(delivery),
          'No further attempt': delivery.stopReason && wordsOf(delivery.stopReason),
          Error: delivery.httpStatus === 0 || delivery.error === null ? null : wordsOf(delivery.error),
          Attempted: delivery.attemptedAt && momentText(delivery.attemptedAt),
          Took: delivery.durationMs === null ? null : `${count(delivery.durationMs)} ms`,
          'Next attempt': delivery.nextAttemptAt && momentText(delivery.nextAttemptAt),
          Email: event && (
            <Link href={`/emails/${emailId}`} className="link font-mono text-caption break-all">
              {emailId}
            </Link>
          ),
        }}
      />
      {event ? (
        <Copyable label="Event content" text={JSON.stringify(event, null, 2)} />
      ) : events.isLoading ? (
        <Skeleton className="h-32 w-full" />
      ) : (
        <p className="text-dim">
          A test event belongs to no email. The content of other events is kept as long as their email.
        </p>
      )}
      {delivery.responseBody !== '' && (
        <Copyable label="Answer of the endpoint" text={delivery.responseBody} />
      )}
      {may('webhooks:write') && status !== 'scheduled' && (
        <Button
          look="main"
          busy={redeliver.isPending}
          onClick={() =>
            redeliver.mutate({ path: { id: webhookId, deliveryId: id } }, () => {
              toast('Delivery scheduled again');
              onClose();
            })
          }
        >
          Post again
        </Button>
      )}
    </Dialog>
  );
}
