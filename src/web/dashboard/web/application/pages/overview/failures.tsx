import { type ItemOf, useList } from '../../api/queries.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { type Column, Lead, Table } from '../../ui/display/table.tsx';
import { Time } from '../../ui/display/time.tsx';

type Item = ItemOf<'GET /emails'>;

const REASONS = {
  bounced: 'The receiving server refused it for good',
  suppressed: 'Its recipients are suppressed: they bounced, complained or left',
  expired: 'Three days of attempts ran out',
  rejected: 'It was refused before it was sent',
  domain_removed: 'Its domain was removed',
} as const satisfies Record<NonNullable<Item['failureReason']>, string>;

const COLUMNS: readonly [Column<Item>, ...Column<Item>[]] = [
  { name: 'Email', cell: ({ to, subject }) => <Lead title={to.join(', ')} sub={subject} /> },
  {
    name: 'Why',
    cell: ({ failureReason }) => (failureReason === null ? 'It failed' : REASONS[failureReason]),
  },
  {
    name: 'Accepted',
    width: 'w-36',
    from: 'sm',
    isRight: true,
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
];

/** The latest emails that failed, and why. */
export function Failures() {
  const list = useList('GET /emails', { query: { status: 'failed', limit: 5 } }, { every: 2_000 });
  return (
    <section aria-label="What failed lately" className="grid gap-3">
      <div className="flex items-center justify-between gap-3">
        <h2 className="text-heading font-semibold">What failed lately</h2>
        {(list.items?.length ?? 0) > 0 && (
          <ButtonLink look="quiet" to="/emails?status=failed">
            All of them
          </ButtonLink>
        )}
      </div>
      <Table
        label="What failed lately"
        list={{ items: list.items, error: list.error, refetch: list.refetch }}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        linkOf={({ id }) => `/emails/${id}`}
        empty={<p className="card p-5 text-dim">Nothing has failed.</p>}
      />
    </section>
  );
}
