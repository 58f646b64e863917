import { lazy, Suspense, useState } from 'react';
import type { FlowDefinition } from '../../../../../../../machines/flow-run/definition.ts';
import type { Flow, FlowVersion } from '../../../../../client/operations.ts';
import { useList } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { Failed, Skeleton } from '../../ui/display/states.tsx';
import { Time } from '../../ui/display/time.tsx';
import { Card } from '../../ui/page.tsx';
import { type Difference, definitionOf, differencesOf } from './definition.ts';
import { type Names, useNames } from './words.ts';

const FlowCanvas = lazy(() => import('./canvas/flow-canvas.tsx'));

/** The versions of a flow: what runs, and beside it what was written since, with what is different. */
export default function Versions({
  flow,
  onTake,
}: {
  readonly flow: Flow;
  readonly onTake: (definition: FlowDefinition) => void;
}) {
  const { may } = useViewer();
  const names = useNames();
  const list = useList('GET /flows/{id}/versions', { path: { id: flow.id } });
  const [chosen, setChosen] = useState<number | null>(null);
  if (list.error && !list.items) return <Failed error={list.error} onRetry={() => void list.refetch()} />;
  if (!list.items) return <Skeleton className="h-136 w-full" />;
  const newest = list.items[0];
  const other =
    list.items.find(({ version }) => version === (chosen ?? flow.publishedVersion)) ?? list.items[1] ?? null;
  const left = other === newest ? null : other;
  const differences = left && newest ? differencesOf(definitionOf(left), definitionOf(newest)) : null;
  return (
    <div className="grid gap-5">
      <div className={`grid gap-5 ${left ? 'xl:grid-cols-2' : ''}`}>
        {left && (
          <Shown
            version={left}
            flow={flow}
            names={names}
            differences={only(differences, ['removed', 'changed'])}
          />
        )}
        {newest && (
          <Shown
            version={newest}
            flow={flow}
            names={names}
            differences={only(differences, ['added', 'changed'])}
          />
        )}
      </div>
      <Card title="All versions" about="A version that has run never changes: open runs keep it.">
        <ul className="-mx-5 -mb-5 grid border-t border-edge">
          {list.items.map((each) => (
            <li
              key={each.version}
              className="flex min-h-13 flex-wrap items-center gap-x-4 gap-y-1 border-b border-edge px-5 py-2 last:border-0"
            >
              <span className="num w-20 font-medium">Version {each.version}</span>
              <State version={each} flow={flow} />
              <span className="min-w-0 flex-1 text-dim">
                {each.publishedAt === null ? (
                  <>
                    saved <Time at={each.createdAt} />
                  </>
                ) : (
                  <>
                    activated <Time at={each.publishedAt} />
                  </>
                )}
              </span>
              {each !== newest && (
                <Button look="quiet" aria-pressed={left === each} onClick={() => setChosen(each.version)}>
                  Compare
                </Button>
              )}
              {each !== newest && may('campaigns:write') && (
                <Button look="quiet" onClick={() => onTake(definitionOf(each))}>
                  Restore version
                </Button>
              )}
            </li>
          ))}
        </ul>
      </Card>
    </div>
  );
}

const only = (
  differences: ReadonlyMap<string, Difference> | null,
  wanted: readonly Difference[],
): ReadonlyMap<string, Difference> =>
  new Map([...(differences ?? [])].filter(([, difference]) => wanted.includes(difference)));

const State = ({ version, flow }: { readonly version: FlowVersion; readonly flow: Flow }) =>
  version.version === flow.publishedVersion ? (
    <Badge status={flow.status} tone={flow.status === 'active' ? 'good' : 'waiting'}>
      {flow.status === 'active' ? 'Running' : 'Paused'}
    </Badge>
  ) : version.publishedAt === null ? (
    <Badge status="draft" tone="quiet">
      Draft
    </Badge>
  ) : (
    <Badge status="earlier" tone="quiet">
      Ran before
    </Badge>
  );

function Shown({
  version,
  flow,
  names,
  differences,
}: {
  readonly version: FlowVersion;
  readonly flow: Flow;
  readonly names: Names;
  readonly differences: ReadonlyMap<string, Difference>;
}) {
  const title = `Version ${version.version}`;
  return (
    <section aria-label={title} className="card min-w-0 overflow-hidden">
      <header className="flex items-center gap-3 border-b border-edge px-4 py-2.5">
        <h2 className="flex-1 text-heading font-semibold">{title}</h2>
        <State version={version} flow={flow} />
      </header>
      <Suspense fallback={<Skeleton className="h-136 w-full" />}>
        <FlowCanvas
          label={`Canvas of version ${version.version}`}
          definition={definitionOf(version)}
          names={names}
          differences={differences}
          isWhole
          className="h-136"
        />
      </Suspense>
    </section>
  );
}
