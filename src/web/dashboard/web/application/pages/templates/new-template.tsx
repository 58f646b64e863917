import { useState } from 'react';
import { useLocation } from 'wouter';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { ChoiceCards } from '../../ui/forms/choice-cards.tsx';
import { Field, Form } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { STARTERS } from './starters.ts';

/** Makes a template from one of the starters, and opens it. */
export function NewTemplate({ onClose }: { readonly onClose: () => void }) {
  const [starter, setStarter] = useState<keyof typeof STARTERS>('welcome');
  const create = useChange('POST /templates');
  const [, navigate] = useLocation();
  return (
    <Dialog title="New template" onClose={onClose} width="max-w-xl">
      <Form
        action="Open the editor"
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
          hint="What your program calls it, in the place of its id. It may be left out."
        />
        <ChoiceCards
          label="Begin with"
          name="starter"
          value={starter}
          options={STARTERS}
          onChange={setStarter}
        />
      </Form>
    </Dialog>
  );
}
