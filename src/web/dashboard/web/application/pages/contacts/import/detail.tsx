import { useState } from 'react';
import { Link } from 'wouter';
import { useChange, useRead } from '../../../api/queries.ts';
import { useViewer } from '../../../api/viewer.tsx';
import { Button, ButtonLink } from '../../../ui/button.tsx';
import { Progress } from '../../../ui/charts/progress.tsx';
import { Badge } from '../../../ui/display/badge.tsx';
import { sizeText } from '../../../ui/display/format.ts';
import { Skeleton } from '../../../ui/display/states.tsx';
import { Time } from '../../../ui/display/time.tsx';
import { Problem } from '../../../ui/forms/form.tsx';
import { Confirm } from '../../../ui/overlays/confirm.tsx';
import { Card, Facts, Page, PendingPage } from '../../../ui/page.tsx';
import { useAudienceNames } from '../../names.ts';
import { ConsentCounts, Counts, ImportErrors } from './outcome.tsx';
import { Warnings } from './warnings.tsx';

const WHY = {
  rows_refused: 'A row has an error, and the import was set to stop at the first error.',
  file_lost: 'The file could not be read. Import it again.',
} as const;

/** One import: how far it is, and what became of its rows. */
export default function ImportDetail({ id }: { readonly id: string }) {
  const { may } = useViewer();
  const [isOver, setOver] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const { data, error, refetch } = useRead(
    'GET /contacts/imports/{id}',
    { path: { id } },
    { every: isOver ? false : 800 },
  );
  const cancel = useChange('POST /contacts/imports/{id}/cancel');
  const names = useAudienceNames();
  const back = { to: '/contacts/imports', text: 'Imports' };
  if (data?.endedAt && !isOver) setOver(true);
  if (error && !data)
    return <PendingPage title="Import" back={back} error={error} onRetry={() => void refetch()} />;
  return (
    <Page
      title={data?.dryRun === true ? 'Check of a file' : 'Import of contacts'}
      back={back}
      about={data && <Badge status={data.status} />}
      actions={
        data &&
        (data.endedAt === null
          ? may('contacts:write') && <Button onClick={() => setAsking(true)}>Cancel import</Button>
          : !data.dryRun && (
              <ButtonLink
                to={data.audienceId === null ? '/contacts' : `/audiences/${data.audienceId}`}
                look="main"
              >
                View contacts
              </ButtonLink>
            ))
      }
    >
      <Card title="Rows">
        {data ? (
          <>
            {data.endedAt === null && <Progress label="Progress of the import" value={data.progress} />}
            <Warnings title="Details" warnings={data.warnings} />
            <Counts run={data} />
            <ConsentCounts run={data} />
            {data.failureReason && <Problem>{WHY[data.failureReason]}</Problem>}
            <ImportErrors run={data} />
            {data.endedAt !== null && data.counts.created > 0 && may('contacts:write') && !data.dryRun && (
              <p className="text-dim">
                Was it the wrong file? View the{' '}
                <Link href={`/contacts?import=${id}`} className="link">
                  contacts that were added
                </Link>{' '}
                while the import ran, select them and delete them. Updated contacts keep their new values.
              </p>
            )}
          </>
        ) : (
          <Skeleton className="h-24 w-full" />
        )}
      </Card>
      {data && (
        <Card title="File">
          <Facts
            facts={{
              Started: <Time at={data.createdAt} />,
              Ended: data.endedAt && <Time at={data.endedAt} />,
              Size: sizeText(data.bytes),
              Encoding: data.encoding,
              Delimiter: data.delimiter === '\t' ? 'tab' : data.delimiter,
              Audience: data.audienceId && (
                <Link href={`/audiences/${data.audienceId}`} className="link">
                  {names[data.audienceId] ?? data.audienceId}
                </Link>
              ),
              Columns: data.columns
                .map(({ header, target }) => `${header || '(no name)'} → ${target ?? 'excluded'}`)
                .join(', '),
            }}
          />
        </Card>
      )}
      {isAsking && (
        <Confirm
          title="Cancel this import?"
          action="Cancel import"
          keep="Keep importing"
          onClose={() => setAsking(false)}
          done="Import cancelled"
          onConfirm={() => cancel.mutateAsync({ path: { id } })}
        >
          Contacts that were already written are kept.
        </Confirm>
      )}
    </Page>
  );
}
