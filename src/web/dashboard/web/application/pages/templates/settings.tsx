import { useId } from 'react';
import type { Template } from '../../../../../client/operations.ts';
import { useList } from '../../api/queries.ts';
import type { EditSession } from '../../editing/use-editing.ts';
import { useValues } from '../../editing/use-values.ts';
import { LiquidInput } from '../merge-fields.tsx';
import type { MergeFieldGroup } from '../message-fields.ts';
import { DETAIL_NAMES, DETAILS, type Draft } from './draft.ts';

/** One line of a template, with what is wrong with it. */
export function Line(props: {
  readonly label: string;
  readonly value: string;
  readonly hint?: string;
  readonly problem?: string | undefined;
  /** The variables that it may name. */
  readonly fields?: readonly MergeFieldGroup[];
  readonly isReadOnly: boolean;
  readonly onChange: (value: string) => void;
}) {
  const id = useId();
  return (
    <div className="grid gap-1 sm:grid-cols-[7rem_minmax(0,1fr)] sm:items-center">
      <label htmlFor={id} className="text-dim">
        {props.label}
      </label>
      <LiquidInput
        id={id}
        label={props.label}
        fields={props.fields}
        value={props.value}
        readOnly={props.isReadOnly}
        aria-invalid={props.problem !== undefined}
        aria-describedby={`${id}-hint`}
        onValue={props.onChange}
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

/** The layout around a template. Only one of the same format is around it. */
function LayoutChoice(props: {
  readonly template: Template;
  readonly value: string;
  readonly problem: string | undefined;
  readonly isReadOnly: boolean;
  readonly onChange: (layoutId: string) => void;
}) {
  const id = useId();
  const { template, value, problem } = props;
  const { items = [] } = useList('GET /templates', { query: { kind: 'layout', limit: 100 } });
  const layouts = items.filter((each) => each.format === template.format && each.id !== template.id);
  return (
    <div className="grid gap-1 sm:grid-cols-[7rem_minmax(0,1fr)] sm:items-center">
      <label htmlFor={id} className="text-dim">
        Layout
      </label>
      <select
        id={id}
        value={value}
        disabled={props.isReadOnly}
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-hint`}
        onChange={({ target }) => props.onChange(target.value)}
        className="field field-small"
      >
        <option value="">None</option>
        {layouts.map((layout) => (
          <option key={layout.id} value={layout.id}>
            {layout.name}
          </option>
        ))}
        {value !== '' && !layouts.some((layout) => layout.id === value) && (
          <option value={value}>{value}</option>
        )}
      </select>
      <p
        id={`${id}-hint`}
        data-color="bad"
        className={`text-caption sm:col-start-2 ${problem === undefined ? 'text-dim' : 'state-text'}`}
      >
        {problem ?? 'What is around the source. Saving takes its published version.'}
      </p>
    </div>
  );
}

/** The name, the layout and the sender of a template. */
export function TemplateSettings(props: {
  readonly template: Template;
  readonly editing: EditSession<Template, Draft>;
  readonly problems: ReadonlyMap<string, string>;
  readonly isReadOnly: boolean;
}) {
  const { template, editing, problems, isReadOnly } = props;
  const draft = useValues(editing);
  const onChange = editing.set;
  const problemOf = (member: string) => [...problems].find(([path]) => path.split('/')[2] === member)?.[1];
  const line = (
    member: (typeof DETAIL_NAMES)[number] | 'from' | 'replyTo' | 'language',
    label: string,
    hint: string,
  ) => (
    <Line
      key={member}
      label={label}
      hint={hint}
      value={draft[member]}
      problem={problemOf(member)}
      isReadOnly={isReadOnly}
      onChange={(value) => onChange({ [member]: value })}
    />
  );
  return (
    <div className="grid gap-3 p-4">
      {DETAIL_NAMES.map((name) => line(name, DETAILS[name].label, DETAILS[name].hint))}
      {template.kind !== 'partial' && (
        <LayoutChoice
          template={template}
          value={draft.layoutId}
          problem={problemOf('layoutId')}
          isReadOnly={isReadOnly}
          onChange={(layoutId) => onChange({ layoutId })}
        />
      )}
      {line('language', 'Language', 'The language of the main content, for example en or pt-BR.')}
      {template.kind === 'template' &&
        line('from', 'From', 'The sender when a request names none, for example Acme <hello@acme.example>.')}
      {template.kind === 'template' &&
        line('replyTo', 'Reply to', 'The reply addresses, separated by commas.')}
    </div>
  );
}
