import { type ComponentProps, Fragment, useMemo, useRef } from 'react';
import { CONTACT_FIELDS } from '../../../../../platform/text/contact-fields.ts';
import { icons } from '../ui/icons.tsx';
import { Item, Menu, Separator } from '../ui/overlays/menu.tsx';
import { EMAIL, type MergeField, type MergeFieldGroup, OTHERS } from './message-fields.ts';
import { useKnownProperties } from './names.ts';

/** The most properties that are offered. */
const MOST = 30;

const propertyPath = (key: string): string =>
  /^[A-Za-z_]\w*$/.test(key) ? `contact.properties.${key}` : `contact.properties[${JSON.stringify(key)}]`;

/** The known fields of a message, after those of the message itself. */
export function useMergeFields(own = NONE): readonly MergeFieldGroup[] {
  const properties = useKnownProperties();
  return useMemo(() => {
    const contact = [
      EMAIL,
      ...Object.entries(CONTACT_FIELDS).map(([name, { label }]) => ({ label, path: `contact.${name}` })),
      ...properties.slice(0, MOST).map(({ key }) => ({ label: key, path: propertyPath(key) })),
    ];
    const groups = [...own, { title: 'Contact', fields: contact }, ...OTHERS];
    return groups.filter(({ fields }) => fields.length > 0);
  }, [own, properties]);
}

const NONE: readonly MergeFieldGroup[] = [];

/** The Liquid that shows a field. */
const liquidOf = ({ path }: MergeField): string => `{{ ${path} }}`;

interface FieldItemsShape {
  readonly groups: readonly MergeFieldGroup[];
  readonly onPick: (liquid: string, field: MergeField) => void;
}

/** Made once the menu is open, and not for each rendering of a field beside it. */
const FieldItems = ({ groups, onPick }: FieldItemsShape) =>
  groups.map(({ title, fields }, index) => (
    <Fragment key={title}>
      {index > 0 && <Separator />}
      <p role="presentation" className="px-2 pt-1.5 pb-1 text-caption text-dim">
        {title}
      </p>
      {fields.map((field) => (
        <Item
          key={field.path}
          // The menu gives the focus back to its button first.
          onSelect={() => requestAnimationFrame(() => onPick(liquidOf(field), field))}
        >
          {field.label}
          <span className="ml-auto pl-4 font-mono text-caption text-faint">{field.path}</span>
        </Item>
      ))}
    </Fragment>
  ));

/** A menu of fields. `onPick` gets the Liquid of the chosen one. */
export const FieldMenu = ({
  groups,
  onPick,
  ...props
}: FieldItemsShape & {
  /** The field that it inserts into: Subject. */
  readonly into?: string;
  readonly isSmall?: boolean;
  readonly className?: string;
}) => (
  <Menu
    label={`Insert variable${props.into === undefined ? '' : `: ${props.into}`}`}
    isPicture={props.isSmall === true}
    className={
      props.className ??
      (props.isSmall
        ? 'grid size-8 shrink-0 place-items-center rounded-md text-dim hover:bg-hover hover:text-ink'
        : 'button button-quiet')
    }
    items={<FieldItems groups={groups} onPick={onPick} />}
  >
    {icons.Braces}
    {!props.isSmall && 'Insert variable'}
  </Menu>
);

/** A line of text, with a menu of variables where it may hold them. */
export function LiquidInput({
  label,
  fields,
  onValue,
  ...attributes
}: Omit<ComponentProps<'input'>, 'ref' | 'onChange' | 'className'> & {
  readonly label: string;
  readonly fields: readonly MergeFieldGroup[] | undefined;
  readonly onValue: (value: string) => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <span className="flex items-center gap-1">
      <input
        ref={input}
        // A subject in Arabic begins at the right.
        dir="auto"
        autoComplete="off"
        {...attributes}
        onChange={({ target }) => onValue(target.value)}
        className="field field-small"
      />
      {fields && !attributes.readOnly && (
        <FieldMenu
          groups={fields}
          into={label}
          isSmall
          onPick={(liquid) => insertInto(input.current, liquid)}
        />
      )}
    </span>
  );
}

/** Puts a text in the place of what is selected in a field, as if it were typed. */
export function insertInto(field: HTMLInputElement | HTMLTextAreaElement | null, text: string): void {
  if (!field) return;
  const at = field.selectionStart ?? field.value.length;
  field.setRangeText(text, at, field.selectionEnd ?? at, 'end');
  field.dispatchEvent(new Event('input', { bubbles: true }));
  field.focus();
}
