import { lazy, Suspense } from 'react';
import { useRead } from '../../api/queries.ts';
import { Skeleton } from '../../ui/display/states.tsx';
import { Page, PendingPage } from '../../ui/page.tsx';

const Editor = lazy(() => import('./template-editor.tsx'));

/** One template, in its editor. */
export default function TemplateDetail({ id }: { readonly id: string }) {
  const { data, error, refetch } = useRead('GET /templates/{id}', { path: { id } });
  const back = { to: '/templates', text: 'Templates' };
  const loading = (
    <Page title={data?.name ?? 'Template'} back={back}>
      <Skeleton className="h-136 w-full" />
    </Page>
  );
  if (error && !data)
    return <PendingPage title="Template" back={back} error={error} onRetry={() => void refetch()} />;
  return data ? (
    <Suspense fallback={loading}>
      <Editor template={data} />
    </Suspense>
  ) : (
    loading
  );
}
