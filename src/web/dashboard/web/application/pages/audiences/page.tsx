import { lazy } from 'react';
import { Route, Switch } from 'wouter';
import { type ItemOf, useList } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { Empty } from '../../ui/display/states.tsx';
import { icons } from '../../ui/icons.tsx';
import { CREATED, countColumn } from '../../ui/lists/column-kinds.tsx';
import type { Column } from '../../ui/lists/list-types.ts';
import { useSort } from '../../ui/lists/sort.ts';
import { Lead, Table } from '../../ui/lists/table.tsx';
import { Page } from '../../ui/page.tsx';

const Detail = lazy(() => import('./detail.tsx'));
const NewAudience = lazy(() => import('./new-audience.tsx'));

type Item = ItemOf<'GET /audiences'>;

const COLUMNS: readonly [Column<Item>, ...Column<Item>[]] = [
  { name: 'Audience', cell: ({ name, description }) => <Lead title={name} sub={description} /> },
  {
    name: 'Kind',
    width: 'w-36',
    from: 'sm',
    cell: ({ type }) => (
      <Badge status={type} tone={type === 'dynamic' ? 'moving' : 'quiet'}>
        {type === 'dynamic' ? 'Dynamic' : 'Static'}
      </Badge>
    ),
  },
  {
    name: 'Public',
    width: 'w-28',
    from: 'lg',
    cell: (audience) => (audience.public ? 'Yes' : <span className="text-faint">No</span>),
  },
  countColumn('Contacts', ({ contactCount }) => contactCount),
  { ...CREATED, isExtra: false },
];

/** Audiences: the list, and one of them. */
export default function Audiences() {
  return (
    <Switch>
      <Route path="/audiences/new">
        <NewAudience />
      </Route>
      <Route path="/audiences/:id">{({ id }) => <Detail key={id} id={id} />}</Route>
      <Route>
        <AudienceList />
      </Route>
    </Switch>
  );
}

function AudienceList() {
  const { may } = useViewer();
  const { query: order, sorting } = useSort();
  const list = useList('GET /audiences', { query: order });
  const create = may('contacts:write') && (
    <ButtonLink to="/audiences/new" look="main" data-create>
      {icons.Plus} New audience
    </ButtonLink>
  );
  return (
    <Page
      title="Audiences"
      about="Groups of contacts for campaigns and flows: static lists, or dynamic ones that fill by a filter."
      actions={create}
    >
      <Table
        label="Audiences"
        list={list}
        columns={COLUMNS}
        nouns={['audience', 'audiences']}
        sorting={sorting}
        keyOf={({ id }) => id}
        linkOf={({ id }) => `/audiences/${id}`}
        empty={
          <Empty title="No audiences yet" icon={icons.People} action={create}>
            <p>
              A dynamic audience always holds the contacts that match its filter, such as “plan is pro and
              opened an email in the last 30 days”. A static one holds the contacts that you, an import or a
              form add.
            </p>
          </Empty>
        }
      />
    </Page>
  );
}
