import type { ReactNode } from 'react';

/** One column: its name, what it shows of an item, and the width from which there is room for it. */
export interface Column<Item> {
  readonly name: string;
  readonly cell: (item: Item) => ReactNode;
  /** Tailwind's width of it. */
  readonly width?: string;
  readonly from?: 'sm' | 'md' | 'lg' | 'xl';
  readonly isRight?: boolean;
  /** The member of the items by which its heading sorts the list. */
  readonly sortBy?: string;
  /** True for a column that is hidden until it is chosen. */
  readonly isExtra?: boolean;
  /** True for a column that cannot be hidden. */
  readonly isFixed?: boolean;
}

/** The answer of `useList`, or anything of its shape. */
export interface ListResult<Item> {
  readonly items: readonly Item[] | undefined;
  readonly error: Error | null;
  /** True while `items` are those of the filter or order before. */
  readonly isPlaceholderData?: boolean;
  readonly hasNextPage?: boolean;
  readonly isFetchingNextPage?: boolean;
  /** True where the page after `items` could not be read; `error` says why. */
  readonly isFetchNextPageError?: boolean;
  fetchNextPage?(): unknown;
  refetch(): unknown;
}
