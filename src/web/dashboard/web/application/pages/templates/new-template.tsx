import { useState } from 'react';
import { useLocation } from 'wouter';
import { useChange, useRead } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { ChoiceCards } from '../../ui/forms/choice-cards.tsx';
import { Field, Form } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { KINDS, type Kind } from './formats.ts';
import { branded, type Starter } from './starters/pieces.ts';
import { STARTERS } from './starters.ts';

/** Creates a template from a starter and opens it. */
export function NewTemplate(props: { readonly kind: Kind; readonly onClose: () => void }) {
  const { onClose } = props;
  const [kind, setKind] = useState(props.kind);
  const starters: Readonly<Record<string, Starter>> = STARTERS[kind];
  const [chosen, setChosen] = useState('');
  const starter = chosen in starters ? chosen : (Object.keys(starters)[0] ?? '');
  const create = useChange('POST /templates');
  const { data: workspace } = useRead('GET /workspace', {});
  const [, navigate] = useLocation();
  return (
    <Dialog title="New template" onClose={onClose} width="max-w-3xl">
      <Form
        action={`Create ${KINDS[kind].title.toLowerCase()}`}
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async ({ name = '', alias = '' }) => {
          const content = starters[starter]?.content;
          const { id } = await create.mutateAsync({
            body: {
              name,
              kind,
              ...content,
              ...(content?.mjml && { mjml: branded(content.mjml, workspace?.branding) }),
              ...(alias.trim() !== '' && { alias: alias.trim() }),
            },
          });
          navigate(`/templates/${id}`);
        }}
      >
        <ChoiceCards label="Kind" name="kind" value={kind} options={KINDS} onChange={setKind} />
        <Field label="Name" name="name" autoFocus />
        <Field
          label="Alias"
          name="alias"
          placeholder={kind === 'partial' ? 'footer' : 'order-confirmation'}
          hint={
            kind === 'partial'
              ? "The name by which templates take it: {% render 'footer' %}."
              : 'The name that your program uses instead of the ID. Optional.'
          }
        />
        <ChoiceCards
          label="Start from"
          name="starter"
          value={starter}
          options={starters}
          onChange={setChosen}
        />
      </Form>
    </Dialog>
  );
}
