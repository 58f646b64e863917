import { type ReactNode, useEffect, useRef } from 'react';
import { useRead } from '../../../api/queries.ts';
import { Progress } from '../../../ui/charts/progress.tsx';
import { count } from '../../../ui/display/format.ts';
import { Problem } from '../../../ui/forms/form.tsx';
import { Card } from '../../../ui/page.tsx';
import { ConsentCounts, Counts, ImportErrors } from './outcome.tsx';
import { Warnings } from './warnings.tsx';

/** What a check has found, with what is offered when the file can be imported. */
export function CheckResult(props: {
  readonly id: string;
  readonly children: (people: string) => ReactNode;
}) {
  const shown = useRef<HTMLDivElement>(null);
  const { data, error } = useRead('GET /contacts/imports/{id}', { path: { id: props.id } }, { every: 500 });
  const isOver = data !== undefined && data.endedAt !== null;
  useEffect(() => {
    if (isOver) shown.current?.scrollIntoView({ block: 'nearest' });
  }, [isOver]);
  const people = data ? data.counts.created + data.counts.updated : 0;
  return (
    <div ref={shown}>
      <Card title="3. The check" about="This is what the import would do.">
        {error && <Problem>{error.message}</Problem>}
        {data && !isOver && <Progress label="The check" value={data.progress} />}
        {data && isOver && (
          <>
            <Warnings title="Before you import it" warnings={data.warnings} />
            <Counts run={data} />
            <ConsentCounts run={data} />
            <ImportErrors run={data} />
            <div className="flex justify-end" role="status">
              {data.status === 'completed' && people > 0 ? (
                props.children(people === 1 ? '1 contact' : `${count(people)} contacts`)
              ) : (
                <p className="text-dim">
                  There is nothing to import. Mend the file, or choose other columns.
                </p>
              )}
            </div>
          </>
        )}
      </Card>
    </div>
  );
}
