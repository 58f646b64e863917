import { lazy, Suspense, useState } from 'react';
import type { Flow } from '../../../../../../client/operations.ts';
import { type ItemOf, useChange, useList, useRead } from '../../../api/queries.ts';
import { useViewer } from '../../../api/viewer.tsx';
import { IconButton } from '../../../ui/button.tsx';
import { Figures } from '../../../ui/charts/figures.tsx';
import { Badge } from '../../../ui/display/badge.tsx';
import { count } from '../../../ui/display/format.ts';
import { Empty, Skeleton } from '../../../ui/display/states.tsx';
import { Time } from '../../../ui/display/time.tsx';
import { icons } from '../../../ui/icons.tsx';
import { timeColumn } from '../../../ui/lists/column-kinds.tsx';
import { ChoiceFilter, FilterBar, useFilters } from '../../../ui/lists/filters.tsx';
import type { Column } from '../../../ui/lists/list-types.ts';
import { useSort } from '../../../ui/lists/sort.ts';
import { Lead, RowActions, Table } from '../../../ui/lists/table.tsx';
import { Confirm } from '../../../ui/overlays/confirm.tsx';
import { Card } from '../../../ui/page.tsx';
import { definitionOf } from '../definition.ts';
import { RUN_STATUSES, STEPS, useNames } from '../words.ts';
import { wayCounts } from './stats.ts';

const FlowCanvas = lazy(() => import('../canvas/flow-canvas.tsx'));

type Run = ItemOf<'GET /flows/{id}/runs'>;
const isOpen = ({ status }: Run): boolean => status === 'running' || status === 'waiting';

/** The contact of a run: the address, if the viewer may see it. */
export function ContactName({ id }: { readonly id: string }) {
  const { may } = useViewer();
  const { data } = useRead(
    'GET /contacts/{contact}',
    { path: { contact: id } },
    { enabled: may('contacts:read') },
  );
  return data ? data.email : <span className="font-mono text-caption">{id}</span>;
}

/** The runs of a flow, with totals over the drawing. */
export function Runs({ flow }: { readonly flow: Flow }) {
  const { may } = useViewer();
  const { values, set, filter, isSet, clear } = useFilters(['status', 'step']);
  const [ending, setEnding] = useState<Run | null>(null);
  const cancel = useChange('DELETE /flows/runs/{id}');
  const status = values.status in RUN_STATUSES ? (values.status as Run['status']) : undefined;
  const { query: order, sorting } = useSort();
  const list = useList('GET /flows/{id}/runs', {
    path: { id: flow.id },
    query: { ...order, ...(status && { status }), ...(values.step !== '' && { step: values.step }) },
  });
  const columns: readonly [Column<Run>, ...Column<Run>[]] = [
    {
      name: 'Contact',
      cell: ({ contactId }) => <Lead title={<ContactName id={contactId} />} />,
    },
    timeColumn('Started', 'startedAt', { sortBy: 'createdAt', from: 'md', width: 'w-32', isRight: false }),
    {
      name: 'Status',
      width: 'w-36',
      cell: (run) => <Badge status={run.status}>{RUN_STATUSES[run.status]}</Badge>,
    },
    {
      name: 'Step',
      width: 'w-36',
      from: 'md',
      cell: ({ currentStep }) => <span className="font-mono text-caption">{currentStep ?? '–'}</span>,
    },
    {
      name: 'Continues',
      width: 'w-32',
      from: 'sm',
      isRight: true,
      cell: ({ wakesAt, endedAt }) => <Time at={wakesAt ?? endedAt} />,
    },
    {
      name: 'Cancel',
      width: 'w-20',
      isRight: true,
      cell: (run) =>
        isOpen(run) && may('campaigns:write') ? (
          <RowActions>
            <IconButton label="Cancel this run" onClick={() => setEnding(run)}>
              {icons.Block}
            </IconButton>
          </RowActions>
        ) : null,
    },
  ];
  return (
    <>
      <Overview flow={flow} onStep={(step) => set({ step })} step={values.step} />
      <FilterBar isSet={isSet} onClear={clear}>
        <ChoiceFilter label="Status" {...filter('status')} options={RUN_STATUSES} />
        <ChoiceFilter
          label="Current step"
          {...filter('step')}
          options={Object.fromEntries(
            flow.steps.map(({ key, type }) => [key, `${key} · ${STEPS[type].title}`]),
          )}
        />
      </FilterBar>
      <Table
        label="Runs"
        list={list}
        columns={columns}
        sorting={sorting}
        keyOf={({ id }) => id}
        linkOf={({ id }) => `/flows/${flow.id}/runs/${id}`}
        empty={
          isSet ? (
            <Empty title="No matching runs" icon={icons.Flow}>
              <p>Clear the filters to see the others.</p>
            </Empty>
          ) : (
            <Empty title="No runs yet" icon={icons.Flow}>
              <p>
                {flow.status === 'active'
                  ? 'Runs appear here when contacts enter the flow.'
                  : 'A flow starts for contacts once it is active. Simulate it first: nothing is sent.'}
              </p>
            </Empty>
          )
        }
      />
      {ending && (
        <Confirm
          title="Cancel this run?"
          action="Cancel run"
          keep="Keep run"
          onClose={() => setEnding(null)}
          done="Run cancelled"
          onConfirm={() => cancel.mutateAsync({ path: { id: ending.id } })}
        >
          The run takes no further steps. This cannot be undone.
        </Confirm>
      )}
    </>
  );
}

/**
 * The totals of all runs, and the count of each path of the running version. A step lists the runs that wait
 * in it.
 */
function Overview({
  flow,
  step,
  onStep,
}: {
  readonly flow: Flow;
  readonly step: string;
  readonly onStep: (step: string) => void;
}) {
  const { id, stats, publishedVersion } = flow;
  const names = useNames();
  const { data: version } = useRead(
    'GET /flows/{id}/versions/{version}',
    { path: { id, version: String(publishedVersion) } },
    { enabled: publishedVersion !== null },
  );
  if (publishedVersion === null || !stats) return null;
  const definition = version && definitionOf(version);
  return (
    <Card>
      <Figures
        figures={[
          { name: 'Started', value: count(stats.entered) },
          { name: 'Running', value: count(stats.running), tone: 'moving' },
          { name: 'Waiting', value: count(stats.waiting), tone: 'waiting' },
          { name: 'Completed', value: count(stats.completed), tone: 'good' },
          { name: 'Exited', value: count(stats.exited), tone: 'quiet' },
          { name: 'Failed', value: count(stats.failed), tone: 'bad' },
          { name: 'Cancelled', value: count(stats.cancelled), tone: 'quiet' },
        ]}
      />
      <div className="-mx-5 -mb-5 border-t border-edge">
        {definition ? (
          <Suspense fallback={<Skeleton className="h-104 w-full" />}>
            <FlowCanvas
              label={`Version ${publishedVersion}, with the number of contacts on each path`}
              definition={definition}
              names={names}
              counts={wayCounts(definition, stats)}
              chosen={step === '' ? null : step}
              onChoose={(key) => onStep(key === step ? '' : key)}
              className="h-104"
            />
          </Suspense>
        ) : (
          <Skeleton className="h-104 w-full" />
        )}
      </div>
    </Card>
  );
}
