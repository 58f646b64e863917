import { useState } from 'react';
import { useLocation } from 'wouter';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { ChoiceCards } from '../../ui/forms/choice-cards.tsx';
import { Field, Form } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { STARTERS } from './starters.ts';

/** Creates a template from a starter and opens it. */
export function NewTemplate({ onClose }: { readonly onClose: () => void }) {
  const [starter, setStarter] = useState<keyof typeof STARTERS>('welcome');
  const create = useChange('POST /templates');
  const [, navigate] = useLocation();
  return (
    <Dialog title="New template" onClose={onClose} width="max-w-xl">
      <Form
        action="Create template"
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async ({ name = '', alias = '' }) => {
          const { id } = await create.mutateAsync({
            body: { name, ...(alias.trim() !== '' && { alias: alias.trim() }), ...STARTERS[starter].content },
          });
          navigate(`/templates/${id}`);
        }}
      >
        <Field label="Name" name="name" autoFocus />
        <Field
          label="Alias"
          name="alias"
          placeholder="order-confirmation"
          hint="The name that your program uses instead of the ID. Optional."
        />
        <ChoiceCards
          label="Start from"
          name="starter"
          value={starter}
          options={STARTERS}
          onChange={setStarter}
        />
      </Form>
    </Dialog>
  );
}
