import { Time } from '../display/time.tsx';
import type { Column } from './list-types.ts';

/** The column by which most lists are sorted at first, hidden until it is chosen. */
export const CREATED: Column<{ readonly createdAt: string }> = {
  name: 'Created',
  sortBy: 'createdAt',
  width: 'w-36',
  from: 'md',
  isRight: true,
  isExtra: true,
  cell: ({ createdAt }) => <Time at={createdAt} />,
};
