import { useState } from 'react';
import type { SuppressionImport } from '../../../../../client/operations.ts';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Figures } from '../../ui/charts/figures.tsx';
import { count } from '../../ui/display/format.ts';
import { FileField } from '../../ui/forms/file-field.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { Mistakes } from '../../ui/forms/mistakes.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';

/** Suppresses the addresses of a file. */
export function ImportSuppressions({ onClose }: { readonly onClose: () => void }) {
  const [file, setFile] = useState<File | null>(null);
  const [result, setResult] = useState<SuppressionImport | null>(null);
  const start = useChange('POST /suppressions/import', ['contacts']);
  if (result)
    return (
      <Dialog title="Suppressions imported" onClose={onClose} width="max-w-lg">
        <Figures
          figures={[
            { name: 'Added', value: count(result.counts.added), tone: 'good' },
            { name: 'Already suppressed', value: count(result.counts.known), tone: 'quiet' },
            { name: 'Errors', value: count(result.counts.failed), tone: 'bad' },
          ]}
        />
        {result.errors.length > 0 && <Mistakes mistakes={result.errors} />}
        <Button look="main" onClick={onClose}>
          Done
        </Button>
      </Dialog>
    );
  return (
    <Dialog title="Import suppressions" onClose={onClose} width="max-w-lg">
      <Form
        action="Import suppressions"
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async () => {
          if (!file) throw new Error('Choose a file first.');
          setResult(await start.mutateAsync({ body: new Blob([file], { type: 'text/csv' }) }));
        }}
      >
        <FileField
          label="Choose a CSV file, or drop it here"
          hint="A column “address” or “email”, and optionally “reason”; or the unchanged export of another service. Up to 1 MB."
          accept=".csv,text/csv"
          file={file}
          onFile={setFile}
        />
      </Form>
    </Dialog>
  );
}
