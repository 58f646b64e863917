import { lazy, Suspense } from 'react';
import { useLocation } from 'wouter';
import type { Flow } from '../../../../../client/operations.ts';
import { useRead } from '../../api/queries.ts';
import { Badge } from '../../ui/display/badge.tsx';
import { Skeleton } from '../../ui/display/states.tsx';
import { Page, PendingPage } from '../../ui/page.tsx';
import { Tabs, useTab } from '../../ui/tabs.tsx';
import { FlowActions } from './actions.tsx';
import { Runs } from './runs/runs.tsx';
import { useFlowDraft } from './use-flow-draft.ts';
import { STATUSES } from './words.ts';

const Drawing = lazy(() => import('./canvas/drawing.tsx'));
const Simulate = lazy(() => import('./runs/simulate.tsx'));
const Versions = lazy(() => import('./versions.tsx'));

const TABS = { drawing: 'Canvas', try: 'Simulate', runs: 'Runs', versions: 'Versions' } as const;
const BACK = { to: '/flows', text: 'Flows' } as const;

/** One flow: what it does, what it would do, and what it has done. */
export default function FlowDetail({ id }: { readonly id: string }) {
  const { data, error, refetch } = useRead('GET /flows/{id}', { path: { id } });
  return data ? (
    <Loaded flow={data} />
  ) : (
    <PendingPage title="Flow" back={BACK} error={error} onRetry={() => void refetch()} />
  );
}

function Loaded({ flow }: { readonly flow: Flow }) {
  const tab = useTab(TABS);
  const edited = useFlowDraft(flow);
  const [, navigate] = useLocation();
  const { status, version, publishedVersion } = flow;
  return (
    <Page
      title={flow.name}
      back={BACK}
      about={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1" role="status">
          <Badge status={status}>{STATUSES[status]}</Badge>
          {publishedVersion === null
            ? 'No version has run yet.'
            : publishedVersion === version
              ? `Version ${version}`
              : `Version ${publishedVersion} runs; version ${version} is a draft beside it.`}
        </span>
      }
      actions={<FlowActions flow={flow} edited={edited} />}
    >
      <Tabs label="Flow views" tabs={TABS} current={tab} />
      <Suspense fallback={<Skeleton className="h-136 w-full" />}>
        {tab === 'drawing' && <Drawing flow={flow} edited={edited} />}
        {tab === 'try' && <Simulate flow={flow} edited={edited} />}
        {tab === 'runs' && <Runs flow={flow} />}
        {tab === 'versions' && (
          <Versions
            flow={flow}
            onTake={(definition) => {
              edited.set(definition);
              navigate(`/flows/${flow.id}`);
            }}
          />
        )}
      </Suspense>
    </Page>
  );
}
