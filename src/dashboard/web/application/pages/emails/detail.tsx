import { useRead } from '../../api/queries.ts';
import { Badge } from '../../ui/badge.tsx';
import { Card, Facts, Page } from '../../ui/page.tsx';
import { Failed, Skeleton } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';

/** One email. */
export default function EmailDetail({ id }: { readonly id: string }) {
  const { data, error, refetch } = useRead('GET /emails/{id}', { path: { id } }, { every: 5_000 });
  const back = { to: '/emails', text: 'Emails' };
  if (error && !data)
    return (
      <Page title="Email" back={back}>
        <Failed error={error} onRetry={() => void refetch()} />
      </Page>
    );
  return (
    <Page title={data?.subject ?? 'Email'} back={back} about={data && <Badge status={data.status} />}>
      <Card title="Envelope">
        {data ? (
          <Facts
            facts={{ From: data.from, To: data.to.join(', '), Accepted: <Time at={data.createdAt} /> }}
          />
        ) : (
          <Skeleton className="h-40 w-full" />
        )}
      </Card>
    </Page>
  );
}
