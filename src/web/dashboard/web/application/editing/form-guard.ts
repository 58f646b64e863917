import { type RefObject, useEffect, useRef } from 'react';
import { useGuard } from './leaving.ts';

/** True for fields that are quickly typed again or must not be kept: passwords and codes. */
const isSecret = (form: HTMLFormElement, name: string): boolean => {
  const field = form.elements.namedItem(name);
  return (
    field instanceof HTMLInputElement && /password|one-time-code/.test(`${field.type} ${field.autocomplete}`)
  );
};

/** The texts of a form, to be compared. */
const textsOf = (form: HTMLFormElement): string =>
  JSON.stringify(
    [...new FormData(form)].flatMap(([name, value]) =>
      isSecret(form, name) ? [] : [[name, typeof value === 'string' ? value : value.name]],
    ),
  );

/** A form with two fields or more is work worth keeping. The entrances have nothing that could be lost. */
const isWorth = (form: HTMLFormElement): boolean =>
  form.closest('#content, dialog') !== null && form.querySelectorAll('input, select, textarea').length >= 2;

/** Guards what was typed into a form that keeps its own fields, until it was sent. */
export function useFormGuard(form: RefObject<HTMLFormElement | null>, isOn: boolean) {
  const first = useRef('');
  const isUnsaved = useRef(false);
  const hasNameless = useRef(false);
  const turn = (on: boolean) => {
    isUnsaved.current = on;
  };
  useEffect(() => {
    if (form.current) first.current = textsOf(form.current);
  }, [form]);
  useGuard({
    isUnsaved: () => isUnsaved.current,
    discard: () => turn(false),
    element: () => form.current,
  });
  return {
    /**
     * Looks again, after something was typed or could not be sent. A field without a name belongs to a part
     * that keeps its own state.
     */
    look: (event?: { readonly target: EventTarget }): void => {
      if (!isOn || !form.current || !isWorth(form.current)) return;
      const { target = null } = event ?? {};
      if (target instanceof HTMLElement && !target.hasAttribute('name')) hasNameless.current = true;
      turn(hasNameless.current || textsOf(form.current) !== first.current);
    },
    /** It is being sent, and may lead elsewhere. */
    release: (): void => {
      isUnsaved.current = false;
    },
    sent: (): void => {
      if (form.current) first.current = textsOf(form.current);
      hasNameless.current = false;
      turn(false);
    },
  };
}
