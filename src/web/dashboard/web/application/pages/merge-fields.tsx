import { CONTACT_FIELDS } from '../../../../../platform/text/contact-fields.ts';
import { toast, toastProblem } from '../ui/overlays/toast.tsx';
import { useKnownProperties } from './names.ts';

/** The most properties that are offered. */
const MOST = 30;

/** The data of a contact that a text may name, each to be copied: `{{ contact.properties.plan }}`. */
export function MergeFields() {
  const properties = useKnownProperties();
  const fields = [
    { name: 'email', label: 'Email address' },
    ...Object.entries(CONTACT_FIELDS).map(([name, { label }]) => ({ name, label })),
    ...properties.slice(0, MOST).map(({ key }) => ({ name: `properties.${key}`, label: key })),
  ];
  const copy = async (source: string) => {
    try {
      await navigator.clipboard.writeText(source);
      toast(`${source} copied. Paste it into the text.`);
    } catch {
      toastProblem(new Error(`This browser does not allow copying here. Enter ${source} yourself.`));
    }
  };
  return (
    <details>
      <summary className="link min-h-6 w-max cursor-pointer">Data of the contact</summary>
      <ul aria-label="Data of the contact" className="mt-2 flex flex-wrap gap-1.5">
        {fields.map(({ name, label }) => (
          <li key={name}>
            <button
              type="button"
              className="chip"
              title={`Copy {{ contact.${name} }}`}
              onClick={() => void copy(`{{ contact.${name} }}`)}
            >
              {label}
            </button>
          </li>
        ))}
      </ul>
    </details>
  );
}
