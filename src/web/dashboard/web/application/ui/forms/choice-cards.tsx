/** A choice among few, each explained by a sentence. */
export const ChoiceCards = <Value extends string>({
  label,
  name,
  value,
  options,
  onChange,
}: {
  readonly label: string;
  readonly name: string;
  readonly value: Value;
  readonly options: Readonly<Record<Value, { readonly title: string; readonly about: string }>>;
  readonly onChange: (value: Value) => void;
}) => (
  <fieldset className="grid gap-2 sm:grid-cols-2">
    <legend className="mb-1.5 font-medium">{label}</legend>
    {(Object.keys(options) as Value[]).map((each) => (
      <label
        key={each}
        className="flex cursor-pointer gap-2.5 rounded-lg border border-edge p-3 has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent"
      >
        <input
          type="radio"
          name={name}
          value={each}
          checked={value === each}
          onChange={() => onChange(each)}
          className="mt-0.5 size-4 shrink-0 accent-accent focus-visible:outline-none"
        />
        <span>
          <span className="block font-medium">{options[each].title}</span>
          <span className="block text-caption text-dim">{options[each].about}</span>
        </span>
      </label>
    ))}
  </fieldset>
);
