import { useState } from 'react';
import type { Role } from '../../../../../../http/auth/roles.ts';
import type { Member } from '../../../../../client/operations.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { useMember, useViewer } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { icons } from '../../ui/icons.tsx';
import { timeColumn } from '../../ui/lists/column-kinds.tsx';
import type { Column } from '../../ui/lists/list-types.ts';
import { Lead, RowActions, Table } from '../../ui/lists/table.tsx';
import { Item, Menu, Separator } from '../../ui/overlays/menu.tsx';
import { toast, toastProblem } from '../../ui/overlays/toast.tsx';
import { Page } from '../../ui/page.tsx';
import { Invitations } from './invitations.tsx';
import { Invite, rolesUpTo } from './invite.tsx';
import { Remove } from './remove.tsx';

const COLUMNS: readonly [Column<Member>, ...Column<Member>[]] = [
  { name: 'Member', cell: ({ name, email }) => <Lead title={name} sub={email} /> },
  {
    name: 'Second factor',
    width: 'w-36',
    from: 'md',
    cell: ({ twoFactor }) => <Badge status={twoFactor ? 'on' : 'off'} tone={twoFactor ? 'good' : 'quiet'} />,
  },
  timeColumn('Last active', 'lastSeenAt', { from: 'sm', isRight: false, none: 'never' }),
  { name: 'Role', width: 'w-40', isRight: true, cell: (member) => <MemberRole member={member} /> },
];

/** The members of the workspace, and the open invitations. */
export default function Members() {
  const { may } = useViewer();
  const { data: items, error, refetch } = useRead('GET /members', {});
  const [isInviting, setInviting] = useState(false);
  const mayWrite = may('members:write');
  return (
    <Page
      title="Members"
      about="The people of this workspace. A role is a set of permissions."
      actions={
        mayWrite && (
          <Button look="main" data-create onClick={() => setInviting(true)}>
            {icons.Plus} Invite member
          </Button>
        )
      }
    >
      <Table
        label="Members"
        list={{ items, error, refetch }}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={<p className="card p-5 text-dim">No members</p>}
      />
      {mayWrite && <Invitations />}
      {isInviting && <Invite onClose={() => setInviting(false)} />}
    </Page>
  );
}

/** The role of a member, as a select for viewers who may change it. */
function MemberRole({ member }: { readonly member: Member }) {
  const { session, may } = useMember();
  const [isAsking, setAsking] = useState(false);
  const update = useChange('PATCH /members/{id}');
  const path = { id: member.id };
  const roles = rolesUpTo(session.member.role);
  if (!may('members:write') || !roles.includes(member.role)) return <span>{member.role}</span>;
  const give = async (role: Role) => {
    await update.mutateAsync({ path, body: { role } });
    toast(`${member.name} is now ${role}`, () => update.mutateAsync({ path, body: { role: member.role } }));
  };
  return (
    <RowActions>
      <Menu
        label={`Role of ${member.name}`}
        className="button button-quiet"
        items={
          <>
            {roles.map((role) => (
              <Item
                key={role}
                checked={role === member.role}
                onSelect={() => role !== member.role && void give(role).catch(toastProblem)}
              >
                {role}
              </Item>
            ))}
            <Separator />
            <Item danger onSelect={() => setAsking(true)}>
              Remove from workspace
            </Item>
          </>
        }
      >
        <span className="sr-only">{member.name}: </span>
        {member.role} {icons.Down}
      </Menu>
      {isAsking && <Remove member={member} onClose={() => setAsking(false)} />}
    </RowActions>
  );
}
