import { lazy, Suspense } from 'react';
import { useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Failed, Skeleton } from '../../ui/display/states.tsx';
import { Page } from '../../ui/page.tsx';
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
  if (error && !data)
    return (
      <Page title="Campaign" back={back}>
        <Failed error={error} onRetry={() => void refetch()} />
      </Page>
    );
  if (!data) return loading;
  return data.status === 'draft' && may('campaigns:write') ? (
    <Suspense fallback={loading}>
      <Editor campaign={data} />
    </Suspense>
  ) : (
    <CampaignRun campaign={data} />
  );
}
