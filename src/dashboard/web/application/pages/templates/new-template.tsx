import { useState } from 'react';
import { useLocation } from 'wouter';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Form } from '../../ui/form.tsx';
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
        <fieldset className="grid gap-2 sm:grid-cols-2">
          <legend className="mb-1.5 font-medium">Begin with</legend>
          {Object.entries(STARTERS).map(([key, { title, about }]) => (
            <label
              key={key}
              className="flex cursor-pointer gap-2.5 rounded-lg border border-edge p-3 has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent"
            >
              <input
                type="radio"
                name="starter"
                checked={starter === key}
                onChange={() => setStarter(key as keyof typeof STARTERS)}
                className="mt-0.5 size-4 shrink-0 accent-accent"
              />
              <span>
                <span className="block font-medium">{title}</span>
                <span className="block text-caption text-dim">{about}</span>
              </span>
            </label>
          ))}
        </fieldset>
      </Form>
    </Dialog>
  );
}
