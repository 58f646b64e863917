import { useEffect, useId, useRef, useState } from 'react';
import { wholeName } from '../../../../../platform/text/contact-fields.ts';
import { useList, useSettled } from '../api/queries.ts';

/** The pause after the last key before contacts are searched. */
const TYPING_MS = 200;
const FEW = 8;

/**
 * Chooses a contact by the beginning of the address or the name; `onChange` gets its id, or an empty text for
 * none.
 */
export function ContactPicker(props: { readonly label: string; readonly onChange: (id: string) => void }) {
  const [typed, setTyped] = useState('');
  const list = useId();
  const search = useSettled(typed.trim(), TYPING_MS);
  const { items = [] } = useList(
    'GET /contacts',
    { query: { limit: FEW, search } },
    { enabled: search.length >= 2, keeps: true },
  );
  const { onChange } = props;
  const chosen = useRef('');
  const address = typed.trim().toLowerCase();
  const id = address === '' ? '' : items.find(({ email }) => email.toLowerCase() === address)?.id;
  // A whole address may be typed before the contacts are there, so it is compared again when they are.
  useEffect(() => {
    if (id === undefined || id === chosen.current) return;
    chosen.current = id;
    onChange(id);
  }, [id, onChange]);
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
        onChange={({ target }) => setTyped(target.value)}
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
