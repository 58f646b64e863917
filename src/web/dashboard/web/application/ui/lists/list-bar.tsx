import { Button } from '../button.tsx';
import { count } from '../display/format.ts';
import { icons } from '../icons.tsx';
import { Item, Menu } from '../overlays/menu.tsx';
import type { useColumns } from './columns.ts';
import type { ListResult } from './list-types.ts';
import { MOST_SELECTED } from './selection.tsx';

/** The answer of the count of a list. */
export interface ListCount {
  readonly count: number;
  readonly isExact: boolean;
}

/** The name of one item and of several: `email`, `emails`. */
export type Nouns = readonly [one: string, many: string];

/** The items that a count looks at (`MOST_COUNTED` of the service). */
const MOST_COUNTED = 10_000;

const exactly = (number: number, [one, many]: Nouns): string =>
  `${count(number)} ${number === 1 ? one : many}`;

/** `1,204 emails`, `more than 10,000 emails`, `at least 50 emails`; null before the list has been read. */
export function countText<Row>(
  { items, hasNextPage = false }: Pick<ListResult<Row>, 'items' | 'hasNextPage'>,
  counted: ListCount | undefined,
  nouns: Nouns,
): string | null {
  if (items === undefined) return null;
  if (!hasNextPage) return exactly(items.length, nouns);
  // Items may have come since they were counted.
  const known = Math.max(counted?.count ?? 0, items.length);
  if (counted?.isExact === true && known === counted.count) return exactly(known, nouns);
  return `${known >= MOST_COUNTED ? 'more than' : 'at least'} ${exactly(known, nouns)}`;
}

/** Above a list: the number of its items, and the choice of its columns. */
export function ListBar<Row>(props: {
  readonly text: string | null;
  readonly columns: Pick<ReturnType<typeof useColumns<Row>>, 'choosable' | 'isShown' | 'toggle'>;
  /** Selects the rows that have not been read as well; null where there are none, or the others are not selected. */
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
