import { useId, useState } from 'react';
import { wholeName } from '../../../../../platform/text/contact-fields.ts';
import { useList, useSettled } from '../api/queries.ts';

/** The pause after the last key before contacts are searched. */
const TYPING_MS = 200;
const FEW = 8;

/** Chooses a contact by the beginning of the address or the name; `onChange` gets its id, or an empty text for none. */
export function ContactPicker(props: { readonly label: string; readonly onChange: (id: string) => void }) {
  const [typed, setTyped] = useState('');
  const list = useId();
  const search = useSettled(typed.trim(), TYPING_MS);
  const { items = [] } = useList(
    'GET /contacts',
    { query: { limit: FEW, search } },
    { enabled: search.length >= 2, keeps: true },
  );
  const change = (text: string) => {
    setTyped(text);
    const found = items.find(({ email }) => email === text.trim());
    if (found || text.trim() === '') props.onChange(found?.id ?? '');
  };
  return (
    <>
      <input
        type="search"
        aria-label={props.label}
        placeholder="Show as a contact: address or name…"
        list={list}
        value={typed}
        spellCheck={false}
        autoComplete="off"
        onChange={({ target }) => change(target.value)}
        onBlur={() => change(typed)}
        className="field field-small w-auto min-w-0 flex-1"
      />
      <datalist id={list}>
        {items.map((contact) => (
          <option key={contact.id} value={contact.email}>
            {wholeName(contact)}
          </option>
        ))}
      </datalist>
    </>
  );
}
