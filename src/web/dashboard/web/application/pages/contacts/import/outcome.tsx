import type { ContactImport } from '../../../api/operations.ts';
import { useDownload } from '../../../api/queries.ts';
import { Download } from '../../../ui/button.tsx';
import { Figures } from '../../../ui/charts/figures.tsx';
import { PartsBar } from '../../../ui/charts/progress.tsx';
import { count } from '../../../ui/display/format.ts';
import { Mistakes } from '../../../ui/forms/mistakes.tsx';

/** The rows of an import by what became of them. */
export function Counts({ run: { counts, dryRun } }: { readonly run: ContactImport }) {
  const { total, created, updated, skipped, failed } = counts;
  return (
    <div className="grid gap-4">
      <PartsBar
        total={total}
        parts={[
          { name: 'created', value: created, tone: 'good' },
          { name: 'updated', value: updated, tone: 'moving' },
          { name: 'skipped', value: skipped, tone: 'quiet' },
          { name: 'failed', value: failed, tone: 'bad' },
        ]}
      />
      <Figures
        figures={[
          { name: 'Rows', value: count(total) },
          { name: dryRun ? 'New' : 'Added', value: count(created), tone: 'good' },
          { name: dryRun ? 'To update' : 'Updated', value: count(updated), tone: 'moving' },
          { name: 'Left as they are', value: count(skipped), tone: 'quiet' },
          { name: 'Wrong', value: count(failed), tone: 'bad' },
        ]}
      />
    </div>
  );
}

/** Who is not subscribed by the file, where there is anyone. */
export function ConsentCounts({ run: { consent, dryRun } }: { readonly run: ContactImport }) {
  const { lowered, keptOut, addedOut } = consent;
  if (lowered + keptOut + addedOut === 0) return null;
  return (
    <section aria-label="Who is not subscribed" className="grid gap-2">
      <h3 className="font-medium">Who is not subscribed</h3>
      <Figures
        figures={[
          {
            name: dryRun ? 'New, and not subscribed' : 'Added, and not subscribed',
            value: count(addedOut),
            tone: 'quiet',
          },
          {
            name: dryRun ? 'To be taken down' : 'Taken down by the file',
            value: count(lowered),
            tone: 'bad',
          },
          { name: 'Had left, and stay out', value: count(keptOut), tone: 'quiet' },
        ]}
      />
    </section>
  );
}

/** The first mistakes of a file; all of them are in a file of their own. */
export function ImportErrors({ run }: { readonly run: ContactImport }) {
  const all = useDownload('GET /contacts/imports/{id}/errors', { path: { id: run.id } });
  if (run.errors.length === 0) return null;
  return (
    <section aria-label="Mistakes" className="grid gap-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h3 className="font-medium">
          {run.errors.length < run.counts.failed
            ? `The first ${run.errors.length} of ${count(run.counts.failed)} mistakes`
            : 'Mistakes'}
        </h3>
        <Download href={all} name="mistakes.csv">
          Download all
        </Download>
      </div>
      <Mistakes mistakes={run.errors} />
    </section>
  );
}
