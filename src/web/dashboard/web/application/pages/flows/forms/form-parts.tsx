import type { ReactNode } from 'react';
import { Choice, type Fields } from '../../../ui/forms/form.tsx';
import type { Names } from '../words.ts';
import type { StepProblem } from './problems.ts';

/** The data for drawing the fields of a step. */
export interface StepFormData<Config> {
  readonly config: Config;
  readonly names: Names;
  readonly problems: readonly StepProblem[];
  /** For what is no field of a form, such as a filter. */
  readonly onChange: (config: Config) => void;
}

/**
 * The form of one type of step: its fields, and the settings that they say. Fields are called like their
 * place in the settings.
 */
export interface StepForm<Config> {
  readonly fields: (drawing: StepFormData<Config>) => ReactNode;
  readonly read: (fields: Fields, before: Config) => Config;
}

/** The trimmed text; undefined when it is empty. */
export const given = (text = ''): string | undefined => (text.trim() === '' ? undefined : text.trim());

/** A choice by id; a value that is not in the list, such as an alias, stays. */
export function Named(props: {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly options: Readonly<Record<string, string>>;
  readonly none: string;
  readonly hint?: ReactNode;
}) {
  const { value, options } = props;
  const isElse = value !== '' && !(value in options);
  return (
    <Choice
      key={Object.keys(options).length}
      label={props.label}
      name={props.name}
      options={{ '': props.none, ...(isElse && { [value]: value }), ...options }}
      defaultValue={value}
      hint={props.hint}
    />
  );
}
