import {
  type ChangeEvent,
  createContext,
  type InputHTMLAttributes,
  useContext,
  useSyncExternalStore,
} from 'react';
import type { Values } from '../../editing/merge.ts';
import type { ShownEditing } from '../../editing/use-editing.ts';

/** The edit of the surrounding form; its values are those of the members that the fields are named after. */
export const Edited = createContext<ShownEditing | null>(null);

const NO_VALUES = {};
const NOTHING = { subscribe: () => () => {}, valuesNow: (): Values => NO_VALUES };

/**
 * The value of the field of that name, where the form around it edits one. A key in another field does not
 * render it.
 */
export function useEdited(name: string) {
  const editing = useContext(Edited);
  const { subscribe, valuesNow } = editing ?? NOTHING;
  const value = useSyncExternalStore(subscribe, () => valuesNow()[name]);
  if (!editing || !(name in valuesNow())) return null;
  return { value, set: (next: unknown) => editing.set({ [name]: next }) };
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
