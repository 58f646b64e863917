import { type ReactNode, useState } from 'react';
import {
  type FlowDefinition,
  type FlowStep,
  waysOf,
} from '../../../../../../../../machines/flow-run/definition.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { type Fields, Problems } from '../../../ui/forms/form.tsx';
import { icons } from '../../../ui/icons.tsx';
import { changeStep, connect, targetOf, type Way } from '../definition.ts';
import { type Names, STEPS, stepText, wayText } from '../words.ts';
import type { StepProblem } from './problems.ts';
import { FORMS } from './step-forms.tsx';

/** The properties of a panel that edits a flow. */
export interface PanelProps {
  readonly definition: FlowDefinition;
  readonly names: Names;
  readonly problems: readonly StepProblem[];
  readonly isReadOnly: boolean;
  readonly onChange: (definition: FlowDefinition) => void;
  readonly onClose: () => void;
}

/**
 * The frame of what is edited beside the drawing. Its fields change the flow as they are typed into; Escape
 * closes it.
 */
export function Panel(props: {
  readonly title: string;
  readonly icon: keyof typeof icons;
  readonly problems: readonly StepProblem[];
  readonly isReadOnly: boolean;
  readonly onFields: (fields: Fields) => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly foot?: ReactNode;
}) {
  const { title, icon, problems, isReadOnly, onFields, onClose } = props;
  const general = problems.filter(({ field }) => /^(?:|entry|steps|edges|key)$/.test(field));
  return (
    <section
      aria-label={title}
      data-panel
      className="card grid content-start overflow-hidden"
      onKeyDown={({ key }) => key === 'Escape' && onClose()}
    >
      <header className="flex items-center gap-2.5 border-b border-edge px-4 py-2.5">
        <span className="text-accent">{icons[icon]}</span>
        <h2 className="min-w-0 flex-1 truncate text-heading font-semibold">{title}</h2>
        <IconButton label="Close" className="-mr-1.5" onClick={onClose}>
          {icons.Close}
        </IconButton>
      </header>
      <form
        noValidate
        className="grid grid-cols-[minmax(0,1fr)] gap-4 p-4"
        onSubmit={(event) => event.preventDefault()}
        onInput={({ currentTarget, target }) => {
          // Fields without a name, such as the parts of a filter, report their changes themselves.
          if ((target as HTMLInputElement).name)
            onFields(Object.fromEntries(new FormData(currentTarget)) as Fields);
        }}
      >
        {general.length > 0 && (
          <ul data-color="bad" className="grid gap-1 rounded-lg bg-(--tint) px-3 py-2">
            {general.map(({ message }) => (
              <li key={message} className="state-text text-caption break-words">
                {message}
              </li>
            ))}
          </ul>
        )}
        <fieldset disabled={isReadOnly} className="grid grid-cols-[minmax(0,1fr)] gap-4">
          <Problems value={new Map(problems.map(({ field, message }) => [field, message]))}>
            {props.children}
          </Problems>
        </fieldset>
      </form>
      {props.foot}
    </section>
  );
}

const KEY = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** The settings of a step, the targets of its paths, and its removal. */
export function StepPanel(
  props: PanelProps & {
    readonly step: FlowStep;
    readonly onRename: (key: string) => void;
    readonly onRemove: () => void;
  },
) {
  const { step, definition, names, problems, isReadOnly, onChange } = props;
  // The forms of all types have one shape; which settings they are for, the type of the step says.
  const form = FORMS[step.type] as unknown as (typeof FORMS)['exit'];
  const config = step.config as never;
  const set = (next: object) => onChange(changeStep(definition, { ...step, config: next } as FlowStep));
  const [key, setKey] = useState(step.key);
  const isTaken = definition.steps.some((each) => each.key === key && each.key !== step.key);
  const rename = () => {
    if (key !== step.key && KEY.test(key) && !isTaken) props.onRename(key);
    else setKey(step.key);
  };
  return (
    <Panel
      title={STEPS[step.type].title}
      icon={STEPS[step.type].icon}
      problems={problems}
      isReadOnly={isReadOnly}
      onFields={(fields) => set(form.read(fields, config))}
      onClose={props.onClose}
      foot={
        isReadOnly ? null : (
          <footer className="flex items-center gap-3 border-t border-edge px-4 py-3">
            <label className="flex min-w-0 flex-1 items-center gap-2 text-caption text-dim">
              Key
              <input
                value={key}
                aria-label="Key of the step"
                aria-invalid={isTaken || !KEY.test(key)}
                title="The name of the step in runs and in the API: letters, digits, _ and -"
                spellCheck={false}
                autoComplete="off"
                onChange={({ target }) => setKey(target.value)}
                onBlur={rename}
                onKeyDown={(event) => event.key === 'Enter' && rename()}
                className="field field-small min-w-0 font-mono text-caption"
              />
            </label>
            <Button onClick={props.onRemove}>Remove step</Button>
          </footer>
        )
      }
    >
      {form.fields({ config, names, problems, onChange: set })}
      {waysOf(step).map((when) => (
        <Target key={when} {...props} way={{ from: step.key, when }} label={wayText(step, when)} />
      ))}
    </Panel>
  );
}

/** The target of a path: an alternative to the lines of the drawing for keyboard users. */
export function Target({
  way,
  label,
  definition,
  names,
  onChange,
}: Pick<PanelProps, 'definition' | 'names' | 'onChange'> & { readonly way: Way; readonly label: string }) {
  const target = targetOf(definition, way) ?? '';
  const name = label === '' ? (way.from === null ? 'First step' : 'Next step') : `${label}: next step`;
  return (
    <label className="grid gap-1.5 font-medium">
      {name}
      <select
        value={target}
        onChange={({ target: { value } }) => onChange(connect(definition, way, value === '' ? null : value))}
        className="field font-normal"
      >
        <option value="">{way.from === null ? 'None' : 'End'}</option>
        {definition.steps
          .filter(({ key }) => key !== way.from)
          .map((step) => (
            <option key={step.key} value={step.key}>
              {STEPS[step.type].title}: {stepText(step, names)} ({step.key})
            </option>
          ))}
      </select>
    </label>
  );
}
