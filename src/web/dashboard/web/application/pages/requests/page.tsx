import { countRule, type ItemOf, useDownload, useList, useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Download } from '../../ui/button.tsx';
import { count } from '../../ui/display/format.ts';
import { Empty } from '../../ui/display/states.tsx';
import { icons } from '../../ui/icons.tsx';
import { timeColumn } from '../../ui/lists/column-kinds.tsx';
import { ChoiceFilter, FilterBar, PeriodFilter, sinceDays, useFilters } from '../../ui/lists/filters.tsx';
import type { Column } from '../../ui/lists/list-types.ts';
import { useSort } from '../../ui/lists/sort.ts';
import { Lead, Table } from '../../ui/lists/table.tsx';
import { listAndItems, Page } from '../../ui/page.tsx';
import { keyNameOf, Outcome } from './outcome.tsx';

type Item = ItemOf<'GET /requests'>;

const STATUSES = {
  '2xx': 'Accepted (2xx)',
  '4xx': 'Refused (4xx)',
  '5xx': 'Failed (5xx)',
  '401': '401 Unauthorized',
  '403': '403 Forbidden',
  '404': '404 Not found',
  '409': '409 Conflict',
  '422': '422 Not valid',
  '429': '429 Too many',
} as const;
const METHODS = { GET: 'GET', POST: 'POST', PATCH: 'PATCH', PUT: 'PUT', DELETE: 'DELETE' } as const;
type Method = keyof typeof METHODS;

/** The choice that an address names, where there is such a one: anybody can type another. */
const chosen = <Name extends string>(
  name: string,
  options: Readonly<Record<Name, string>>,
): Name | undefined => (name in options ? (name as Name) : undefined);

function RequestList() {
  const { environment } = useViewer();
  const { values, filter, isSet, clear } = useFilters(['apiKeyId', 'status', 'method', 'days']);
  const keys = useRead('GET /api-keys', {}).data;
  const status = chosen(values.status, STATUSES);
  const method = chosen<Method>(values.method, METHODS);
  const createdAfter = sinceDays(values.days);
  const query = {
    ...(values.apiKeyId !== '' && { apiKeyId: values.apiKeyId }),
    ...(status !== undefined && { status }),
    ...(method !== undefined && { method }),
    ...(createdAfter !== undefined && { createdAfter }),
  };
  const { query: order, sorting } = useSort();
  const list = useList('GET /requests', { query: { ...query, ...order } });
  const file = useDownload('GET /requests/export', { query: { ...query, ...order } });
  const counted = useRead('GET /requests/count', { query }, countRule(list)).data;
  const columns: readonly [Column<Item>, ...Column<Item>[]] = [
    {
      name: 'Request',
      cell: ({ method: used, path, errorCode }) => (
        <Lead
          title={
            <span className="font-mono text-caption">
              {used} {path}
            </span>
          }
          sub={errorCode ?? undefined}
        />
      ),
    },
    { name: 'API key', width: 'w-48', from: 'md', cell: ({ apiKeyId }) => keyNameOf(keys, apiKeyId) },
    {
      name: 'Took',
      width: 'w-24',
      from: 'lg',
      isRight: true,
      cell: ({ durationMs }) => `${count(durationMs)} ms`,
    },
    timeColumn('Received', 'createdAt', { sortBy: 'createdAt', from: 'sm' }),
    {
      name: 'Status',
      width: 'w-24',
      isRight: true,
      cell: ({ status: answered }) => <Outcome status={answered} />,
    },
  ];
  const options = Object.fromEntries(
    (keys ?? []).filter(({ env }) => env === environment).map(({ id, name }) => [id, name]),
  );
  return (
    <Page
      title="Requests"
      about={`The latest requests with API keys of the ${environment} environment, for seven days. Their bodies are not stored.`}
      actions={
        <Download href={file} name={`requests-${environment}.csv`}>
          Export CSV
        </Download>
      }
    >
      <FilterBar isSet={isSet} onClear={clear}>
        <ChoiceFilter label="API key" {...filter('apiKeyId')} options={options} />
        <ChoiceFilter label="Status" {...filter('status')} value={status ?? ''} options={STATUSES} />
        <ChoiceFilter label="Method" {...filter('method')} value={method ?? ''} options={METHODS} />
        <PeriodFilter {...filter('days')} />
      </FilterBar>
      <Table
        label="Requests"
        list={list}
        columns={columns}
        nouns={['request', 'requests']}
        counted={counted}
        sorting={sorting}
        keyOf={({ id }) => id}
        linkOf={({ id }) => `/requests/${id}`}
        empty={
          <Empty title={isSet ? 'No matching requests' : 'No requests yet'} icon={icons.List}>
            <p>
              {isSet
                ? 'Choose other filters, or clear them.'
                : `Requests of programs with a ${environment} key appear here a second after their answers.`}
            </p>
          </Empty>
        }
      />
    </Page>
  );
}

/** The latest requests of API keys, and one of them. */
export default listAndItems('/requests', RequestList, () => import('./detail.tsx'));
