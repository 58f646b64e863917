import { CONTACT_FIELDS, isContactField } from '../../../../../../platform/text/contact-fields.ts';
import { EMAIL, OTHERS } from '../message-fields.ts';

/** The words of the menu that inserts these fields: a chip says the same. */
const NAMES: ReadonlyMap<string, string> = new Map(
  [EMAIL, ...OTHERS.flatMap(({ fields }) => fields)].map(({ path, label }) => [path, label]),
);

/** The words of a chip for a template tag: `First name` for `{{ contact.firstName | default: "there" }}`. */
export function chipText(source: string): string {
  const inner = source
    .replace(/^(?:\{\{|\{%|\$\{|%%)-?/, '')
    .replace(/-?(?:\}\}|%\}|\}|%%)$/, '')
    .trim();
  if (!source.startsWith('{{')) return inner;
  const path = (inner.split('|')[0] ?? '').trim();
  const field = /^contact\.(\w+)$/.exec(path)?.[1];
  if (field !== undefined && isContactField(field)) return CONTACT_FIELDS[field].label;
  return NAMES.get(path) ?? (path.replace(/^contact\.properties\./, '') || source);
}
