import { lazy, useState } from 'react';
import { Route, Switch } from 'wouter';
import { type ItemOf, useList } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { Empty } from '../../ui/display/states.tsx';
import { icons } from '../../ui/icons.tsx';
import { CREATED, timeColumn } from '../../ui/lists/column-kinds.tsx';
import { useOneChoice } from '../../ui/lists/filters.tsx';
import type { Column } from '../../ui/lists/list-types.ts';
import { useSort } from '../../ui/lists/sort.ts';
import { Lead, Table } from '../../ui/lists/table.tsx';
import { Page } from '../../ui/page.tsx';
import { NewFlow } from './new-flow.tsx';
import { STATUSES, TRIGGERS } from './words.ts';

const Detail = lazy(() => import('./detail.tsx'));
const Run = lazy(() => import('./runs/run.tsx'));

type Item = ItemOf<'GET /flows'>;

const COLUMNS: readonly [Column<Item>, ...Column<Item>[]] = [
  { name: 'Flow', cell: ({ name, trigger }) => <Lead title={name} sub={TRIGGERS[trigger.type]} /> },
  {
    name: 'Status',
    width: 'w-44',
    cell: ({ status, version, publishedVersion }) => (
      <span className="flex flex-wrap items-center gap-2">
        <Badge status={status}>{STATUSES[status]}</Badge>
        {publishedVersion !== null && version > publishedVersion && (
          <span className="text-caption">newer draft</span>
        )}
      </span>
    ),
  },
  {
    name: 'Steps',
    width: 'w-20',
    from: 'md',
    isRight: true,
    cell: ({ steps }) => <span className="num">{steps.length}</span>,
  },
  timeColumn('Updated', 'updatedAt', { from: 'sm' }),
  CREATED,
];

/** Flows: the list, one of them, and one run of it. */
export default function Flows() {
  return (
    <Switch>
      <Route path="/flows/:id/runs/:run">{({ id, run }) => <Run key={run} flowId={id} id={run} />}</Route>
      <Route path="/flows/:id">{({ id }) => <Detail key={id} id={id} />}</Route>
      <Route>
        <FlowList />
      </Route>
    </Switch>
  );
}

function FlowList() {
  const { environment, may } = useViewer();
  const { chosen: status, isSet, bar } = useOneChoice('status', 'Status', STATUSES);
  const [isMaking, setMaking] = useState(false);
  const { query: order, sorting } = useSort();
  const list = useList('GET /flows', { query: { ...(status && { status }), ...order } });
  const create = may('campaigns:write') && (
    <Button look="main" data-create onClick={() => setMaking(true)}>
      {icons.Plus} New flow
    </Button>
  );
  return (
    <Page
      title="Flows"
      about={
        environment === 'live'
          ? 'Automations that act on each contact, step by step.'
          : 'Draw and test flows here. They run like live ones, but nothing leaves; with a test clock, they take no time.'
      }
      actions={create}
    >
      {bar}
      <Table
        label="Flows"
        list={list}
        columns={COLUMNS}
        nouns={['flow', 'flows']}
        sorting={sorting}
        keyOf={({ id }) => id}
        linkOf={({ id }) => `/flows/${id}`}
        empty={
          isSet ? (
            <Empty title="No flows with this status" icon={icons.Flow}>
              <p>Clear the filter to see the others.</p>
            </Empty>
          ) : (
            <Empty title="No flows yet" icon={icons.Flow} action={create}>
              <p>
                A flow starts when something happens to a contact: it is added, joins an audience or places an
                order. The flow then sends emails, waits and branches until it completes.
              </p>
            </Empty>
          )
        }
      />
      {isMaking && <NewFlow onClose={() => setMaking(false)} />}
    </Page>
  );
}
