import { type ItemOf, useList } from '../../api/queries.ts';
import { capital, wordsOf } from '../../ui/display/format.ts';
import { Empty } from '../../ui/display/states.tsx';
import { type Column, Lead, Table } from '../../ui/display/table.tsx';
import { Time } from '../../ui/display/time.tsx';
import { FilterBar, PeriodFilter, sinceDays, TextFilter, useFilters } from '../../ui/filters.tsx';
import { icons } from '../../ui/icons.tsx';
import { Page } from '../../ui/page.tsx';

type Entry = ItemOf<'GET /audit-log'>;

const ACTORS = {
  member: 'Member',
  apiKey: 'API key',
  operator: 'Operator',
  system: 'Service',
} as const;

const nameOf = ({ actor }: Entry): string => actor.name ?? ACTORS[actor.type];
const detailsOf = ({ details }: Entry): string =>
  Object.entries(details)
    .map(([name, value]) => `${wordsOf(name)}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');

const COLUMNS: readonly [Column<Entry>, ...Column<Entry>[]] = [
  {
    name: 'Action',
    cell: (entry) => (
      <Lead title={capital(wordsOf(entry.action))} sub={detailsOf(entry) || entry.target.id || undefined} />
    ),
  },
  { name: 'Actor', width: 'w-56', from: 'sm', cell: nameOf },
  {
    name: 'Target',
    from: 'lg',
    cell: ({ target }) => <span className="font-mono text-caption">{target.id}</span>,
  },
  {
    name: 'Request',
    width: 'w-72',
    from: 'lg',
    cell: ({ requestId }) => <span className="font-mono text-caption">{requestId}</span>,
  },
  { name: 'When', width: 'w-36', isRight: true, cell: ({ at }) => <Time at={at} /> },
];

/** The log of actions by people, keys and the operator in the workspace. */
export default function AuditLog() {
  const { values, set, isSet, clear } = useFilters(['action', 'actor', 'days']);
  const { action, actor, days } = values;
  const createdAfter = sinceDays(days);
  const list = useList('GET /audit-log', {
    query: {
      ...(action !== '' && { action }),
      ...(actor !== '' && { actor }),
      ...(createdAfter !== undefined && { createdAfter }),
    },
  });
  return (
    <Page
      title="Audit log"
      about="Actions of people, API keys and the operator in this workspace, in both environments."
    >
      <FilterBar isSet={isSet} onClear={clear}>
        <TextFilter
          label="Action (apiKey.created)"
          value={action}
          onChange={(value) => set({ action: value })}
        />
        <TextFilter label="Actor ID" value={actor} onChange={(value) => set({ actor: value })} />
        <PeriodFilter value={days} onChange={(value) => set({ days: value })} />
      </FilterBar>
      <Table
        label="Audit log"
        list={list}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={
          <Empty title={isSet ? 'No matching entries' : 'No entries yet'} icon={icons.List}>
            <p>
              Changes of keys, members, domains and settings, and sign-ins, are recorded here with their
              actor.
            </p>
          </Empty>
        }
      />
    </Page>
  );
}
