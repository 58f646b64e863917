import { useState } from 'react';
import type { InboundRoute } from '../../../../../client/operations.ts';
import { useChange, useList } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/display/states.tsx';
import { icons } from '../../ui/icons.tsx';
import { countColumn } from '../../ui/lists/column-kinds.tsx';
import type { Column } from '../../ui/lists/list-types.ts';
import { Lead, RowActions, Table } from '../../ui/lists/table.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import { Page } from '../../ui/page.tsx';
import { NewRoute } from './new-route.tsx';
import { WaysIn } from './ways-in.tsx';

/** The addresses that a route takes, in words. */
const takes = ({ match: { type, localPart } }: InboundRoute, domain: string): string =>
  ({
    exact: `${localPart}@${domain}`,
    prefix: `${localPart}…@${domain}`,
    catchAll: `Every address at ${domain}`,
  })[type];

const actionText = ({ action }: InboundRoute): string =>
  action.url ?? (action.to ? `Forwarded to ${action.to.join(', ')}` : 'Kept for the API and the inbox');

/** The routes of received mail. */
export default function InboundRoutes() {
  const { environment, may } = useViewer();
  const [isAdding, setAdding] = useState(false);
  const [leaving, setLeaving] = useState<InboundRoute | null>(null);
  const list = useList('GET /inbound-routes', {});
  const domains = useList('GET /domains', { query: { limit: 100 } });
  const remove = useChange('DELETE /inbound-routes/{id}', ['domains']);
  const mayWrite = may('domains:write');
  const domainOf = (id: string) => domains.items?.find((each) => each.id === id)?.name ?? 'a removed domain';
  const columns: readonly [Column<InboundRoute>, ...Column<InboundRoute>[]] = [
    {
      name: 'Takes',
      cell: (each) => (
        <Lead
          title={takes(each, domainOf(each.domainId))}
          sub={<span className="md:hidden">{actionText(each)}</span>}
        />
      ),
    },
    { name: 'Action', from: 'md', cell: actionText },
    countColumn('Priority', ({ priority }) => priority, { from: 'lg', width: 'w-24' }),
    ...(mayWrite
      ? [
          {
            name: 'Actions',
            width: 'w-24',
            isRight: true,
            cell: (each: InboundRoute) => (
              <RowActions>
                <Button look="quiet" onClick={() => setLeaving(each)}>
                  Delete
                </Button>
              </RowActions>
            ),
          },
        ]
      : []),
  ];
  const add = mayWrite && (
    <Button look="main" data-create onClick={() => setAdding(true)}>
      {icons.Plus} Add route
    </Button>
  );
  return (
    <Page
      title="Inbound routes"
      about="Which addresses of your domains take mail, and what is done with it. The lowest priority that matches takes a message."
      actions={add}
    >
      <Table
        label="Inbound routes"
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          <Empty title={`No ${environment} routes yet`} icon={icons.Split} action={add}>
            <p>Without a route every address of a domain is unknown, and mail to it is refused.</p>
          </Empty>
        }
      />
      <WaysIn />
      {isAdding && <NewRoute domains={domains.items ?? []} onClose={() => setAdding(false)} />}
      {leaving && (
        <Confirm
          title="Delete this route?"
          action="Delete route"
          onClose={() => setLeaving(null)}
          done="Route deleted"
          onConfirm={() => remove.mutateAsync({ path: { id: leaving.id } })}
        >
          Mail to {takes(leaving, domainOf(leaving.domainId))} is refused from then on, unless another route
          takes it. Messages that it took are kept.
        </Confirm>
      )}
    </Page>
  );
}
