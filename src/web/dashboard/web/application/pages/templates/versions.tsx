import { lazy, Suspense, useState } from 'react';
import { useSearchParams } from 'wouter';
import type { TemplateVersion } from '../../../../../client/operations.ts';
import { useChange, useList, useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { Failed, Skeleton } from '../../ui/display/states.tsx';
import { Time } from '../../ui/display/time.tsx';
import { toast, toastProblem } from '../../ui/overlays/toast.tsx';
import { Page } from '../../ui/page.tsx';
import { FORMATS, sourceOf } from './formats.ts';

const Comparison = lazy(() => import('../../ui/forms/code-editor.tsx'));

/** The versions of a template, each beside the one that is sent. */
export default function Versions({ id }: { readonly id: string }) {
  const { may } = useViewer();
  const [search, setSearch] = useSearchParams();
  const template = useRead('GET /templates/{id}', { path: { id } });
  const list = useList('GET /templates/{id}/versions', { path: { id } });
  const publish = useChange('POST /templates/{id}/publish');
  const restore = useChange('POST /templates/{id}/restore');
  const [isBusy, setBusy] = useState(false);
  const current = template.data?.version;
  const chosen = Number(search.get('version') ?? list.items?.[0]?.version ?? 0);
  const version = (number: number | undefined) => ({ path: { id, version: String(number ?? 0) } });
  const shown = useRead('GET /templates/{id}/versions/{version}', version(chosen), { enabled: chosen > 0 });
  const sent = useRead('GET /templates/{id}/versions/{version}', version(current), {
    enabled: current !== undefined,
  });
  const error = template.error ?? list.error ?? shown.error;
  const isNewer = current !== undefined && chosen > current;
  const act = async () => {
    setBusy(true);
    try {
      await (isNewer ? publish : restore).mutateAsync({ path: { id }, body: { version: chosen } });
      toast(isNewer ? `Version ${chosen} published` : `Version ${chosen} restored as a new version`);
    } catch (problem) {
      toastProblem(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Page
      title={template.data ? `Versions of “${template.data.name}”` : 'Versions'}
      back={{ to: `/templates/${id}`, text: template.data?.name ?? 'Template' }}
      actions={
        may('templates:write') &&
        shown.data &&
        !shown.data.isCurrent && (
          <Button look="main" busy={isBusy} onClick={() => void act()}>
            {isNewer ? `Publish version ${chosen}` : `Restore version ${chosen}`}
          </Button>
        )
      }
    >
      {error && <Failed error={error} onRetry={() => void list.refetch()} />}
      <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[17rem_minmax(0,1fr)]">
        <fieldset className="card grid overflow-hidden">
          <legend className="sr-only">Versions, newest first</legend>
          {list.items === undefined && <Skeleton className="m-4 h-20" />}
          {list.items?.map((each) => (
            <label
              key={each.version}
              className="relative flex min-h-11 cursor-pointer flex-wrap items-center gap-x-2 border-b border-edge px-4 py-2 last:border-0 hover:bg-hover has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:-outline-offset-2 has-focus-visible:outline-accent"
            >
              <input
                type="radio"
                name="version"
                className="sr-only"
                checked={each.version === chosen}
                onChange={() => setSearch({ version: String(each.version) }, { replace: true })}
              />
              <span className="font-medium">Version {each.version}</span>
              {each.isCurrent && <Badge status="current" tone="good" />}
              {current !== undefined && each.version > current && <Badge status="draft" tone="waiting" />}
              <span className="ml-auto text-caption text-dim">
                <Time at={each.createdAt} />
              </span>
            </label>
          ))}
          {list.hasNextPage && (
            <Button look="quiet" onClick={() => void list.fetchNextPage()}>
              Show earlier versions
            </Button>
          )}
        </fieldset>
        <section aria-label="Differences" className="card overflow-hidden">
          <header className="border-b border-edge px-4 py-3">
            <h2 className="font-medium">
              {shown.data?.isCurrent === true
                ? `Version ${chosen}, published`
                : `Version ${chosen}, compared with published version ${current ?? '–'}`}
            </h2>
            {shown.data && sent.data && <Differences before={sent.data} after={shown.data} />}
          </header>
          <div className="h-136">
            {shown.data && sent.data ? (
              <Suspense fallback={<Skeleton className="m-4 h-64" />}>
                <Comparison
                  key={`${chosen} ${current}`}
                  label={`Source of version ${chosen}`}
                  language={FORMATS[shown.data.format].language}
                  value={sourceOf(shown.data)}
                  isReadOnly
                  {...(!shown.data.isCurrent && { before: sourceOf(sent.data) })}
                />
              </Suspense>
            ) : (
              <Skeleton className="m-4 h-64" />
            )}
          </div>
        </section>
      </div>
    </Page>
  );
}

const LINES = { subject: 'Subject', previewText: 'Preview text', from: 'From' } as const;

/** The changes besides the source. */
function Differences({
  before,
  after,
}: {
  readonly before: TemplateVersion;
  readonly after: TemplateVersion;
}) {
  const changed = Object.entries(LINES).filter(
    ([key]) => before[key as keyof typeof LINES] !== after[key as keyof typeof LINES],
  );
  const hasOther = JSON.stringify(before.variables) !== JSON.stringify(after.variables);
  if (changed.length === 0 && !hasOther) return null;
  return (
    <ul className="mt-1 grid gap-1 text-caption">
      {changed.map(([key, text]) => (
        <li key={key} className="break-words">
          <span className="text-dim">{text}: </span>
          <del data-color="bad" className="state-text">
            {before[key as keyof typeof LINES] ?? 'none'}
          </del>{' '}
          <ins data-color="good" className="state-text no-underline">
            {after[key as keyof typeof LINES] ?? 'none'}
          </ins>
        </li>
      ))}
      {hasOther && <li className="text-dim">The declared variables differ.</li>}
    </ul>
  );
}
