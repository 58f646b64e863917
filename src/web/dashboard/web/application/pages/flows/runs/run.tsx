import { lazy, Suspense, useState } from 'react';
import { Link } from 'wouter';
import type { FlowRun } from '../../../../../../client/operations.ts';
import { useChange, useRead } from '../../../api/queries.ts';
import { useViewer } from '../../../api/viewer.tsx';
import { Button } from '../../../ui/button.tsx';
import { Timeline } from '../../../ui/charts/timeline.tsx';
import { Badge, toneOf } from '../../../ui/display/badge.tsx';
import { Skeleton } from '../../../ui/display/states.tsx';
import { Time } from '../../../ui/display/time.tsx';
import { Confirm } from '../../../ui/overlays/confirm.tsx';
import { Card, Facts, Page, PendingPage } from '../../../ui/page.tsx';
import { definitionOf } from '../definition.ts';
import { outcomeText, RUN_STATUSES, useNames } from '../words.ts';
import { ContactName } from './runs.tsx';
import { takenBy } from './taken.ts';

const FlowCanvas = lazy(() => import('../canvas/flow-canvas.tsx'));

/** One run: its path over its version of the drawing, and the outcome of each step. */
export default function Run({ flowId, id }: { readonly flowId: string; readonly id: string }) {
  const { may } = useViewer();
  const [isEnding, setEnding] = useState(false);
  const back = { to: `/flows/${flowId}?tab=runs`, text: 'Runs' };
  const { data: run, error, refetch } = useRead('GET /flows/runs/{id}', { path: { id } });
  const cancel = useChange('DELETE /flows/runs/{id}');
  if (!run) return <PendingPage title="Run" back={back} error={error} onRetry={() => void refetch()} />;
  const isOpen = run.status === 'running' || run.status === 'waiting';
  return (
    <Page
      title="Run"
      heading={
        <Link href={`/contacts/${run.contactId}`} className="hover:underline">
          <ContactName id={run.contactId} />
        </Link>
      }
      back={back}
      about={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1" role="status">
          <Badge status={run.status}>{RUN_STATUSES[run.status]}</Badge>
          {run.wakesAt !== null && (
            <span>
              continues <Time at={run.wakesAt} />
            </span>
          )}
          {run.reason !== null && <span>{run.reason}</span>}
        </span>
      }
      actions={
        isOpen && may('campaigns:write') && <Button onClick={() => setEnding(true)}>Cancel run</Button>
      }
    >
      <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <RunDrawing run={run} />
        <div className="grid gap-5">
          <Card title="Timeline">
            {run.log.length === 0 ? (
              <p className="text-dim">No step is complete yet.</p>
            ) : (
              <Timeline
                label="Outcome of each step"
                isExact
                moments={run.log.map(({ step, at, outcome, emailId }, index) => ({
                  key: `${index} ${step}`,
                  at,
                  what: outcomeText(outcome),
                  tone: outcome.startsWith('skipped') ? 'waiting' : toneOf(outcome),
                  more: (
                    <>
                      <span className="font-mono">{step}</span>
                      {emailId !== null && (
                        <>
                          {' · '}
                          <Link href={`/emails/${emailId}`} className="link">
                            view email
                          </Link>
                        </>
                      )}
                    </>
                  ),
                }))}
              />
            )}
          </Card>
          <Card title="Details">
            <Facts
              facts={{
                Version: run.flowVersion,
                Started: <Time at={run.startedAt} />,
                Ended: run.endedAt && <Time at={run.endedAt} />,
                'Current step': run.currentStep && (
                  <span className="font-mono text-caption">{run.currentStep}</span>
                ),
              }}
            />
          </Card>
        </div>
      </div>
      {isEnding && (
        <Confirm
          title="Cancel this run?"
          action="Cancel run"
          keep="Keep run"
          onClose={() => setEnding(false)}
          done="Run cancelled"
          onConfirm={() => cancel.mutateAsync({ path: { id } })}
        >
          The run takes no further steps. This cannot be undone.
        </Confirm>
      )}
    </Page>
  );
}

function RunDrawing({ run }: { readonly run: FlowRun }) {
  const names = useNames();
  const { data } = useRead('GET /flows/{id}/versions/{version}', {
    path: { id: run.flowId, version: String(run.flowVersion) },
  });
  const definition = data && definitionOf(data);
  return (
    <section aria-label="Path taken" className="card overflow-hidden">
      {definition ? (
        <Suspense fallback={<Skeleton className="h-136 w-full" />}>
          <FlowCanvas
            label="Path that the run took"
            definition={definition}
            names={names}
            taken={takenBy(definition, run.log, run.currentStep)}
            className="h-136"
          />
        </Suspense>
      ) : (
        <Skeleton className="h-136 w-full" />
      )}
    </section>
  );
}
