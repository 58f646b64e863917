import { useRef, useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import type { ContactImportPlan } from '../../../../../../client/operations.ts';
import { useChange, useIsShown } from '../../../api/queries.ts';
import { useViewer } from '../../../api/viewer.tsx';
import { Button, ButtonLink } from '../../../ui/button.tsx';
import { Empty } from '../../../ui/display/states.tsx';
import { FileField } from '../../../ui/forms/file-field.tsx';
import { Choice, type Fields, Form, Problem } from '../../../ui/forms/form.tsx';
import { icons } from '../../../ui/icons.tsx';
import { Card, Page, ToLive } from '../../../ui/page.tsx';
import { useAudienceNames } from '../../names.ts';
import { CheckResult } from './check-result.tsx';
import { type ColumnTarget, columnsText, mappedBy } from './columns.ts';
import { Mapping } from './mapping.tsx';
import { useNewAudience } from './new-audience.ts';
import { Warnings } from './warnings.tsx';

const ON_CONFLICT = {
  upsert: 'Update them',
  skip: 'Skip them',
} as const;
const ON_ERROR = {
  continue: 'Skip the row and continue',
  abort: 'Import nothing',
} as const;

/** So much of a file is sent to ask how it is read; the check reads all of it. */
const SAMPLE_BYTES = 1_000_000;

/** The choice of an audience that the import creates; no id is like it. */
const NEW = 'new';

/** The name of an audience for the contacts of a file: that of the file. */
const nameOf = ({ name }: File): string =>
  name.replace(/\.[a-z0-9]+$/i, '').slice(0, 100) || 'Imported contacts';

interface ImportSelection {
  readonly file: File;
  readonly plan: ContactImportPlan;
}

/** Imports a CSV file: the file, its columns, a check that writes nothing, and then the import itself. */
export default function ImportWizard() {
  const { environment, may } = useViewer();
  const [chosen, setChosen] = useState<ImportSelection | null>(null);
  const [mapped, setMapped] = useState<readonly ColumnTarget[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  /** The check under way or over, and what it was a check of. */
  const [check, setCheck] = useState<{ readonly id: string; readonly fields: Fields } | null>(null);
  const [search] = useSearchParams();
  const [, navigate] = useLocation();
  const audiences = useAudienceNames();
  const start = useChange('POST /contacts/import', ['audiences']);
  const audience = useNewAudience();
  const isShown = useIsShown();
  /** Rises with each change of what would be imported: answers to what was asked before are not used. */
  const changes = useRef(0);
  const ask = useChange('POST /contacts/import/plan');
  const back = { to: '/contacts', text: 'Contacts' };
  if (!may('contacts:write'))
    return (
      <Page title="Import contacts" back={back}>
        <Empty title="Your role is read-only" icon={icons.Person}>
          <p>Members of the workspace can import contacts.</p>
        </Empty>
      </Page>
    );

  const change = (): number => {
    setCheck(null);
    return ++changes.current;
  };
  const take = async (file: File) => {
    const own = change();
    setChosen(null);
    setProblem(null);
    try {
      const plan = await ask.mutateAsync({
        query: { filename: file.name.slice(-255), partial: file.size > SAMPLE_BYTES },
        body: new Blob([file.slice(0, SAMPLE_BYTES)], { type: 'text/csv' }),
      });
      if (own !== changes.current) return;
      setChosen({ file, plan });
      setMapped(plan.columns.map(mappedBy));
    } catch (error) {
      if (own === changes.current) setProblem((error as Error).message);
    }
  };
  const send = async ({ onConflict, onError, audienceId: named = '' }: Fields, dryRun: boolean) => {
    if (!chosen) throw new Error('Choose a file first.');
    const begin = (audienceId: string) =>
      start.mutateAsync({
        query: {
          dryRun,
          onConflict: onConflict === 'skip' ? 'skip' : 'upsert',
          onError: onError === 'abort' ? 'abort' : 'continue',
          ...(audienceId !== '' && { audienceId }),
          columns: columnsText(chosen.plan, mapped),
          filename: chosen.file.name.slice(-255),
        },
        body: new Blob([chosen.file], { type: 'text/csv' }),
      });
    if (named !== NEW) return begin(named);
    // A check writes nothing, not even an audience.
    return dryRun ? begin('') : audience.startWith(nameOf(chosen.file), begin);
  };
  return (
    <Page
      title="Import contacts"
      back={back}
      about={
        <>
          From a CSV file of up to 50 MB. The file can unsubscribe contacts, but it never subscribes a contact
          again who unsubscribed.
          {environment === 'test' && (
            <>
              {' '}
              Contacts of the test environment get no campaigns:{' '}
              <ToLive to="/contacts/import">import into live</ToLive> to write to people.
            </>
          )}
        </>
      }
      actions={<ButtonLink to="/contacts/imports">Past imports</ButtonLink>}
    >
      <Card title="1. File">
        <FileField
          label="Choose a CSV file, or drop it here"
          hint="The first row names the columns. Encoding and delimiter are detected."
          accept=".csv,.tsv,.txt,text/csv"
          file={chosen?.file ?? null}
          onFile={(file) => void take(file)}
        />
        {problem !== null && <Problem>{problem}</Problem>}
      </Card>
      {chosen && (
        <Card title="2. Columns" about="With values of the first rows.">
          <Form
            action="Check file"
            aside={
              <span className="mr-auto self-center text-caption text-dim">The check writes nothing.</span>
            }
            onSend={async (fields) => {
              const own = changes.current;
              const { id } = await send(fields, true);
              if (own === changes.current) setCheck({ id, fields });
            }}
          >
            <Warnings title="Check this first" warnings={chosen.plan.warnings} />
            <Mapping
              plan={chosen.plan}
              mapped={mapped}
              onChange={(next) => {
                change();
                setMapped(next);
              }}
            />
            <div className="grid gap-4 lg:grid-cols-3">
              <Choice label="Existing contacts" name="onConflict" options={ON_CONFLICT} onChange={change} />
              <Choice label="Rows with errors" name="onError" options={ON_ERROR} onChange={change} />
              <Choice
                label="Add all contacts to"
                name="audienceId"
                options={{ '': 'No audience', [NEW]: `New audience “${nameOf(chosen.file)}”`, ...audiences }}
                defaultValue={search.get('audience') ?? ''}
                key={Object.keys(audiences).length}
                onChange={change}
              />
            </div>
          </Form>
        </Card>
      )}
      {check && (
        <CheckResult id={check.id}>
          {(rows) => (
            <Button
              look="main"
              busy={start.isPending || audience.isPending}
              onClick={() =>
                void send(check.fields, false)
                  .then(({ id }) => isShown.current && navigate(`/contacts/imports/${id}`))
                  .catch((error: Error) => setProblem(error.message))
              }
            >
              Import {rows}
            </Button>
          )}
        </CheckResult>
      )}
    </Page>
  );
}
