import type { PROPERTY_TYPES } from '../../../../../../modules/contacts/column-names.ts';
import type { Mapped, Sample } from './columns.ts';

const TARGETS = {
  email: 'Email address',
  first_name: 'First name',
  last_name: 'Last name',
  property: 'A property',
  none: 'Leave it out',
} as const satisfies Record<Mapped['to'], string>;

const TYPES = {
  string: 'Text',
  number: 'Number',
  boolean: 'Yes or no',
  date: 'Date',
} as const satisfies Record<(typeof PROPERTY_TYPES)[number], string>;

/** The columns of a file, what is in them, and what each becomes. */
export function Mapping(props: {
  readonly sample: Sample;
  readonly mapped: readonly Mapped[];
  readonly onChange: (mapped: readonly Mapped[]) => void;
}) {
  const set = (at: number, change: Partial<Mapped>) =>
    props.onChange(props.mapped.map((each, index) => (index === at ? { ...each, ...change } : each)));
  return (
    <ul aria-label="Columns of the file" className="grid divide-y divide-edge">
      {props.sample.headers.map((header, at) => {
        const { to, key, type } = props.mapped[at] ?? { to: 'none', key: '', type: 'string' };
        const name = header.trim() === '' ? `Column ${at + 1}` : header.trim();
        const cells = props.sample.rows.map((row) => row[at] ?? '').filter((cell) => cell !== '');
        return (
          <li
            // biome-ignore lint/suspicious/noArrayIndexKey: columns have no other name that is sure to be one
            key={at}
            className="grid items-center gap-x-4 gap-y-2 py-3 md:grid-cols-[minmax(0,1fr)_minmax(0,1.5fr)]"
          >
            <span className="min-w-0">
              <span className="block truncate font-medium">{name}</span>
              <span className="block truncate text-caption text-dim">
                {cells.length === 0 ? 'empty in the first rows' : cells.join(', ')}
              </span>
            </span>
            <span className="flex flex-wrap gap-2">
              <select
                aria-label={`“${name}” becomes`}
                value={to}
                onChange={({ target }) => set(at, { to: target.value as Mapped['to'] })}
                className="field field-small w-40"
              >
                {Object.entries(TARGETS).map(([value, text]) => (
                  <option key={value} value={value}>
                    {text}
                  </option>
                ))}
              </select>
              {to === 'property' && (
                <>
                  <input
                    aria-label={`Name of the property for “${name}”`}
                    value={key}
                    placeholder="plan"
                    spellCheck={false}
                    autoComplete="off"
                    onChange={({ target }) => set(at, { key: target.value })}
                    className="field field-small w-36 font-mono text-caption"
                  />
                  <select
                    aria-label={`Kind of the property for “${name}”`}
                    value={type}
                    onChange={({ target }) => set(at, { type: target.value as Mapped['type'] })}
                    className="field field-small w-28"
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
  );
}
