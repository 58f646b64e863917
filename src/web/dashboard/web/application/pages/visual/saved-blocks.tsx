import { useEffect, useRef, useState } from 'react';
import type { Template } from '../../../../../client/operations.ts';
import { useChange, useList } from '../../api/queries.ts';
import { request } from '../../api/requests.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { Failed, Skeleton } from '../../ui/display/states.tsx';
import { Field, Form } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toast.tsx';

/**
 * Chooses one of the partials in MJML. `onPick` gets its source, and answers what keeps it from being
 * inserted.
 */
export function InsertSaved(props: {
  readonly onPick: (source: string, name: string) => string | null;
  readonly onClose: () => void;
}) {
  const list = useList('GET /templates', { query: { kind: 'partial', limit: 100 } });
  const [chosen, setChosen] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const { environment } = useViewer();
  const { onPick, onClose } = props;
  /** The one that is read; null once the dialog is gone. Of an earlier choice the answer is ignored. */
  const reading = useRef<object | null>(null);
  useEffect(
    () => () => {
      reading.current = null;
    },
    [],
  );
  // A cached answer may be older than what was saved elsewhere.
  const pick = async (id: string) => {
    const own = {};
    reading.current = own;
    const isLeft = () => reading.current !== own;
    setChosen(id);
    setProblem(null);
    try {
      const { data } = await request<Template>('GET', `${environment}/templates/${id}`);
      if (isLeft()) return;
      const refusal = onPick(data.mjml ?? '', data.name);
      if (refusal === null) onClose();
      else setProblem(refusal);
    } catch (error) {
      if (isLeft()) return;
      setProblem((error as Error).message);
    }
    setChosen(null);
  };
  const blocks = list.items?.filter(({ format }) => format === 'mjml');
  return (
    <Dialog title="Insert saved block" onClose={onClose}>
      <p className="text-dim">
        A copy is inserted, which you can change. To take a partial with all its later versions, write{' '}
        <code className="font-mono">{"{% render 'alias' %}"}</code> in Code.
      </p>
      {!blocks && list.error && <Failed error={list.error} onRetry={() => void list.refetch()} />}
      {!blocks && !list.error && <Skeleton className="h-24" />}
      {blocks?.length === 0 && (
        <p>There is no saved block yet. Choose a block, and press “Save block” above it.</p>
      )}
      <ul aria-label="Saved blocks" className="grid max-h-96 gap-1 overflow-y-auto">
        {blocks?.map(({ id, name }) => (
          <li key={id}>
            <Button
              look="quiet"
              busy={chosen === id}
              className="w-full justify-start"
              onClick={() => void pick(id)}
            >
              {name}
            </Button>
          </li>
        ))}
      </ul>
      <p role="alert" data-color="bad" className="state-text">
        {problem}
      </p>
    </Dialog>
  );
}

/** Saves the source of a block as a partial. */
export function SaveBlock(props: { readonly source: string; readonly onClose: () => void }) {
  const create = useChange('POST /templates');
  return (
    <Dialog title="Save block" onClose={props.onClose}>
      <Form
        action="Save block"
        onSend={async ({ name = '' }) => {
          await create.mutateAsync({
            body: { name, kind: 'partial', format: 'mjml', mjml: props.source },
          });
          toast(`Block “${name}” saved as a partial`);
          props.onClose();
        }}
      >
        <Field label="Name" name="name" hint="It is listed among the partials of your templates." />
      </Form>
    </Dialog>
  );
}
