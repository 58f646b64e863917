import { useId } from 'react';
import { CONTACT_FIELDS } from '../../../../../../../platform/text/contact-fields.ts';
import type { ContactImportPlan } from '../../../../../../client/operations.ts';
import { useKnownProperties } from '../../names.ts';
import type { ColumnTarget } from './columns.ts';

/** Targets as the service writes them, in the order in which they are offered. */
const TARGETS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Contact: {
    email: 'Email address',
    ...Object.fromEntries(Object.values(CONTACT_FIELDS).map(({ column, label }) => [column, label])),
  },
  Consent: {
    status: 'Status, as a word',
    subscribed: 'Subscribed: yes or no',
    unsubscribed: 'Unsubscribed: yes or no',
    bounced: 'Bounced: yes or the reason',
    complained: 'Complained: yes or no',
    unsubscribedAt: 'Unsubscribed at',
    'consent.source': 'Source of consent',
    'consent.at': 'Time of consent',
  },
  Other: {
    property: 'Property',
    audiences: 'Audiences',
    properties: 'Properties, as JSON',
    none: 'Ignore',
  },
};

const TYPES: Readonly<Record<string, string>> = {
  string: 'Text',
  number: 'Number',
  'number:point': 'Number, 1,234.5',
  'number:comma': 'Number, 1.234,5',
  boolean: 'Yes or no',
  date: 'Date',
  'date:dmy': 'Date, day first',
  'date:mdy': 'Date, month first',
};

/** The columns of a file, what is in them, and what each becomes. */
export function Mapping(props: {
  readonly plan: ContactImportPlan;
  readonly mapped: readonly ColumnTarget[];
  readonly onChange: (mapped: readonly ColumnTarget[]) => void;
}) {
  // Columns of one name have one target, since `columns` names them.
  const set = (at: number, change: Partial<ColumnTarget>) => {
    const { columns } = props.plan;
    const isMeant = (index: number) => index === at || columns[index]?.header === columns[at]?.header;
    props.onChange(
      props.mapped.map((each, index) =>
        isMeant(index) ? { ...each, ...change, isSet: true as const } : each,
      ),
    );
  };
  const known = useId();
  const properties = useKnownProperties();
  return (
    <>
      <datalist id={known}>
        {properties.map(({ key, types }) => (
          <option key={key} value={key}>
            {types.join(', ')}
          </option>
        ))}
      </datalist>
      <ul aria-label="Columns of the file" className="grid">
        {props.plan.columns.map(({ header, cells }, at) => {
          const { to, key, type } = props.mapped[at] ?? { to: 'none', key: '', type: 'string' };
          const name = header.trim() === '' ? `Column ${at + 1}` : header.trim();
          return (
            <li
              // biome-ignore lint/suspicious/noArrayIndexKey: columns have no other name that is sure to be one
              key={at}
              className="grid items-center gap-x-4 gap-y-2 border-b border-edge py-3 last:border-0 md:grid-cols-[minmax(0,1fr)_minmax(0,1.5fr)]"
            >
              <span className="min-w-0">
                <span className="block truncate font-medium">{name}</span>
                <span className="block truncate text-caption text-dim">
                  {cells.length === 0 ? 'empty in the first rows' : cells.join(', ')}
                </span>
              </span>
              <span className="flex flex-wrap gap-2">
                <select
                  aria-label={`Target of “${name}”`}
                  value={to}
                  onChange={({ target }) => set(at, { to: target.value })}
                  className="field field-small w-60 max-w-full"
                >
                  {Object.entries(TARGETS).map(([group, targets]) => (
                    <optgroup key={group} label={group}>
                      {Object.entries(targets).map(([value, text]) => (
                        <option key={value} value={value}>
                          {text}
                        </option>
                      ))}
                    </optgroup>
                  ))}
                </select>
                {to === 'property' && (
                  <>
                    <input
                      aria-label={`Property name for “${name}”`}
                      list={known}
                      value={key}
                      placeholder="plan"
                      spellCheck={false}
                      autoComplete="off"
                      onChange={({ target }) => set(at, { key: target.value })}
                      className="field field-small w-36 font-mono text-caption"
                    />
                    <select
                      aria-label={`Property type for “${name}”`}
                      value={type}
                      onChange={({ target }) => set(at, { type: target.value })}
                      className="field field-small w-40"
                    >
                      {Object.entries(TYPES).map(([value, text]) => (
                        <option key={value} value={value}>
                          {text}
                        </option>
                      ))}
                    </select>
                  </>
                )}
              </span>
            </li>
          );
        })}
      </ul>
    </>
  );
}
