import { lazy, useState } from 'react';
import { Route, Switch } from 'wouter';
import { type ItemOf, useList } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { Empty } from '../../ui/display/states.tsx';
import { type Column, Lead, Table } from '../../ui/display/table.tsx';
import { Time } from '../../ui/display/time.tsx';
import { useOneChoice } from '../../ui/filters.tsx';
import { icons } from '../../ui/icons.tsx';
import { Page } from '../../ui/page.tsx';
import { NewFlow } from './new-flow.tsx';
import { STATUSES, TRIGGERS } from './words.ts';

const Detail = lazy(() => import('./detail.tsx'));
const Run = lazy(() => import('./runs/run.tsx'));

type Item = ItemOf<'GET /flows'>;

const COLUMNS: readonly [Column<Item>, ...Column<Item>[]] = [
  { name: 'Flow', cell: ({ name, trigger }) => <Lead title={name} sub={TRIGGERS[trigger.type]} /> },
  {
    name: 'State',
    width: 'w-44',
    cell: ({ status, version, publishedVersion }) => (
      <span className="flex flex-wrap items-center gap-2">
        <Badge status={status}>{STATUSES[status]}</Badge>
        {publishedVersion !== null && version > publishedVersion && (
          <span className="text-caption">draft beside it</span>
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
  {
    name: 'Changed',
    width: 'w-32',
    from: 'sm',
    isRight: true,
    cell: ({ updatedAt }) => <Time at={updatedAt} />,
  },
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
  const { chosen: status, isSet, bar } = useOneChoice('status', 'State', STATUSES);
  const [isMaking, setMaking] = useState(false);
  const list = useList('GET /flows', { query: { ...(status && { status }) } });
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
          ? 'What happens to a contact by itself, step by step.'
          : 'Here you draw flows and try them. They run as live ones do, and nothing leaves; by a test clock in no time.'
      }
      actions={create}
    >
      {bar}
      <Table
        label="Flows"
        list={list}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        linkOf={({ id }) => `/flows/${id}`}
        empty={
          isSet ? (
            <Empty title="No flow is in this state" icon={icons.Flow}>
              <p>Clear the filter to see the others.</p>
            </Empty>
          ) : (
            <Empty title="There is no flow yet" icon={icons.Flow} action={create}>
              <p>
                A flow begins when something happens to a contact: it is added, joins an audience, orders
                something. It sends emails, waits, asks and decides, until it comes to an end.
              </p>
            </Empty>
          )
        }
      />
      {isMaking && <NewFlow onClose={() => setMaking(false)} />}
    </Page>
  );
}
