import { ownOf } from '../../../../../../platform/text/own-member.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/page.tsx';
import { newVariable, type VariableRow } from './draft.ts';

const isPlain = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);

/** The data of the preview: a field for each variable, and the names without a value. */
export function Values(props: {
  readonly rows: readonly VariableRow[];
  readonly missing: readonly string[];
  readonly entered: Readonly<Record<string, string>>;
  readonly onChange: (entered: Readonly<Record<string, string>>) => void;
  readonly onDeclare: ((row: VariableRow) => void) | null;
}) {
  const { rows, missing, entered, onChange, onDeclare } = props;
  const declared = rows.filter(({ key }) => key.trim() !== '');
  const others = missing.filter((name) => !declared.some(({ key }) => key === name));
  return (
    <Card title="Preview data" about="Fills the preview as a request would. It is not stored.">
      {declared.length === 0 && others.length === 0 && (
        <p className="text-dim">This template has no variables.</p>
      )}
      <div className="grid gap-3 sm:grid-cols-2">
        {declared.map(({ id, key, type, fallback }) => {
          const isLong = type === 'list' || type === 'object';
          const shared = {
            id: `value-${id}`,
            value: ownOf(entered, key) ?? '',
            placeholder: fallback === '' ? (missing.includes(key) ? 'no value' : '') : fallback,
            className: `field field-small ${isLong ? 'font-mono text-caption' : ''}`,
          };
          const change = (text: string) => onChange({ ...entered, [key]: text });
          return (
            <label key={id} htmlFor={`value-${id}`} className={`grid gap-1 ${isLong ? 'sm:col-span-2' : ''}`}>
              <span className="font-medium">{key}</span>
              {type === 'boolean' ? (
                <select {...shared} onChange={({ target }) => change(target.value)}>
                  <option value="">no value</option>
                  <option value="true">Yes</option>
                  <option value="false">No</option>
                </select>
              ) : isLong ? (
                <textarea {...shared} rows={3} onChange={({ target }) => change(target.value)} />
              ) : (
                <input
                  {...shared}
                  type={type === 'date' ? 'date' : 'text'}
                  inputMode={type === 'number' ? 'decimal' : 'text'}
                  autoComplete="off"
                  onChange={({ target }) => change(target.value)}
                />
              )}
            </label>
          );
        })}
      </div>
      {others.length > 0 && (
        <div className="grid gap-2">
          <p className="text-dim">Used without a value: {others.join(', ')}.</p>
          {onDeclare && others.some(isPlain) && (
            <div className="flex flex-wrap gap-2">
              {others.filter(isPlain).map((name) => (
                <Button key={name} onClick={() => onDeclare(newVariable(name))}>
                  Declare {name}
                </Button>
              ))}
            </div>
          )}
        </div>
      )}
    </Card>
  );
}
