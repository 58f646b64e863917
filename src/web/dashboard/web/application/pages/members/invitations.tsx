import type { Invitation } from '../../../../../client/operations.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { timeColumn } from '../../ui/lists/column-kinds.tsx';
import type { Column } from '../../ui/lists/list-types.ts';
import { Lead, RowActions, Table } from '../../ui/lists/table.tsx';

const stateOf = ({ acceptedAt, expiresAt }: Invitation): string =>
  acceptedAt !== null ? 'accepted' : Date.parse(expiresAt) < Date.now() ? 'expired' : 'open';

const COLUMNS: readonly [Column<Invitation>, ...Column<Invitation>[]] = [
  { name: 'Email address', cell: ({ email, role }) => <Lead title={email} sub={role} /> },
  {
    name: 'Status',
    width: 'w-32 not-sm:w-28',
    cell: (each) => <Badge status={stateOf(each)} tone={stateOf(each) === 'open' ? 'waiting' : 'quiet'} />,
  },
  timeColumn('Expires', 'expiresAt', { from: 'sm', isRight: false }),
  {
    name: 'Withdraw',
    width: 'w-32 not-sm:w-24',
    isRight: true,
    cell: (each) => stateOf(each) === 'open' && <Withdraw invitation={each} />,
  },
];

/** The invitations; open ones can be withdrawn. */
export function Invitations() {
  const { data: items, error, refetch } = useRead('GET /members/invitations', {});
  if (items?.length === 0) return null;
  return (
    <section aria-label="Invitations" className="grid gap-3">
      <h2 className="text-heading font-semibold">Invitations</h2>
      <Table
        label="Invitations"
        list={{ items, error, refetch }}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={null}
      />
    </section>
  );
}

function Withdraw({ invitation: { id, email } }: { readonly invitation: Invitation }) {
  const withdraw = useChange('DELETE /members/invitations/{id}');
  return (
    <RowActions>
      <Button
        look="quiet"
        aria-label={`Withdraw invitation of ${email}`}
        busy={withdraw.isPending}
        onClick={() => withdraw.mutate({ path: { id } }, `Invitation of ${email} withdrawn`)}
      >
        Withdraw
      </Button>
    </RowActions>
  );
}
