import { useMemo } from 'react';
import { Link } from 'wouter';
import { countRule, type ItemOf, useDownload, useList, useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Download } from '../../ui/button.tsx';
import { Id } from '../../ui/display/copy-button.tsx';
import { capital, wordsOf } from '../../ui/display/format.ts';
import { Empty } from '../../ui/display/states.tsx';
import { icons } from '../../ui/icons.tsx';
import { timeColumn } from '../../ui/lists/column-kinds.tsx';
import { ChoiceFilter, FilterBar, PeriodFilter, sinceDays, useFilters } from '../../ui/lists/filters.tsx';
import type { Column } from '../../ui/lists/list-types.ts';
import { useSort } from '../../ui/lists/sort.ts';
import { Lead, Table } from '../../ui/lists/table.tsx';
import { Page } from '../../ui/page.tsx';
import { useAudienceNames, useTemplateNames } from '../names.ts';
import { actionNames } from './actions.ts';

type Entry = ItemOf<'GET /audit-log'>;

const ACTORS = {
  member: 'Member',
  apiKey: 'API key',
  operator: 'Operator',
  system: 'Service',
} as const;

/** The actions in words, in the order of the words. */
const OPTIONS: Readonly<Record<string, string>> = Object.fromEntries(
  actionNames()
    .map((name) => [name, capital(wordsOf(name))] as const)
    .sort(([, one], [, other]) => (one < other ? -1 : 1)),
);

/** The pages of targets. */
const PAGES: Readonly<Record<string, string>> = {
  audience: 'audiences',
  campaign: 'campaigns',
  contact: 'contacts',
  domain: 'domains',
  flow: 'flows',
  template: 'templates',
  webhook: 'webhooks',
};

/** The name of a target where a read list has it, else its id, as a link where it has a page. */
function TargetName({ entry, names }: { readonly entry: Entry; readonly names: Names }) {
  const { type, id } = entry.target;
  if (id === null) return <span className="text-faint">–</span>;
  const { name, email, address } = entry.details as Readonly<Record<string, unknown>>;
  const own = [name, email, address].find((each) => typeof each === 'string');
  const text = names[id] ?? own;
  const page = PAGES[type];
  const shown = text === undefined ? <span className="font-mono text-caption">{id}</span> : String(text);
  return page === undefined || /\.deleted$/.test(entry.action) ? (
    <span title={id}>{shown}</span>
  ) : (
    <Link href={`/${page}/${id}`} title={id} className="link">
      {shown}
    </Link>
  );
}

type Names = Readonly<Record<string, string>>;

/** The names of members, keys and other targets by id, as far as the viewer may read them. */
function useNames(): Names {
  const { may, workspace } = useViewer();
  const members = useRead('GET /members', {});
  const keys = useRead('GET /api-keys', {}, { enabled: may('api-keys:read') });
  const campaigns = useList('GET /campaigns', MOST, { enabled: may('campaigns:read') });
  const domains = useList('GET /domains', MOST, { enabled: may('domains:read') });
  const flows = useList('GET /flows', MOST, { enabled: may('campaigns:read') });
  const webhooks = useRead('GET /webhooks', {}, { enabled: may('webhooks:read') });
  const named = [
    ...(keys.data ?? []),
    ...(campaigns.items ?? []),
    ...(domains.items ?? []),
    ...(flows.items ?? []),
  ];
  return {
    [workspace.id]: workspace.name,
    ...useTemplateNames(),
    ...useAudienceNames(),
    ...Object.fromEntries(named.map(({ id, name }) => [id, name])),
    ...Object.fromEntries((webhooks.data ?? []).map(({ id, url }) => [id, url])),
    ...Object.fromEntries((members.data ?? []).map(({ id, name, email }) => [id, name || email])),
  };
}

const MOST = { query: { limit: 100 } } as const;

const nameOf = ({ actor }: Entry): string => actor.name ?? ACTORS[actor.type];
const detailsOf = ({ details }: Entry): string =>
  Object.entries(details)
    .filter(([name]) => name !== 'ifUpdatedAt')
    .map(([name, value]) => `${wordsOf(name)}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');

const columnsOf = (names: Names): readonly [Column<Entry>, ...Column<Entry>[]] => [
  {
    name: 'Action',
    cell: (entry) => <Lead title={capital(wordsOf(entry.action))} sub={detailsOf(entry) || undefined} />,
  },
  { name: 'Actor', width: 'w-36', from: 'sm', cell: nameOf },
  {
    name: 'Target',
    width: 'w-48',
    from: 'md',
    cell: (entry) => <TargetName entry={entry} names={names} />,
  },
  {
    name: 'Request',
    width: 'w-36',
    // Beside the navigation, 1,024 pixels have no room for it.
    from: 'xl',
    cell: ({ requestId }) => requestId !== null && <Id id={requestId} />,
  },
  timeColumn('When', 'at', { sortBy: 'createdAt' }),
];

/** The log of actions by people, keys and the operator in the workspace. */
export default function AuditLog() {
  const { values, filter, isSet, clear } = useFilters(['action', 'actor', 'days']);
  const { action, actor, days } = values;
  const createdAfter = sinceDays(days);
  const query = {
    ...(action !== '' && { action }),
    ...(actor !== '' && { actor }),
    ...(createdAfter !== undefined && { createdAfter }),
  };
  const { query: order, sorting } = useSort();
  const list = useList('GET /audit-log', { query: { ...query, ...order } });
  const file = useDownload('GET /audit-log/export', { query: { ...query, ...order } });
  const counted = useRead('GET /audit-log/count', { query }, countRule(list)).data;
  const names = useNames();
  const columns = useMemo(() => columnsOf(names), [names]);
  const actors = Object.fromEntries(Object.entries(names).filter(([id]) => /^(?:mem|key)_/.test(id)));
  return (
    <Page
      title="Audit log"
      about="Actions of people, API keys and the operator in this workspace, in both environments."
      actions={
        <Download href={file} name="audit-log.csv">
          Export CSV
        </Download>
      }
    >
      <FilterBar isSet={isSet} onClear={clear}>
        <ChoiceFilter label="Action" {...filter('action')} options={OPTIONS} />
        <ChoiceFilter
          label="Actor"
          {...filter('actor')}
          options={{ ...(actor !== '' && { [actor]: actor }), ...actors }}
        />
        <PeriodFilter {...filter('days')} />
      </FilterBar>
      <Table
        label="Audit log"
        list={list}
        columns={columns}
        nouns={['entry', 'entries']}
        counted={counted}
        sorting={sorting}
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
