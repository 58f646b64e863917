import { useState } from 'react';
import type { Filter } from '../../../../../../client/operations.ts';
import { Tick } from '../../../ui/forms/form.tsx';
import { EventFields } from '../../audiences/condition.tsx';
import { FilterBuilder } from '../../audiences/filter-builder.tsx';
import { filterOf, newGroup, treeOf } from '../../audiences/filter-tree.ts';
import type { StepProblem } from './problems.ts';

/** A filter of a flow, while it is edited. */
interface FilterFieldProps {
  readonly value: unknown;
  readonly problems: readonly StepProblem[];
  /** The place of the filter among the settings, by which its problems are found. */
  readonly at: string;
  /** True when the filter can also use the properties of an event. */
  readonly hasEvent?: boolean;
  readonly onChange: (filter: Filter) => void;
}

/** A filter that has to be there. */
export function FilterField({ value, problems, at, hasEvent = false, onChange }: FilterFieldProps) {
  const [group, setGroup] = useState(() => (isFilter(value) ? treeOf(value) : newGroup()));
  const inside = problems.flatMap(({ field, message }) =>
    field.startsWith(`${at}/`) ? [{ path: field.slice(at.length), message }] : [],
  );
  const [whole] = problems.filter(({ field }) => field === at);
  return (
    <EventFields value={hasEvent}>
      <FilterBuilder
        group={group}
        problems={inside}
        onChange={(next) => {
          setGroup(next);
          onChange(filterOf(next));
        }}
      />
      {whole && (
        <p data-color="bad" className="state-text text-caption">
          {whole.message}
        </p>
      )}
    </EventFields>
  );
}

const isFilter = (value: unknown): value is Filter => typeof value === 'object' && value !== null;

/** A filter that may be left out. */
export function OptionalFilter({
  label,
  hint,
  onChange,
  ...rest
}: Omit<FilterFieldProps, 'onChange'> & {
  readonly label: string;
  readonly hint: string;
  readonly onChange: (filter: Filter | null) => void;
}) {
  const isOn = isFilter(rest.value);
  return (
    <div className="grid gap-3">
      <Tick
        label={label}
        hint={hint}
        checked={isOn}
        onChange={({ target }) => onChange(target.checked ? filterOf(newGroup()) : null)}
      />
      {isOn && <FilterField {...rest} onChange={onChange} />}
    </div>
  );
}
