import { useState } from 'react';
import type { Webhook } from '../../../../../client/operations.ts';
import { useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { Empty } from '../../ui/display/states.tsx';
import { icons } from '../../ui/icons.tsx';
import { countColumn } from '../../ui/lists/column-kinds.tsx';
import type { Column } from '../../ui/lists/list-types.ts';
import { Lead, Table } from '../../ui/lists/table.tsx';
import { listAndItems, Page } from '../../ui/page.tsx';
import { NewWebhook } from './new-webhook.tsx';

const COLUMNS: readonly [Column<Webhook>, ...Column<Webhook>[]] = [
  {
    name: 'URL',
    cell: ({ url, events }) => (
      <Lead title={url} sub={<span className="md:hidden">{events.join(', ')}</span>} />
    ),
  },
  { name: 'Events', from: 'md', cell: ({ events }) => events.join(', ') },
  countColumn('Failures in a row', ({ failureCount }) => failureCount, { from: 'lg', width: 'w-36' }),
  { name: 'Status', width: 'w-32', isRight: true, cell: ({ status }) => <Badge status={status} /> },
];

function WebhookList() {
  const { environment, may } = useViewer();
  const [isAdding, setAdding] = useState(false);
  const { data: items, error, refetch } = useRead('GET /webhooks', {}, { every: 2_000 });
  const add = may('webhooks:write') && (
    <Button look="main" data-create onClick={() => setAdding(true)}>
      {icons.Plus} Add endpoint
    </Button>
  );
  return (
    <Page
      title="Webhooks"
      about="The service posts email events to these URLs, signed, and retries failed posts."
      actions={add}
    >
      <Table
        label="Webhook endpoints"
        list={{ items, error, refetch }}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        linkOf={({ id }) => `/webhooks/${id}`}
        empty={
          <Empty title={`No ${environment} endpoints yet`} icon={icons.Hook} action={add}>
            <p>
              An endpoint gets deliveries, bounces, opens and other events within seconds. On your own
              machine, <code>posthorn listen --forward-to http://localhost:8080</code> needs no endpoint.
            </p>
          </Empty>
        }
      />
      {isAdding && <NewWebhook onClose={() => setAdding(false)} />}
    </Page>
  );
}

/** The endpoints that events are posted to, and one of them. */
export default listAndItems('/webhooks', WebhookList, () => import('./detail.tsx'));
