import { Button, IconButton } from '../../ui/button.tsx';
import { icons } from '../../ui/icons.tsx';
import { newVariable, type VariableRow } from './draft.ts';

export const TYPES = {
  string: 'Text',
  number: 'Number',
  boolean: 'Yes or no',
  date: 'Date',
  list: 'List',
  object: 'Object',
} as const satisfies Record<VariableRow['type'], string>;

/** The declared variables of a template: the values that a request sends, and their defaults. */
export function Variables(props: {
  readonly rows: readonly VariableRow[];
  readonly problems: ReadonlyMap<string, string>;
  readonly isReadOnly: boolean;
  readonly onChange: (rows: readonly VariableRow[]) => void;
}) {
  const { rows, onChange, isReadOnly } = props;
  const set = (id: number, change: Partial<VariableRow>) =>
    onChange(rows.map((row) => (row.id === id ? { ...row, ...change } : row)));
  return (
    <div className="grid gap-3 p-4">
      <p className="text-dim">
        The values that a request sends under <code className="font-mono text-caption">variables</code>.
        Undeclared names work as well; declared ones are checked.
      </p>
      {rows.map((row, index) => {
        const at = `/body/variables/${index}`;
        const problem = [...props.problems].find(([path]) => path.startsWith(`${at}/`) || path === at)?.[1];
        const label = row.key === '' ? `variable ${index + 1}` : row.key;
        return (
          <fieldset
            key={row.id}
            disabled={isReadOnly}
            className="grid gap-2 border-b border-edge pb-3 last-of-type:border-0"
          >
            <legend className="sr-only">{label}</legend>
            <div className="flex flex-wrap items-center gap-2">
              <input
                aria-label={`Name of variable ${index + 1}`}
                value={row.key}
                placeholder="name"
                spellCheck={false}
                autoComplete="off"
                onChange={({ target }) => set(row.id, { key: target.value })}
                className="field field-small w-40 font-mono text-caption"
              />
              <select
                aria-label={`Type of ${label}`}
                value={row.type}
                onChange={({ target }) => set(row.id, { type: target.value as VariableRow['type'] })}
                className="field field-small w-auto"
              >
                {Object.entries(TYPES).map(([type, text]) => (
                  <option key={type} value={type}>
                    {text}
                  </option>
                ))}
              </select>
              <label className="flex min-h-9 items-center gap-2">
                <input
                  type="checkbox"
                  checked={row.required}
                  onChange={({ target }) => set(row.id, { required: target.checked })}
                  className="size-4 accent-accent"
                />
                Required
              </label>
              {!isReadOnly && (
                <IconButton
                  label={`Remove ${label}`}
                  className="ml-auto"
                  onClick={() => onChange(rows.filter(({ id }) => id !== row.id))}
                >
                  {icons.Close}
                </IconButton>
              )}
            </div>
            <input
              aria-label={`Default of ${label}`}
              value={row.fallback}
              placeholder={
                row.type === 'list' || row.type === 'object'
                  ? 'Default, as JSON'
                  : 'Default, when a request sends no value'
              }
              autoComplete="off"
              onChange={({ target }) => set(row.id, { fallback: target.value })}
              className="field field-small"
            />
            {problem !== undefined && (
              <p data-color="bad" className="state-text text-caption">
                {problem}
              </p>
            )}
          </fieldset>
        );
      })}
      {!isReadOnly && (
        <Button className="justify-self-start" onClick={() => onChange([...rows, newVariable()])}>
          {icons.Plus} Declare variable
        </Button>
      )}
    </div>
  );
}
