import { Link } from 'wouter';
import type { ReceivedItem } from '../../../../../client/operations.ts';
import { countRule, useList, useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { Empty } from '../../ui/display/states.tsx';
import { icons } from '../../ui/icons.tsx';
import { timeColumn } from '../../ui/lists/column-kinds.tsx';
import { ChoiceFilter, FilterBar, TextFilter, useFilters } from '../../ui/lists/filters.tsx';
import type { Column } from '../../ui/lists/list-types.ts';
import { useSort } from '../../ui/lists/sort.ts';
import { Lead, Table } from '../../ui/lists/table.tsx';
import { listAndItems, Page } from '../../ui/page.tsx';
import { senderOf, subjectOf, TONES, WRITTEN_BY } from './words.ts';

const COLUMNS: readonly [Column<ReceivedItem>, ...Column<ReceivedItem>[]] = [
  {
    name: 'From',
    cell: (each) => (
      <Lead title={senderOf(each)} sub={<span className="md:hidden">{subjectOf(each)}</span>} />
    ),
  },
  { name: 'Subject', from: 'md', cell: subjectOf },
  { name: 'To', from: 'lg', cell: ({ envelope }) => envelope.to },
  {
    name: 'Status',
    width: 'w-28',
    from: 'sm',
    cell: ({ status }) => <Badge status={status} tone={TONES[status]} />,
  },
  timeColumn('Arrived', 'createdAt', { sortBy: 'createdAt' }),
];

function Inbox() {
  const { environment, may } = useViewer();
  const { values, filter, isSet, clear } = useFilters(['address', 'automatic', 'thread', 'route']);
  const { address, automatic, thread, route } = values;
  const query = {
    ...(address !== '' && { address }),
    ...(automatic in WRITTEN_BY && { isAutomatic: automatic === 'true' }),
    ...(thread !== '' && { threadId: thread }),
    ...(route !== '' && { routeId: route }),
  };
  const { query: order, sorting } = useSort();
  const list = useList('GET /received', { query: { ...query, ...order } });
  const counted = useRead('GET /received/count', { query }, countRule(list)).data;
  return (
    <Page title="Inbox" about="Mail that your inbound routes have taken, one item for each recipient.">
      <FilterBar isSet={isSet} onClear={clear}>
        <TextFilter label="Address" {...filter('address')} />
        <ChoiceFilter label="Written by" {...filter('automatic')} options={WRITTEN_BY} />
      </FilterBar>
      <Table
        label="Received mail"
        list={list}
        columns={COLUMNS}
        nouns={['message', 'messages']}
        counted={counted}
        sorting={sorting}
        keyOf={({ id }) => id}
        linkOf={({ id }) => `/received/${id}`}
        empty={
          isSet ? (
            <Empty title="No matching message" icon={icons.Inbox}>
              <p>Enter the whole address.</p>
            </Empty>
          ) : (
            <Empty
              title="No mail received yet"
              icon={icons.Inbox}
              action={
                may('domains:read') && (
                  <Link href="/inbound-routes" className="link">
                    Inbound routes
                  </Link>
                )
              }
            >
              {environment === 'test' ? (
                <p>
                  A route of the test environment takes what <code>POST /v1/received/test</code> is given.
                </p>
              ) : (
                <p>
                  Choose by a route which addresses of a verified domain take mail, and set the MX record that
                  the domain then shows.
                </p>
              )}
            </Empty>
          )
        }
      />
    </Page>
  );
}

/** Received mail as an inbox, and one message of it. */
export default listAndItems('/received', Inbox, () => import('./detail.tsx'));
