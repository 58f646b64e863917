import { type ItemOf, useList } from '../../api/queries.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { timeColumn } from '../../ui/lists/column-kinds.tsx';
import type { Column } from '../../ui/lists/list-types.ts';
import { Lead, Table } from '../../ui/lists/table.tsx';

type Item = ItemOf<'GET /emails'>;

const REASONS = {
  bounced: 'The receiving server refused it permanently',
  suppressed: 'All its recipients are suppressed',
  expired: 'Delivery was tried for three days without success',
  rejected: 'It was refused before sending',
  domain_removed: 'Its domain was removed',
} as const satisfies Record<NonNullable<Item['failureReason']>, string>;

const COLUMNS: readonly [Column<Item>, ...Column<Item>[]] = [
  { name: 'Email', cell: ({ to, subject }) => <Lead title={to.join(', ')} sub={subject} /> },
  {
    name: 'Reason',
    cell: ({ failureReason }) => (failureReason === null ? 'Failed' : REASONS[failureReason]),
  },
  timeColumn('Accepted', 'createdAt', { from: 'sm' }),
];

/** The latest emails that failed, and why. */
export function Failures() {
  const list = useList('GET /emails', { query: { status: 'failed', limit: 5 } }, { every: 2_000 });
  return (
    <section aria-label="Recent failures" className="grid gap-3">
      <div className="flex items-center justify-between gap-3">
        <h2 className="text-heading font-semibold">Recent failures</h2>
        {(list.items?.length ?? 0) > 0 && (
          <ButtonLink look="quiet" to="/emails?status=failed">
            View all
          </ButtonLink>
        )}
      </div>
      <Table
        label="Recent failures"
        list={{ items: list.items, error: list.error, refetch: list.refetch }}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        linkOf={({ id }) => `/emails/${id}`}
        empty={<p className="card p-5 text-dim">No failures</p>}
      />
    </section>
  );
}
