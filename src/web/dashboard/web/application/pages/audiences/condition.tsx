import { createContext, useContext, useId } from 'react';
import type { KnownProperty } from '../../../../../client/operations.ts';
import { IconButton } from '../../ui/button.tsx';
import { icons } from '../../ui/icons.tsx';
import { useAudienceNames, useKnownProperties } from '../names.ts';
import {
  type Base,
  FIELDS,
  FIRST_VALUE,
  isFinished,
  NAMED,
  partsOf,
  type Shape,
  wayOf,
  waysOf,
} from './fields.ts';
import type { Condition, Value } from './filter-tree.ts';

const STATUSES = {
  subscribed: 'subscribed',
  unsubscribed: 'unsubscribed',
  bounced: 'bounced',
  complained: 'complained',
} as const;
const UNITS = { minutes: 'minutes', hours: 'hours', days: 'days', weeks: 'weeks' } as const;

/** True where the filter can also use the event that started the flow. */
export const EventFields = createContext(false);

const NAME_MISSING = 'Enter a name.';
const VALUE_MISSING = 'Enter a value.';

/** One condition: of which field, how it is asked, and with what it is compared. */
export function ConditionRow(props: {
  readonly condition: Condition;
  readonly label: string;
  readonly problem: string | undefined;
  readonly onChange: (condition: Condition) => void;
  readonly onRemove: (() => void) | null;
}) {
  const { condition, onChange, label } = props;
  const { base, name } = partsOf(condition.field);
  const { kind } = FIELDS[base];
  const way = wayOf(kind, condition.operator, condition.value);
  const known = useKnownProperties();
  const property = base === 'properties.' ? known.find(({ key }) => key === name) : undefined;
  const ways = waysOf(kind, property?.types, way);
  const names = useId();
  const rename = (next: string) => {
    const types = known.find(({ key }) => base === 'properties.' && key === next)?.types;
    const [first] = waysOf(kind, types);
    // A comparison that no value of the property can match makes room for the first one that can.
    const fits = waysOf(kind, types).includes(way) || first === undefined;
    onChange({
      ...condition,
      field: base + next,
      ...(!fits && { operator: first.operator, value: FIRST_VALUE[first.shape] }),
    });
  };
  const hasEvent = useContext(EventFields);
  const takesName = (NAMED as readonly Base[]).includes(base);
  const choose = (next: Base) => {
    const [first] = waysOf(FIELDS[next].kind, undefined);
    if (first)
      onChange({ ...condition, field: next, operator: first.operator, value: FIRST_VALUE[first.shape] });
  };
  return (
    <div className="grid gap-1">
      <div className="flex flex-wrap items-center gap-2">
        <select
          aria-label={`${label}: field`}
          value={base}
          onChange={({ target }) => choose(target.value as Base)}
          className="field field-small w-40"
        >
          {Object.entries(FIELDS)
            .filter(([value]) => hasEvent || value !== 'event.')
            .map(([value, { text }]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
        </select>
        {takesName && (
          <input
            aria-label={
              base === 'activity.event:' ? `${label}: name of the event` : `${label}: name of the property`
            }
            placeholder={base === 'activity.event:' ? 'order.placed' : 'plan'}
            value={name}
            spellCheck={false}
            autoComplete="off"
            list={base === 'properties.' ? names : undefined}
            onChange={({ target }) => rename(target.value.trim())}
            className="field field-small w-36 font-mono text-caption"
          />
        )}
        {base === 'properties.' && (
          <datalist id={names}>
            {known.map(({ key, types }) => (
              <option key={key} value={key}>
                {types.join(', ')}
              </option>
            ))}
          </datalist>
        )}
        <select
          aria-label={`${label}: comparison`}
          value={ways.indexOf(way)}
          onChange={({ target }) => {
            const next = ways[Number(target.value)];
            if (!next) return;
            const value = next.shape === way.shape ? condition.value : FIRST_VALUE[next.shape];
            onChange({ ...condition, operator: next.operator, value: next.shape === 'yes' ? true : value });
          }}
          className="field field-small w-auto max-w-44"
        >
          {ways.map(({ text, operator, shape }, index) => (
            <option key={`${operator} ${shape}`} value={index}>
              {text}
            </option>
          ))}
        </select>
        <ValueField
          label={label}
          shape={way.shape}
          value={condition.value}
          isWrong={props.problem !== undefined}
          choices={property?.values ?? []}
          onChange={(value) => onChange({ ...condition, value })}
        />
        {props.onRemove && (
          <IconButton label={`Remove ${label.toLowerCase()}`} className="ml-auto" onClick={props.onRemove}>
            {icons.Close}
          </IconButton>
        )}
      </div>
      {props.problem !== undefined && (
        <p data-color="bad" className="state-text text-caption">
          {takesName && name === ''
            ? NAME_MISSING
            : isFinished(condition.value)
              ? props.problem
              : VALUE_MISSING}
        </p>
      )}
    </div>
  );
}

interface ValueProps {
  readonly label: string;
  readonly shape: Shape;
  readonly value: Value;
  readonly isWrong: boolean;
  /** The values that contacts have. */
  readonly choices: KnownProperty['values'];
  readonly onChange: (value: Value) => void;
}

function ValueField({ label, shape, value, isWrong, choices, onChange }: ValueProps) {
  const audiences = useAudienceNames();
  const list = useId();
  const shared = { 'aria-label': `${label}: value`, 'aria-invalid': isWrong } as const;
  switch (shape) {
    case 'yes':
      return null;
    case 'status':
      return <Select {...shared} value={String(value)} options={STATUSES} onChange={onChange} />;
    case 'audience':
      return (
        <Select
          {...shared}
          value={String(value)}
          options={{ '': 'Select…', ...audiences }}
          onChange={onChange}
        />
      );
    case 'truth':
      return (
        <Select
          {...shared}
          value={String(value)}
          options={{ true: 'yes', false: 'no' }}
          onChange={(text) => onChange(text === 'true')}
        />
      );
    case 'period': {
      const { amount, unit } =
        typeof value === 'object' && 'unit' in value ? value : { amount: 30, unit: 'days' as const };
      return (
        <>
          <input
            {...shared}
            type="number"
            min={1}
            value={amount === 0 ? '' : amount}
            onChange={({ target }) => onChange({ amount: Number(target.value), unit })}
            className="field field-small w-20"
          />
          <Select
            aria-label={`${label}: unit`}
            value={unit}
            options={UNITS}
            onChange={(next) => onChange({ amount, unit: next as keyof typeof UNITS })}
          />
        </>
      );
    }
    case 'number':
      return (
        <input
          {...shared}
          type="number"
          step="any"
          value={typeof value === 'number' ? value : ''}
          onChange={({ target }) => onChange(Number.isNaN(target.valueAsNumber) ? 0 : target.valueAsNumber)}
          className="field field-small w-28"
        />
      );
    case 'texts':
      return (
        <input
          {...shared}
          value={Array.isArray(value) ? value.join(', ') : ''}
          placeholder="one, two, three"
          autoComplete="off"
          onChange={({ target }) => onChange(target.value.split(/,\s*/))}
          className="field field-small w-56"
        />
      );
    default:
      return (
        <>
          <input
            {...shared}
            type={shape === 'date' ? 'date' : 'text'}
            list={shape === 'text' && choices.length > 0 ? list : undefined}
            value={typeof value === 'string' ? value.slice(0, shape === 'date' ? 10 : undefined) : ''}
            autoComplete="off"
            spellCheck={false}
            onChange={({ target }) => onChange(target.value)}
            className="field field-small w-48"
          />
          {shape === 'text' && (
            <datalist id={list}>
              {choices.map((each) => (
                <option key={String(each)} value={String(each)} />
              ))}
            </datalist>
          )}
        </>
      );
  }
}

const Select = (props: {
  readonly 'aria-label': string;
  readonly 'aria-invalid'?: boolean;
  readonly value: string;
  readonly options: Readonly<Record<string, string>>;
  readonly onChange: (value: string) => void;
}) => (
  <select
    aria-label={props['aria-label']}
    aria-invalid={props['aria-invalid']}
    value={props.value}
    onChange={({ target }) => props.onChange(target.value)}
    className="field field-small w-auto max-w-52"
  >
    {Object.entries(props.options).map(([value, text]) => (
      <option key={value} value={value}>
        {text}
      </option>
    ))}
  </select>
);
