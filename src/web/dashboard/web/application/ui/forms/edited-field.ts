import { type ChangeEvent, createContext, type InputHTMLAttributes, useContext } from 'react';
import type { ShownEditing } from '../../editing/use-editing.ts';

/** The edit of the surrounding form; its values are those of the members that the fields are named after. */
export const Edited = createContext<ShownEditing | null>(null);

/** The value of the field of that name, where the form around it edits one. */
export function useEdited(name: string) {
  const editing = useContext(Edited);
  if (!editing || !(name in editing.values)) return null;
  return { value: editing.values[name], set: (value: unknown) => editing.set({ [name]: value }) };
}

/** The text of a field: that of the surrounding edit, or its own one with a default. */
export function useText(name: string, defaultValue: InputHTMLAttributes<HTMLInputElement>['defaultValue']) {
  const edited = useEdited(name);
  if (!edited) return { defaultValue };
  return {
    value: String(edited.value),
    onChange: ({ target }: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => edited.set(target.value),
  };
}
