import { useState } from 'react';
import { type ItemOf, useList } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { Empty } from '../../ui/display/states.tsx';
import { Time } from '../../ui/display/time.tsx';
import { icons } from '../../ui/icons.tsx';
import { CREATED, countColumn } from '../../ui/lists/column-kinds.tsx';
import { useOneChoice } from '../../ui/lists/filters.tsx';
import type { Column } from '../../ui/lists/list-types.ts';
import { useSort } from '../../ui/lists/sort.ts';
import { Lead, Table } from '../../ui/lists/table.tsx';
import { listAndItems, Page, ToLive } from '../../ui/page.tsx';
import { useAudienceNames } from '../names.ts';
import { NewCampaign } from './new-campaign.tsx';
import { STATUSES } from './words.ts';

type Item = ItemOf<'GET /campaigns'>;

const COLUMNS: readonly [Column<Item>, ...Column<Item>[]] = [
  {
    name: 'Campaign',
    cell: ({ name, subject }) => <Lead title={name} sub={subject ?? 'subject of its template'} />,
  },
  {
    name: 'Status',
    width: 'w-36',
    cell: ({ status }) => <Badge status={status}>{STATUSES[status]}</Badge>,
  },
  countColumn('Recipients', ({ recipientCount }) => recipientCount, { from: 'md' }),
  {
    name: 'When',
    width: 'w-36',
    from: 'sm',
    isRight: true,
    cell: ({ startedAt, scheduledAt, createdAt }) => <Time at={startedAt ?? scheduledAt ?? createdAt} />,
  },
  CREATED,
];

function CampaignList() {
  const { environment, may } = useViewer();
  const { chosen: status, isSet, bar } = useOneChoice('status', 'Status', STATUSES);
  const [isMaking, setMaking] = useState(false);
  const audiences = useAudienceNames();
  const { query: order, sorting } = useSort();
  const list = useList('GET /campaigns', { query: { ...(status && { status }), ...order } });
  const hasAudience = Object.keys(audiences).length > 0;
  const create = may('campaigns:write') && hasAudience && (
    <Button look="main" data-create onClick={() => setMaking(true)}>
      {icons.Plus} New campaign
    </Button>
  );
  return (
    <Page
      title="Campaigns"
      about={
        environment === 'live' ? (
          'One message to every contact of an audience. Each contact gets it once.'
        ) : (
          <>
            Try campaigns here. Only <ToLive to="/campaigns">those of live</ToLive> are sent, to the contacts
            of live.
          </>
        )
      }
      actions={create}
    >
      {bar}
      <Table
        label="Campaigns"
        list={list}
        columns={COLUMNS}
        nouns={['campaign', 'campaigns']}
        sorting={sorting}
        keyOf={({ id }) => id}
        linkOf={({ id }) => `/campaigns/${id}`}
        empty={
          isSet ? (
            <Empty title="No campaigns with this status" icon={icons.Megaphone}>
              <p>Clear the filter to see the others.</p>
            </Empty>
          ) : (
            <Empty
              title="No campaigns yet"
              icon={icons.Megaphone}
              action={
                hasAudience
                  ? create
                  : may('contacts:write') && <ButtonLink to="/audiences/new">Create audience</ButtonLink>
              }
            >
              <p>
                A campaign takes the contacts of an audience when it starts and skips those who unsubscribed.
                You can pause it at any time; it then resumes with the contacts that it has not reached.
              </p>
              {!hasAudience && <p>A campaign needs an audience. Create one first.</p>}
            </Empty>
          )
        }
      />
      {isMaking && <NewCampaign audiences={audiences} onClose={() => setMaking(false)} />}
    </Page>
  );
}

/** Campaigns: the list, and one of them. */
export default listAndItems('/campaigns', CampaignList, () => import('./detail.tsx'));
