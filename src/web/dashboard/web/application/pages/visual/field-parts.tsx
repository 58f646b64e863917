import { createContext, type ReactNode, useContext, useId } from 'react';
import { LiquidInput } from '../merge-fields.tsx';
import type { MergeFieldGroup } from '../message-fields.ts';

interface PartShape {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

const Part = (props: {
  readonly id: string;
  readonly label: string;
  readonly isWide?: boolean;
  readonly children: ReactNode;
}) => (
  <div className={`grid content-start gap-1 ${props.isWide ? 'col-span-full' : ''}`}>
    <label htmlFor={props.id} className="text-caption font-medium text-dim">
      {props.label}
    </label>
    {props.children}
  </div>
);

/** A line of text, with a menu of variables where it may hold them. */
export function TextPart(
  props: PartShape & {
    readonly fields?: readonly MergeFieldGroup[];
    readonly placeholder?: string;
    readonly hint?: string;
    readonly isWide?: boolean;
  },
) {
  const id = useId();
  return (
    <Part id={id} label={props.label} isWide={props.isWide ?? true}>
      <LiquidInput
        id={id}
        label={props.label}
        fields={props.fields}
        value={props.value}
        placeholder={props.placeholder}
        {...(props.hint !== undefined && { 'aria-describedby': `${id}-hint` })}
        onValue={props.onChange}
      />
      {props.hint !== undefined && (
        <span id={`${id}-hint`} className="text-caption text-dim">
          {props.hint}
        </span>
      )}
    </Part>
  );
}

const COLOUR = /^#[0-9a-f]{6}$/i;
const SHORT = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/i;
const NAMES: ReadonlyMap<string, string> = new Map([
  ['white', '#ffffff'],
  ['black', '#000000'],
]);
const hexOf = (value: string): string =>
  NAMES.get(value) ??
  value.replace(SHORT, (_, red, green, blue) => `#${red}${red}${green}${green}${blue}${blue}`);

/** The colours that are offered: that of the workspace, and those of the message. */
export const Colours = createContext<readonly string[]>([]);

/** A colour: a picker, its digits, and the colours that are offered. */
export function ColourPart(props: PartShape) {
  const id = useId();
  const hex = hexOf(props.value);
  const colours = useContext(Colours);
  return (
    <Part id={id} label={props.label}>
      <span className="flex items-center gap-1.5">
        <input
          type="color"
          aria-label={`Pick: ${props.label}`}
          value={COLOUR.test(hex) ? hex : '#ffffff'}
          onChange={({ target }) => props.onChange(target.value)}
          className="size-9 shrink-0 cursor-pointer rounded-md border border-edge-strong bg-sheet p-0.5"
        />
        <input
          id={id}
          value={props.value}
          placeholder="#0f766e"
          spellCheck={false}
          autoComplete="off"
          onChange={({ target }) => props.onChange(target.value)}
          className="field field-small font-mono text-caption"
        />
      </span>
      {colours.length > 0 && (
        <span className="flex flex-wrap gap-1">
          {colours.map((colour) => (
            <button
              key={colour}
              type="button"
              aria-label={`${props.label}: ${colour}`}
              title={colour}
              aria-pressed={hex.toLowerCase() === colour}
              onClick={() => props.onChange(colour)}
              style={{ backgroundColor: colour }}
              className="size-6 rounded-md border border-edge-strong aria-pressed:outline-2 aria-pressed:outline-accent"
            />
          ))}
        </span>
      )}
    </Part>
  );
}

/** One of few values. A value of the source that is none of them is kept as a further one. */
export function ChoicePart(props: PartShape & { readonly options: Readonly<Record<string, string>> }) {
  const id = useId();
  const { options, value } = props;
  const all = Object.hasOwn(options, value)
    ? options
    : { [value]: value === '' ? 'As in the source' : value, ...options };
  return (
    <Part id={id} label={props.label}>
      <select
        id={id}
        value={value}
        onChange={({ target }) => props.onChange(target.value)}
        className="field field-small"
      >
        {Object.entries(all).map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </Part>
  );
}

/** A length in pixels. */
export function PixelsPart(props: PartShape & { readonly most: number }) {
  const id = useId();
  const shown = /^\d+(?:px)?$/.test(props.value) ? props.value.replace('px', '') : '';
  return (
    <Part id={id} label={`${props.label}, in pixels`}>
      <input
        id={id}
        type="number"
        min={0}
        max={props.most}
        value={shown}
        placeholder={props.value}
        onChange={({ target }) => {
          const number = Math.min(props.most, Math.max(0, Math.round(Number(target.value))));
          props.onChange(target.value === '' ? '' : `${number}px`);
        }}
        className="field field-small"
      />
    </Part>
  );
}
