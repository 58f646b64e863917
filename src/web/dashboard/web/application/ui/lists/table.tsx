import { useWindowVirtualizer, windowScroll } from '@tanstack/react-virtual';
import { memo, type ReactNode, useDeferredValue, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { Button } from '../button.tsx';
import { Failed, Skeleton } from '../display/states.tsx';
import { icons } from '../icons.tsx';
import { useColumns } from './columns.ts';
import { ListBar } from './list-bar.tsx';
import { countText, type ListCount, type Nouns } from './list-count.ts';
import type { Column, ListResult } from './list-types.ts';
import { useRowKeys } from './row-keys.ts';
import { type Selection, useSelectAll } from './selection.tsx';
import type { Sorting } from './sort.ts';

/**
 * Every row is as high as every other, so that a list of any length is only as much work as what can be seen
 * of it.
 */
const ROW = 52;
const SKELETONS = ['a', 'b', 'c', 'd', 'e', 'f'];

/**
 * `not-md` and not `max-md`: the bundler makes that a width just below, and Chromium then hides a column at
 * the width itself.
 */
const FROM = { sm: 'not-sm:hidden', md: 'not-md:hidden', lg: 'not-lg:hidden', xl: 'not-xl:hidden' } as const;
const shapeOf = <Item,>({ width = '', from, isRight = false }: Column<Item>): string =>
  `${width} ${from ? FROM[from] : ''} ${isRight ? 'text-right' : ''}`;

/** The space beside a cell. The last column of a phone is not always the last one of the table. */
function spaceOf<Item>(columns: readonly Column<Item>[], index: number): string {
  const isLastOnPhones = index === columns.findLastIndex(({ from }) => from === undefined);
  return `px-4 ${index > 0 ? 'not-sm:pl-2' : ''} ${isLastOnPhones ? '' : 'not-sm:pr-2'}`;
}

/** The box of a row, with room for a finger, above the link that covers the row. */
const Box = (props: {
  readonly label: string;
  readonly isChecked: boolean;
  readonly isDisabled?: boolean;
  readonly onChange: () => void;
}) => (
  <label className="relative z-1 grid size-8 cursor-pointer place-items-center">
    <input
      type="checkbox"
      className="size-4 accent-accent"
      aria-label={props.label}
      checked={props.isChecked}
      disabled={props.isDisabled === true}
      onChange={props.onChange}
    />
  </label>
);

/** The heading of a column; a button where the list can be sorted by it. */
function Heading<Item>(props: {
  readonly column: Column<Item>;
  readonly sorting: Sorting | undefined;
  readonly className: string;
}) {
  const { column, sorting } = props;
  const { name, sortBy, isRight = false } = column;
  if (!sorting || sortBy === undefined)
    return (
      <th scope="col" className={props.className}>
        {name}
      </th>
    );
  const isSorted = sorting.by === sortBy;
  return (
    <th
      scope="col"
      {...(isSorted && { 'aria-sort': sorting.isDescending ? 'descending' : 'ascending' })}
      className={props.className}
    >
      <button
        type="button"
        className={`inline-flex min-h-7 max-w-full items-center gap-1 hover:text-ink ${isRight ? 'flex-row-reverse' : ''} ${isSorted ? 'text-ink' : ''}`}
        onClick={() => sorting.toggle(sortBy)}
      >
        {name}
        <span
          aria-hidden="true"
          className={`[&>svg]:size-3 ${isSorted ? '' : 'opacity-40'} ${isSorted && !sorting.isDescending ? 'rotate-180' : ''}`}
        >
          {icons.Down}
        </span>
      </button>
    </th>
  );
}

/** The column of the boxes. */
const SELECTING = 'w-11 pl-2 text-left not-sm:w-9 not-sm:pl-1';

/**
 * A list as a table. Only the visible rows exist; the next page is read when its end becomes visible. Keys:
 * `j` and `k` or the arrows move between rows, Enter opens one.
 */
export function Table<Item>(props: {
  readonly label: string;
  readonly list: ListResult<Item>;
  readonly columns: readonly [Column<Item>, ...Column<Item>[]];
  readonly keyOf: (item: Item) => string;
  /** The target of a row's link. */
  readonly linkOf?: (item: Item) => string;
  /** Rows with a box, for actions on several. */
  readonly selection?: Selection<Item> | undefined;
  readonly sorting?: Sorting;
  /**
   * The names of the items, for the list that a page is about: it shows how many there are, and has its
   * columns chosen.
   */
  readonly nouns?: Nouns;
  /** Their number as the service counts them, for a list that may be long. */
  readonly counted?: ListCount | undefined;
  readonly empty: ReactNode;
}) {
  const { list, selection, nouns } = props;
  const chosen = useColumns(props.label, props.columns);
  const columns = nouns ? chosen.shown : props.columns;
  const { hasNextPage = false } = list;
  const selectRest = useSelectAll(list, selection);
  // Other filters are seen at once; the rows that they leave are drawn in pieces between which the browser
  // takes input.
  const items = useDeferredValue(list.items);
  const isBehind = items !== list.items;
  const body = useRef<HTMLTableSectionElement>(null);
  const [top, setTop] = useState(0);
  const count = items?.length ?? 0;
  const rows = useWindowVirtualizer({
    count,
    estimateSize: () => ROW,
    overscan: 12,
    scrollMargin: top,
    // The rows beyond the edge are enough for the next picture: none has to wait for React.
    useFlushSync: false,
    // The rows in sight are there in the first picture, and not in a second one.
    initialRect: { width: innerWidth, height: innerHeight },
    // A list scrolls to the place where it begins, which has the browser lay out the whole page amid its
    // rendering.
    scrollToFn: (offset, options, list) => {
      if (offset !== list.scrollOffset) windowScroll(offset, options, list);
    },
  });
  const shown = rows.getVirtualItems();
  const first = shown[0]?.index ?? 0;
  const last = shown.at(-1)?.index ?? -1;
  const { onFocus } = useRowKeys({
    body,
    hasLinks: props.linkOf !== undefined,
    count,
    first,
    last,
    scrollTo: rows.scrollToIndex,
  });

  // The content above the rows may change its height at any time, and with it that of the page.
  const hasRows = count > 0;
  useLayoutEffect(() => {
    const rows = body.current;
    if (!rows || !hasRows) return;
    const measure = () => setTop(Math.round(rows.getBoundingClientRect().top + scrollY));
    const watch = new ResizeObserver(measure);
    for (const each of [rows.closest('main') ?? rows, document.body]) watch.observe(each);
    return () => watch.disconnect();
  }, [hasRows]);

  useEffect(() => {
    // A refused page is asked for again by the button alone.
    const isFree = list.isFetchingNextPage !== true && list.isFetchNextPageError !== true;
    if (hasNextPage && !isBehind && isFree && last >= count - 10) list.fetchNextPage?.();
  }, [hasNextPage, isBehind, list, last, count]);

  if (items === undefined && list.error)
    return <Failed error={list.error} onRetry={() => void list.refetch()} />;
  if (items !== undefined && count === 0 && !hasNextPage) return props.empty;
  const before = shown[0] ? shown[0].start - top : 0;
  const after = rows.getTotalSize() - (shown.at(-1) ? (shown.at(-1)?.end ?? 0) - top : 0);
  const table = (
    <div className="card overflow-x-auto">
      <table
        aria-label={props.label}
        aria-rowcount={hasNextPage || items === undefined ? -1 : count + 1}
        aria-busy={items === undefined || isBehind}
        className="w-full table-fixed"
      >
        <thead className="border-b border-edge bg-sunk text-left text-caption text-dim">
          <tr aria-rowindex={1}>
            {selection && (
              <th scope="col" className={SELECTING}>
                <Box
                  label="Select all loaded rows"
                  isChecked={count > 0 && items?.every(selection.has) === true}
                  // The rows of the filter before are there until those of this one are.
                  isDisabled={isBehind || list.isPlaceholderData === true}
                  onChange={() => selection.toggleAll(items ?? [])}
                />
              </th>
            )}
            {columns.map((column, index) => (
              <Heading
                key={column.name}
                column={column}
                sorting={props.sorting}
                className={`h-9 font-medium ${spaceOf(columns, index)} ${index === 0 && selection ? 'not-sm:pl-1' : ''} ${shapeOf(column)}`}
              />
            ))}
          </tr>
        </thead>
        <tbody ref={body} onFocus={onFocus}>
          {items === undefined &&
            SKELETONS.map((key) => (
              <tr key={key} style={{ height: ROW }} className="border-b border-edge last:border-0">
                {selection && <td className={SELECTING} />}
                {columns.map((column) => (
                  <td key={column.name} className={`px-4 ${shapeOf(column)}`}>
                    <Skeleton className="h-4 w-3/5" />
                  </td>
                ))}
              </tr>
            ))}
          {before > 0 && <tr style={{ height: before }} />}
          {shown.map(({ index }) => {
            const item = items?.[index];
            return item === undefined ? null : (
              <Row
                key={props.keyOf(item)}
                index={index}
                item={item}
                columns={columns}
                to={props.linkOf?.(item) ?? null}
                labelOf={selection?.labelOf}
                toggle={selection?.toggle}
                isSelected={selection?.has(item) === true}
              />
            );
          })}
          {after > 0 && <tr style={{ height: after }} />}
        </tbody>
      </table>
      {hasNextPage && items !== undefined && (
        <div className="grid place-items-center gap-1 border-t border-edge p-2">
          {list.isFetchNextPageError === true && list.isFetchingNextPage !== true && (
            <p role="alert" data-color="bad" className="state-text text-caption">
              {list.error?.message}
            </p>
          )}
          <Button look="quiet" busy={list.isFetchingNextPage === true} onClick={() => list.fetchNextPage?.()}>
            {list.isFetchingNextPage === true ? 'Loading…' : 'Show more'}
          </Button>
        </div>
      )}
    </div>
  );
  if (!nouns) return table;
  return (
    <div className="grid gap-1">
      <ListBar
        text={countText({ items, hasNextPage }, props.counted, nouns)}
        columns={chosen}
        selectRest={selectRest}
      />
      {table}
    </div>
  );
}

/** A row, which is drawn again only when something of it has changed: not for each step of scrolling. */
const Row = memo(DrawnRow) as typeof DrawnRow;

function DrawnRow<Item>(props: {
  readonly index: number;
  readonly item: Item;
  readonly columns: readonly Column<Item>[];
  readonly to: string | null;
  /** The label of the row's box and the action of it; without them the row has no box. */
  readonly labelOf: Selection<Item>['labelOf'] | undefined;
  readonly toggle: Selection<Item>['toggle'] | undefined;
  readonly isSelected: boolean;
}) {
  const { item, labelOf, toggle } = props;
  const hasBox = labelOf !== undefined && toggle !== undefined;
  const [head, ...rest] = props.columns as readonly [Column<Item>, ...Column<Item>[]];
  return (
    <tr
      aria-rowindex={props.index + 2}
      style={{ height: ROW }}
      className={`relative border-b border-edge last:border-0 ${props.to === null ? '' : 'hover:bg-hover has-[[data-row]:focus-visible]:bg-hover'}`}
    >
      {hasBox && (
        <td className={SELECTING}>
          <Box label={`Select ${labelOf(item)}`} isChecked={props.isSelected} onChange={() => toggle(item)} />
        </td>
      )}
      <th
        scope="row"
        className={`text-left font-normal ${spaceOf(props.columns, 0)} ${hasBox ? 'not-sm:pl-1' : ''} ${shapeOf(head)}`}
      >
        {props.to === null ? (
          head.cell(item)
        ) : (
          <Link
            href={props.to}
            data-row={props.index}
            tabIndex={-1}
            className="block after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
          >
            {head.cell(item)}
          </Link>
        )}
      </th>
      {rest.map((column, index) => (
        <td
          key={column.name}
          className={`truncate text-dim ${spaceOf(props.columns, index + 1)} ${shapeOf(column)}`}
        >
          {column.cell(item)}
        </td>
      ))}
    </tr>
  );
}

/** The first cell of a row: what it is, and beneath it smaller what else is worth knowing. */
export const Lead = ({ title, sub }: { readonly title: ReactNode; readonly sub?: ReactNode }) => (
  <span className="block min-w-0">
    <span className="block truncate font-medium">{title}</span>
    {sub !== undefined && <span className="block truncate text-caption text-dim">{sub}</span>}
  </span>
);

/** The actions of a row, above the link that covers it. */
export const RowActions = ({ children }: { readonly children: ReactNode }) => (
  <span className="relative z-1 inline-flex justify-end gap-1">{children}</span>
);
