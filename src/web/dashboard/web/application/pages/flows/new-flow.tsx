import { useState } from 'react';
import { useLocation } from 'wouter';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { ChoiceCards } from '../../ui/forms/choice-cards.tsx';
import { Field, Form } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { RECIPES } from './recipes.ts';

/** Creates a flow from a recipe and opens it. */
export function NewFlow({ onClose }: { readonly onClose: () => void }) {
  const [recipe, setRecipe] = useState<keyof typeof RECIPES>('welcome');
  const create = useChange('POST /flows');
  const [, navigate] = useLocation();
  return (
    <Dialog title="New flow" onClose={onClose} width="max-w-xl">
      <Form
        action="Create flow"
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async ({ name = '' }) => {
          const { id } = await create.mutateAsync({ body: { name, ...RECIPES[recipe].content } });
          navigate(`/flows/${id}`);
        }}
      >
        <Field label="Name" name="name" autoFocus />
        <ChoiceCards label="Start from" name="recipe" value={recipe} options={RECIPES} onChange={setRecipe} />
      </Form>
    </Dialog>
  );
}
