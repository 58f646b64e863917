import { count } from '../display/format.ts';
import { Time } from '../display/time.tsx';
import type { Column } from './list-types.ts';

type Looks = Partial<Omit<Column<never>, 'name' | 'cell'>>;

/** A column of a time that items have, or of a word where it is null: a dash by default. */
export const timeColumn = <Member extends string>(
  name: string,
  member: Member,
  { none = '–', ...looks }: Looks & { readonly none?: string } = {},
): Column<Readonly<Record<Member, string | null>>> => ({
  name,
  width: 'w-36',
  isRight: true,
  ...looks,
  cell: (item) => <Time at={item[member]} none={none} />,
});

/** The column by which most lists are sorted at first, hidden until it is chosen. */
export const CREATED = timeColumn('Created', 'createdAt', { sortBy: 'createdAt', from: 'md', isExtra: true });

/** A column of a number, or of a dash where it is null. */
export const countColumn = <Item,>(
  name: string,
  numberOf: (item: Item) => number | null,
  looks: Looks = {},
): Column<Item> => ({
  name,
  width: 'w-28',
  isRight: true,
  ...looks,
  cell: (item) => {
    const number = numberOf(item);
    return <span className="num">{number === null ? '–' : count(number)}</span>;
  },
});
