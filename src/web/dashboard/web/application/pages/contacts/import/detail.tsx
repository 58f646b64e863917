import { useState } from 'react';
import { useChange, useRead } from '../../../api/queries.ts';
import { useViewer } from '../../../api/viewer.tsx';
import { Button, ButtonLink } from '../../../ui/button.tsx';
import { Progress } from '../../../ui/charts/progress.tsx';
import { Badge } from '../../../ui/display/badge.tsx';
import { sizeText } from '../../../ui/display/format.ts';
import { Failed, Skeleton } from '../../../ui/display/states.tsx';
import { Time } from '../../../ui/display/time.tsx';
import { Problem } from '../../../ui/forms/form.tsx';
import { Confirm } from '../../../ui/overlays/confirm.tsx';
import { toast } from '../../../ui/overlays/toast.tsx';
import { Card, Facts, Page } from '../../../ui/page.tsx';
import { useAudienceNames } from '../../names.ts';
import { ConsentCounts, Counts, ImportErrors } from './outcome.tsx';
import { Warnings } from './warnings.tsx';

const WHY = {
  rows_refused: 'A row is wrong, and the import was to write nothing at all then.',
  file_lost: 'The file could not be read again. Import it once more.',
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
    return (
      <Page title="Import" back={back}>
        <Failed error={error} onRetry={() => void refetch()} />
      </Page>
    );
  return (
    <Page
      title={data?.dryRun === true ? 'Check of a file' : 'Import of contacts'}
      back={back}
      about={data && <Badge status={data.status} />}
      actions={
        data &&
        (data.endedAt === null
          ? may('contacts:write') && <Button onClick={() => setAsking(true)}>Cancel the import</Button>
          : !data.dryRun && (
              <ButtonLink
                to={data.audienceId === null ? '/contacts' : `/audiences/${data.audienceId}`}
                look="main"
              >
                Show the contacts
              </ButtonLink>
            ))
      }
    >
      <Card title="Rows">
        {data ? (
          <>
            {data.endedAt === null && <Progress label="The import" value={data.progress} />}
            <Warnings title="About this file" warnings={data.warnings} />
            <Counts run={data} />
            <ConsentCounts run={data} />
            {data.failureReason && <Problem>{WHY[data.failureReason]}</Problem>}
            <ImportErrors run={data} />
          </>
        ) : (
          <Skeleton className="h-24 w-full" />
        )}
      </Card>
      {data && (
        <Card title="The file">
          <Facts
            facts={{
              Started: <Time at={data.createdAt} />,
              Ended: data.endedAt && <Time at={data.endedAt} />,
              Size: sizeText(data.bytes),
              Encoding: data.encoding,
              Delimiter: data.delimiter === '\t' ? 'tab' : data.delimiter,
              Audience: data.audienceId && (names[data.audienceId] ?? data.audienceId),
              Columns: data.columns
                .map(({ header, target }) => `${header || '(no name)'} → ${target ?? 'left out'}`)
                .join(', '),
            }}
          />
        </Card>
      )}
      {isAsking && (
        <Confirm
          title="Cancel this import?"
          action="Cancel the import"
          keep="Let it go on"
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            await cancel.mutateAsync({ path: { id } });
            toast('The import is cancelled.');
          }}
        >
          What was written up to now stays.
        </Confirm>
      )}
    </Page>
  );
}
