import { useId } from 'react';

/** One of few views of the same thing, in a row. */
export function Chips<Value extends string>(props: {
  /** The purpose of the choice, for screen readers. */
  readonly label: string;
  /** Texts by value, in their order; without a text there is no such view. */
  readonly options: { readonly [Each in Value]?: string | undefined };
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}) {
  const name = useId();
  const entries = (Object.entries(props.options) as [Value, string | undefined][]).filter(
    ([, text]) => text !== undefined,
  );
  return (
    <fieldset className="flex flex-wrap gap-1">
      <legend className="sr-only">{props.label}</legend>
      {entries.map(([each, text]) => (
        <label key={each} className="chip">
          <input
            type="radio"
            name={name}
            className="sr-only"
            checked={props.value === each}
            onChange={() => props.onChange(each)}
          />
          {text}
        </label>
      ))}
    </fieldset>
  );
}

/** Something that is on or off, beside chips. */
export const Toggle = (props: {
  readonly text: string;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}) => (
  <label className="chip">
    <input
      type="checkbox"
      className="sr-only"
      checked={props.isOn}
      onChange={({ target }) => props.onChange(target.checked)}
    />
    {props.text}
  </label>
);
