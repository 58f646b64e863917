import { type ReactNode, useEffect, useRef } from 'react';
import { useRead } from '../../../api/queries.ts';
import { Progress } from '../../../ui/charts/progress.tsx';
import { count } from '../../../ui/display/format.ts';
import { Problem } from '../../../ui/forms/form.tsx';
import { Card } from '../../../ui/page.tsx';
import { ConsentCounts, Counts, ImportErrors } from './outcome.tsx';
import { Warnings } from './warnings.tsx';

/** The result of a check, with the import options when the file can be imported. */
export function CheckResult(props: { readonly id: string; readonly children: (rows: string) => ReactNode }) {
  const shown = useRef<HTMLDivElement>(null);
  const { data, error } = useRead('GET /contacts/imports/{id}', { path: { id: props.id } }, { every: 500 });
  const isOver = data !== undefined && data.endedAt !== null;
  useEffect(() => {
    if (isOver) shown.current?.scrollIntoView({ block: 'nearest' });
  }, [isOver]);
  const rows = data ? data.counts.created + data.counts.updated : 0;
  return (
    <div ref={shown}>
      <Card title="3. Review" about="The changes that the import would make.">
        {error && <Problem>{error.message}</Problem>}
        {data && !isOver && <Progress label="Progress of the check" value={data.progress} />}
        {data && isOver && (
          <>
            <Warnings title="Before you import" warnings={data.warnings} />
            <Counts run={data} />
            <ConsentCounts run={data} />
            <ImportErrors run={data} />
            <div className="flex justify-end" role="status">
              {data.status === 'completed' && rows > 0 ? (
                props.children(rows === 1 ? '1 row' : `${count(rows)} rows`)
              ) : (
                <p className="text-dim">There is nothing to import. Fix the file, or choose other columns.</p>
              )}
            </div>
          </>
        )}
      </Card>
    </div>
  );
}
