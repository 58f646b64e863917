import { type ItemOf, useList } from '../../../api/queries.ts';
import { useViewer } from '../../../api/viewer.tsx';
import { ButtonLink } from '../../../ui/button.tsx';
import { Badge } from '../../../ui/display/badge.tsx';
import { count } from '../../../ui/display/format.ts';
import { Empty } from '../../../ui/display/states.tsx';
import { icons } from '../../../ui/icons.tsx';
import { countColumn, timeColumn } from '../../../ui/lists/column-kinds.tsx';
import { useOneChoice } from '../../../ui/lists/filters.tsx';
import type { Column } from '../../../ui/lists/list-types.ts';
import { useSort } from '../../../ui/lists/sort.ts';
import { Lead, Table } from '../../../ui/lists/table.tsx';
import { Page } from '../../../ui/page.tsx';

type Item = ItemOf<'GET /contacts/imports'>;

const STATES = {
  queued: 'Queued',
  processing: 'Processing',
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
} as const satisfies Record<Item['status'], string>;

const COLUMNS: readonly [Column<Item>, ...Column<Item>[]] = [
  {
    name: 'Import',
    cell: ({ dryRun, counts }) => (
      <Lead title={`${count(counts.total)} rows`} sub={dryRun ? 'check only, nothing written' : null} />
    ),
  },
  { name: 'Status', width: 'w-36', cell: ({ status }) => <Badge status={status} /> },
  countColumn('Added', ({ counts }) => counts.created, { from: 'md' }),
  countColumn('Updated', ({ counts }) => counts.updated, { from: 'md' }),
  countColumn('Errors', ({ counts }) => counts.failed, { from: 'sm', width: 'w-24' }),
  timeColumn('Started', 'createdAt', { sortBy: 'createdAt' }),
];

/** The imports of one environment. */
export default function Imports() {
  const { may } = useViewer();
  const { chosen: status, isSet, bar } = useOneChoice('status', 'Status', STATES);
  const { query: order, sorting } = useSort();
  const list = useList('GET /contacts/imports', { query: { ...(status && { status }), ...order } });
  const start = may('contacts:write') && (
    <ButtonLink to="/contacts/import" look="main">
      Import contacts
    </ButtonLink>
  );
  return (
    <Page title="Imports" back={{ to: '/contacts', text: 'Contacts' }} actions={start}>
      {bar}
      <Table
        label="Imports"
        list={list}
        columns={COLUMNS}
        sorting={sorting}
        keyOf={({ id }) => id}
        linkOf={({ id }) => `/contacts/imports/${id}`}
        empty={
          isSet ? (
            <Empty title="No imports with this status" icon={icons.Page}>
              <p>Clear the filter to see the others.</p>
            </Empty>
          ) : (
            <Empty title="No imports yet" icon={icons.Page} action={start}>
              <p>
                Save your spreadsheet as CSV. Its columns are recognised and checked before anything is
                written.
              </p>
            </Empty>
          )
        }
      />
    </Page>
  );
}
