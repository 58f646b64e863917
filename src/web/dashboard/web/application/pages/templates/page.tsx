import { lazy, useState } from 'react';
import { Route, Switch } from 'wouter';
import { type ItemOf, useList } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { Empty } from '../../ui/display/states.tsx';
import { Chips } from '../../ui/forms/chips.tsx';
import { icons } from '../../ui/icons.tsx';
import { CREATED, timeColumn } from '../../ui/lists/column-kinds.tsx';
import type { Column } from '../../ui/lists/list-types.ts';
import { useSort } from '../../ui/lists/sort.ts';
import { Lead, Table } from '../../ui/lists/table.tsx';
import { Page } from '../../ui/page.tsx';
import { FORMATS, KINDS, type Kind } from './formats.ts';
import { NewTemplate } from './new-template.tsx';

const Detail = lazy(() => import('./detail.tsx'));
const Versions = lazy(() => import('./versions.tsx'));

type Item = ItemOf<'GET /templates'>;

const COLUMNS: readonly [Column<Item>, ...Column<Item>[]] = [
  {
    name: 'Template',
    cell: ({ name, subject, kind }) => (
      <Lead title={name} sub={kind === 'template' ? (subject ?? 'no subject') : KINDS[kind].about} />
    ),
  },
  {
    name: 'Alias',
    width: 'w-48',
    from: 'md',
    cell: ({ alias }) =>
      alias === null ? (
        <span className="text-faint">–</span>
      ) : (
        <code className="font-mono text-caption">{alias}</code>
      ),
  },
  {
    name: 'Format',
    width: 'w-36',
    from: 'sm',
    cell: ({ format }) => (
      <Badge status={format} tone="quiet">
        {FORMATS[format].name}
      </Badge>
    ),
  },
  {
    name: 'Version',
    width: 'w-24',
    from: 'lg',
    isRight: true,
    cell: ({ version }) => <span className="num">{version}</span>,
  },
  timeColumn('Updated', 'updatedAt'),
  CREATED,
];

const SHOWN = { template: 'Templates', layout: 'Layouts', partial: 'Partials' } as const satisfies Record<
  Kind,
  string
>;

const NOUNS = {
  template: ['template', 'templates'],
  layout: ['layout', 'layouts'],
  partial: ['partial', 'partials'],
} as const satisfies Record<Kind, readonly [string, string]>;

/** Templates: the list, one of them in its editor, and its versions. */
export default function Templates() {
  return (
    <Switch>
      <Route path="/templates/:id/versions">{({ id }) => <Versions key={id} id={id} />}</Route>
      <Route path="/templates/:id">{({ id }) => <Detail key={id} id={id} />}</Route>
      <Route>
        <TemplateList />
      </Route>
    </Switch>
  );
}

function TemplateList() {
  const { environment, may } = useViewer();
  const [isMaking, setMaking] = useState(false);
  const [kind, setKind] = useState<Kind>('template');
  const { query: order, sorting } = useSort();
  const list = useList('GET /templates', { query: { kind, ...order } });
  const create = may('templates:write') && (
    <Button look="main" data-create onClick={() => setMaking(true)}>
      {icons.Plus} New template
    </Button>
  );
  return (
    <Page
      title="Templates"
      about="Emails with variables that your program or a campaign fills in. Every change is a version that you can restore."
      actions={create}
    >
      <div className="mb-3">
        <Chips label="Show" options={SHOWN} value={kind} onChange={setKind} />
      </div>
      <Table
        label="Templates"
        list={list}
        columns={COLUMNS}
        nouns={NOUNS[kind]}
        sorting={sorting}
        keyOf={({ id }) => id}
        linkOf={({ id }) => `/templates/${id}`}
        empty={
          <Empty
            title={`No ${environment} ${SHOWN[kind].toLowerCase()} yet`}
            icon={icons.Page}
            action={create}
          >
            {kind === 'template' ? (
              <p>
                Write it here in Markdown or HTML, with variables in braces:{' '}
                <code className="font-mono text-caption">{'{{ name }}'}</code>. Then send it with{' '}
                <code className="font-mono text-caption">templateId</code>.
              </p>
            ) : (
              <p>{KINDS[kind].about}.</p>
            )}
          </Empty>
        }
      />
      {isMaking && <NewTemplate kind={kind} onClose={() => setMaking(false)} />}
    </Page>
  );
}
