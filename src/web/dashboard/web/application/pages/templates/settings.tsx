import { useId } from 'react';
import { DETAIL_NAMES, DETAILS, type Draft } from './draft.ts';

/** One line of a template, with what is wrong with it. */
export function Line(props: {
  readonly label: string;
  readonly value: string;
  readonly hint?: string;
  readonly problem?: string | undefined;
  readonly isReadOnly: boolean;
  readonly onChange: (value: string) => void;
}) {
  const id = useId();
  return (
    <div className="grid gap-1 sm:grid-cols-[7rem_minmax(0,1fr)] sm:items-center">
      <label htmlFor={id} className="text-dim">
        {props.label}
      </label>
      <input
        id={id}
        value={props.value}
        readOnly={props.isReadOnly}
        autoComplete="off"
        aria-invalid={props.problem !== undefined}
        aria-describedby={`${id}-hint`}
        onChange={({ target }) => props.onChange(target.value)}
        className="field field-small"
      />
      <p
        id={`${id}-hint`}
        data-color="bad"
        className={`text-caption sm:col-start-2 ${props.problem === undefined ? 'text-dim' : 'state-text'}`}
      >
        {props.problem ?? props.hint}
      </p>
    </div>
  );
}

/** The name and the sender of a template. */
export function TemplateSettings(props: {
  readonly draft: Draft;
  readonly problems: ReadonlyMap<string, string>;
  readonly isReadOnly: boolean;
  readonly onChange: (part: Partial<Draft>) => void;
}) {
  const { draft, problems, isReadOnly, onChange } = props;
  const line = (member: (typeof DETAIL_NAMES)[number] | 'from' | 'replyTo', label: string, hint: string) => (
    <Line
      key={member}
      label={label}
      hint={hint}
      value={draft[member]}
      problem={[...problems].find(([path]) => path.startsWith(`/body/${member}`))?.[1]}
      isReadOnly={isReadOnly}
      onChange={(value) => onChange({ [member]: value })}
    />
  );
  return (
    <div className="grid gap-3 p-4">
      {DETAIL_NAMES.map((name) => line(name, DETAILS[name].label, DETAILS[name].hint))}
      {line('from', 'From', 'The sender when a request names none, for example Acme <hello@acme.example>.')}
      {line('replyTo', 'Reply to', 'The reply addresses, separated by commas.')}
    </div>
  );
}
