import type { ContactImport } from '../../../../../../client/operations.ts';
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
          // An address that comes again in the file updates the contact that its first row adds.
          { name: dryRun ? 'Updates' : 'Updated', value: count(updated), tone: 'moving' },
          { name: 'Unchanged', value: count(skipped), tone: 'quiet' },
          { name: 'Errors', value: count(failed), tone: 'bad' },
        ]}
      />
    </div>
  );
}

/** The contacts that the file does not subscribe, where there are any. */
export function ConsentCounts({ run: { consent, dryRun } }: { readonly run: ContactImport }) {
  const { lowered, keptOut, addedOut } = consent;
  if (lowered + keptOut + addedOut === 0) return null;
  return (
    <section aria-label="Not subscribed" className="grid gap-2">
      <h3 className="font-medium">Not subscribed</h3>
      <Figures
        figures={[
          {
            name: dryRun ? 'New, not subscribed' : 'Added, not subscribed',
            value: count(addedOut),
            tone: 'quiet',
          },
          {
            name: dryRun ? 'To unsubscribe' : 'Unsubscribed by the file',
            value: count(lowered),
            tone: 'bad',
          },
          { name: 'Unsubscribed before, kept so', value: count(keptOut), tone: 'quiet' },
        ]}
      />
    </section>
  );
}

/** The first mistakes of a file; all of them are in a separate file. */
export function ImportErrors({ run }: { readonly run: ContactImport }) {
  const all = useDownload('GET /contacts/imports/{id}/errors', { path: { id: run.id } });
  if (run.errors.length === 0) return null;
  return (
    <section aria-label="Errors" className="grid gap-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h3 className="font-medium">
          {run.errors.length < run.counts.failed
            ? `First ${run.errors.length} of ${count(run.counts.failed)} errors`
            : 'Errors'}
        </h3>
        <Download href={all} name="mistakes.csv">
          Download all errors
        </Download>
      </div>
      <Mistakes mistakes={run.errors} />
    </section>
  );
}
