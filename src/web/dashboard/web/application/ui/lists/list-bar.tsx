import { Button } from '../button.tsx';
import { count } from '../display/format.ts';
import { icons } from '../icons.tsx';
import { Item, Menu } from '../overlays/menu.tsx';
import type { useColumns } from './columns.ts';
import { MOST_SELECTED } from './selected.ts';

/** Above a list: the number of its items, and the choice of its columns. */
export function ListBar<Row>(props: {
  readonly text: string | null;
  readonly columns: Pick<ReturnType<typeof useColumns<Row>>, 'choosable' | 'isShown' | 'toggle'>;
  /**
   * Selects the rows that have not been read as well; null where there are none, or the others are not
   * selected.
   */
  readonly selectRest: { readonly isRunning: boolean; start(): void } | null;
}) {
  const { choosable, isShown, toggle } = props.columns;
  return (
    <div className="flex min-h-9 flex-wrap items-center gap-2 text-caption text-dim">
      <output className="num min-w-0 flex-1">{props.text}</output>
      {props.selectRest && (
        <Button look="quiet" busy={props.selectRest.isRunning} onClick={props.selectRest.start}>
          {props.selectRest.isRunning ? 'Selecting…' : `Select all, up to ${count(MOST_SELECTED)}`}
        </Button>
      )}
      {choosable.length > 0 && (
        <Menu
          label="Columns"
          className="button button-quiet px-2 text-caption"
          items={choosable.map((column) => (
            <Item key={column.name} isToggle checked={isShown(column)} onSelect={() => toggle(column)}>
              {column.name}
            </Item>
          ))}
        >
          Columns {icons.Down}
        </Menu>
      )}
    </div>
  );
}
