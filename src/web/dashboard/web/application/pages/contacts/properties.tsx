import { useContext } from 'react';
import { Button, IconButton } from '../../ui/button.tsx';
import { Problems } from '../../ui/forms/form.tsx';
import { icons } from '../../ui/icons.tsx';
import { KINDS, type Kind, newRow, type PropertyRow } from './property-rows.ts';

/** Properties as rows of name, kind and value. */
export function Properties(props: {
  readonly rows: readonly PropertyRow[];
  readonly onChange: (rows: readonly PropertyRow[]) => void;
}) {
  const { rows, onChange } = props;
  const problems = useContext(Problems);
  const set = (id: number, change: Partial<PropertyRow>) =>
    onChange(rows.map((row) => (row.id === id ? { ...row, ...change } : row)));
  return (
    <fieldset className="grid gap-2">
      <legend className="mb-1.5 font-medium">Properties</legend>
      {rows.map((row, index) => {
        const at = `properties/${row.key.trim()}`;
        const problem = problems.get(at);
        return (
          <div key={row.id} className="grid gap-1">
            <div className="grid grid-cols-[minmax(0,1fr)_6.5rem_minmax(0,1fr)_2rem] items-center gap-2">
              <input
                aria-label={`Name of property ${index + 1}`}
                placeholder="plan"
                value={row.key}
                spellCheck={false}
                autoComplete="off"
                onChange={({ target }) => set(row.id, { key: target.value })}
                className="field field-small font-mono text-caption"
              />
              <select
                aria-label={`Type of property ${index + 1}`}
                value={row.kind}
                onChange={({ target }) => set(row.id, { kind: target.value as Kind })}
                className="field field-small px-2"
              >
                {Object.entries(KINDS).map(([kind, text]) => (
                  <option key={kind} value={kind}>
                    {text}
                  </option>
                ))}
              </select>
              {row.kind === 'boolean' ? (
                <select
                  name={at}
                  aria-label={`Value of property ${index + 1}`}
                  value={row.text === 'true' ? 'true' : 'false'}
                  onChange={({ target }) => set(row.id, { text: target.value })}
                  className="field field-small"
                >
                  <option value="true">Yes</option>
                  <option value="false">No</option>
                </select>
              ) : (
                <input
                  name={at}
                  aria-label={`Value of property ${index + 1}`}
                  aria-invalid={problem !== undefined}
                  value={row.text}
                  inputMode={row.kind === 'number' ? 'decimal' : 'text'}
                  autoComplete="off"
                  onChange={({ target }) => set(row.id, { text: target.value })}
                  className="field field-small"
                />
              )}
              <IconButton
                label={`Remove property ${index + 1}`}
                onClick={() => onChange(rows.filter(({ id }) => id !== row.id))}
              >
                {icons.Close}
              </IconButton>
            </div>
            {problem !== undefined && (
              <p data-color="bad" className="state-text text-caption">
                {problem}
              </p>
            )}
          </div>
        );
      })}
      <Button look="quiet" className="justify-self-start" onClick={() => onChange([...rows, newRow()])}>
        {icons.Plus} Add property
      </Button>
    </fieldset>
  );
}
