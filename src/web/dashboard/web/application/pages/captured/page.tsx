import { useState } from 'react';
import { countRule, type ItemOf, useChange, useList, useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { sizeText } from '../../ui/display/format.ts';
import { Empty } from '../../ui/display/states.tsx';
import { icons } from '../../ui/icons.tsx';
import { timeColumn } from '../../ui/lists/column-kinds.tsx';
import { FilterBar, TextFilter, useFilters } from '../../ui/lists/filters.tsx';
import type { Column } from '../../ui/lists/list-types.ts';
import { useSort } from '../../ui/lists/sort.ts';
import { Lead, Table } from '../../ui/lists/table.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import { listAndItems, Page } from '../../ui/page.tsx';

type Item = ItemOf<'GET /captured'>;

const COLUMNS: readonly [Column<Item>, ...Column<Item>[]] = [
  {
    name: 'To',
    cell: ({ recipient, subject }) => (
      <Lead title={recipient} sub={<span className="md:hidden">{subject || '(no subject)'}</span>} />
    ),
  },
  { name: 'Subject', from: 'md', cell: ({ subject }) => subject || '(no subject)' },
  { name: 'From', from: 'lg', cell: ({ from }) => from },
  { name: 'Size', width: 'w-24', from: 'lg', isRight: true, cell: ({ size }) => sizeText(size) },
  timeColumn('Arrived', 'capturedAt', { sortBy: 'createdAt' }),
];

function Inbox() {
  const { environment, may } = useViewer();
  const { values, filter, isSet, clear } = useFilters(['recipient']);
  const query = { ...(values.recipient !== '' && { recipient: values.recipient }) };
  const { query: order, sorting } = useSort();
  const list = useList('GET /captured', { query: { ...query, ...order } }, { follows: ['emails'] });
  const counted = useRead('GET /captured/count', { query }, countRule(list)).data;
  return (
    <Page
      title="Captured mail"
      about="Live email that was rendered, signed and stored here instead of sent: one copy per recipient."
      actions={may('emails:send') && (list.items?.length ?? 0) > 0 && <ThrowAway />}
    >
      <FilterBar isSet={isSet} onClear={clear}>
        <TextFilter label="Recipient" isExact {...filter('recipient')} />
      </FilterBar>
      <Table
        label="Captured mail"
        list={list}
        columns={COLUMNS}
        nouns={['copy', 'copies']}
        counted={counted}
        sorting={sorting}
        keyOf={({ id }) => id}
        linkOf={({ id }) => `/captured/${id}`}
        empty={
          <Empty
            title={isSet ? 'No captured mail for this address' : 'No captured mail yet'}
            icon={icons.Box}
          >
            {environment === 'test' ? (
              <p>
                The simulator handles test email without building a message. Switch to live: with{' '}
                <code>TRANSPORT=capture</code> its email is stored here.
              </p>
            ) : (
              <p>
                With <code>TRANSPORT=capture</code>, or a domain whose provider is “capture”, live email is
                stored here and never delivered.
              </p>
            )}
          </Empty>
        }
      />
    </Page>
  );
}

function ThrowAway() {
  const [isAsking, setAsking] = useState(false);
  const discard = useChange('DELETE /captured');
  return (
    <>
      <Button onClick={() => setAsking(true)}>Delete all</Button>
      {isAsking && (
        <Confirm
          title="Delete all captured mail?"
          action="Delete all"
          onClose={() => setAsking(false)}
          done="All captured mail deleted"
          onConfirm={() => discard.mutateAsync({})}
        >
          The emails, their events and their content are kept. The captured copies cannot be restored.
        </Confirm>
      )}
    </>
  );
}

/** Captured mail as an inbox, and one message of it. */
export default listAndItems('/captured', Inbox, () => import('./detail.tsx'));
