import { lazy, Suspense } from 'react';
import { useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Skeleton } from '../../ui/display/states.tsx';
import { Page, PendingPage } from '../../ui/page.tsx';
import { CampaignRun } from './run.tsx';

const Editor = lazy(() => import('./campaign-editor.tsx'));

/** One campaign: in its editor while it is a draft, and as what becomes of it afterwards. */
export default function CampaignDetail({ id }: { readonly id: string }) {
  const { may } = useViewer();
  const { data, error, refetch } = useRead('GET /campaigns/{id}', { path: { id } });
  const back = { to: '/campaigns', text: 'Campaigns' };
  const loading = (
    <Page title={data?.name ?? 'Campaign'} back={back}>
      <Skeleton className="h-96 w-full" />
    </Page>
  );
  if (!data) return <PendingPage title="Campaign" back={back} error={error} onRetry={() => void refetch()} />;
  return data.status === 'draft' && may('campaigns:write') ? (
    <Suspense fallback={loading}>
      <Editor campaign={data} />
    </Suspense>
  ) : (
    <CampaignRun campaign={data} />
  );
}
