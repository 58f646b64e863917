import { useState } from 'react';
import type { Mailbox } from '../../../../../client/operations.ts';
import { useChange, useList } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { Empty } from '../../ui/display/states.tsx';
import { icons } from '../../ui/icons.tsx';
import { countColumn } from '../../ui/lists/column-kinds.tsx';
import type { Column } from '../../ui/lists/list-types.ts';
import { Lead, RowActions, Table } from '../../ui/lists/table.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import { toast, toastProblem } from '../../ui/overlays/toast.tsx';
import { Page } from '../../ui/page.tsx';
import { EditMailbox } from './edit-mailbox.tsx';

/** The place of a mailbox, in words. */
const placeOf = ({ host, folder }: Mailbox): string => `${folder} at ${host}`;

/** The mailboxes that are read by IMAP. */
export default function Mailboxes() {
  const { environment, may } = useViewer();
  const [editing, setEditing] = useState<Mailbox | 'new' | null>(null);
  const [leaving, setLeaving] = useState<Mailbox | null>(null);
  const list = useList('GET /mailboxes', {}, { every: 2_000 });
  const change = useChange('PATCH /mailboxes/{id}');
  const remove = useChange('DELETE /mailboxes/{id}');
  const pause = async ({ id, status }: Mailbox): Promise<void> => {
    const paused = status !== 'paused';
    await change.mutateAsync({ path: { id }, body: { paused } });
    toast(paused ? 'Mailbox paused' : 'Mailbox resumed');
  };
  const mayWrite = may('domains:write');
  const columns: readonly [Column<Mailbox>, ...Column<Mailbox>[]] = [
    {
      name: 'Mailbox',
      cell: (each) => <Lead title={each.username} sub={each.reason ?? placeOf(each)} />,
    },
    countColumn('Taken', ({ taken }) => taken, { from: 'lg', width: 'w-24' }),
    countColumn('Skipped', ({ skipped }) => skipped, { from: 'lg', width: 'w-24' }),
    { name: 'Status', width: 'w-32', cell: ({ status }) => <Badge status={status} /> },
    ...(mayWrite
      ? [
          {
            name: 'Actions',
            width: 'w-56',
            isRight: true,
            cell: (each: Mailbox) => (
              <RowActions>
                <Button look="quiet" onClick={() => void pause(each).catch(toastProblem)}>
                  {each.status === 'paused' ? 'Resume' : 'Pause'}
                </Button>
                <Button look="quiet" onClick={() => setEditing(each)}>
                  Edit
                </Button>
                <Button look="quiet" onClick={() => setLeaving(each)}>
                  Delete
                </Button>
              </RowActions>
            ),
          },
        ]
      : []),
  ];
  const add = mayWrite && (
    <Button look="main" data-create onClick={() => setEditing('new')}>
      {icons.Plus} Add mailbox
    </Button>
  );
  return (
    <Page
      title="Mailboxes"
      about="Mailboxes at other servers, whose new messages go through the inbound routes. Nothing in them is changed."
      actions={add}
    >
      <Table
        label="Mailboxes"
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          <Empty title={`No ${environment} mailboxes yet`} icon={icons.Inbox} action={add}>
            <p>
              A mailbox is for a domain whose mail another server takes: replies, bounces and complaints in it
              count.
            </p>
          </Empty>
        }
      />
      {editing && (
        <EditMailbox mailbox={editing === 'new' ? null : editing} onClose={() => setEditing(null)} />
      )}
      {leaving && (
        <Confirm
          title="Delete this mailbox?"
          action="Delete mailbox"
          onClose={() => setLeaving(null)}
          done="Mailbox deleted"
          onConfirm={() => remove.mutateAsync({ path: { id: leaving.id } })}
        >
          {leaving.username} is read no more. Its messages stay at {leaving.host} and in the inbox.
        </Confirm>
      )}
    </Page>
  );
}
