import { useState } from 'react';
import { useLocation } from 'wouter';
import { wholeName } from '../../../../../../platform/text/contact-fields.ts';
import type { Audience, Contact } from '../../../../../client/operations.ts';
import { useChange, useList, useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button, ButtonLink, IconButton } from '../../ui/button.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { count } from '../../ui/display/format.ts';
import { Empty } from '../../ui/display/states.tsx';
import { icons } from '../../ui/icons.tsx';
import { timeColumn } from '../../ui/lists/column-kinds.tsx';
import type { Column } from '../../ui/lists/list-types.ts';
import { Lead, RowActions, Table } from '../../ui/lists/table.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import { toast } from '../../ui/overlays/toast.tsx';
import { Page, PendingPage } from '../../ui/page.tsx';
import { Tabs, useTab } from '../../ui/tabs.tsx';
import { AddPeople } from './add-people.tsx';
import { AudienceSettings } from './settings.tsx';

const TABS = { contacts: 'Contacts', settings: 'Settings' } as const;

/** One audience: who is in it, and what it is. */
export default function AudienceDetail({ id }: { readonly id: string }) {
  const { data, error, refetch } = useRead('GET /audiences/{id}', { path: { id } });
  const tab = useTab(TABS);
  const back = { to: '/audiences', text: 'Audiences' };
  if (error && !data)
    return <PendingPage title="Audience" back={back} error={error} onRetry={() => void refetch()} />;
  return (
    <Page
      title={data?.name ?? 'Audience'}
      back={back}
      about={
        data && (
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <Badge status={data.type} tone={data.type === 'dynamic' ? 'moving' : 'quiet'}>
              {data.type === 'dynamic' ? 'Dynamic' : 'Static'}
            </Badge>
            {data.contactCount !== null && (
              <span className="num">
                {data.contactCount === 1 ? '1 contact' : `${count(data.contactCount)} contacts`}
              </span>
            )}
            {data.description !== null && <span>{data.description}</span>}
          </span>
        )
      }
      actions={data && <Actions audience={data} />}
    >
      <Tabs label="Audience views" tabs={TABS} current={tab} />
      {data &&
        (tab === 'contacts' ? (
          <Members audience={data} />
        ) : (
          <AudienceSettings key={data.updatedAt} audience={data} />
        ))}
    </Page>
  );
}

function Actions({ audience: { id, name, type } }: { readonly audience: Audience }) {
  const { may } = useViewer();
  const [asked, setAsked] = useState<'add' | 'delete' | null>(null);
  const [, navigate] = useLocation();
  const remove = useChange('DELETE /audiences/{id}', ['contacts']);
  if (!may('contacts:write')) return null;
  return (
    <>
      <Button look="quiet" onClick={() => setAsked('delete')}>
        Delete audience
      </Button>
      {type === 'static' && (
        <>
          <ButtonLink to={`/contacts/import?audience=${id}`}>Import contacts</ButtonLink>
          <Button look="main" data-create onClick={() => setAsked('add')}>
            {icons.Plus} Add contacts
          </Button>
        </>
      )}
      {asked === 'add' && <AddPeople audienceId={id} onClose={() => setAsked(null)} />}
      {asked === 'delete' && (
        <Confirm
          title={`Delete “${name}”?`}
          action="Delete audience"
          onClose={() => setAsked(null)}
          onConfirm={async () => {
            await remove.mutateAsync({ path: { id } });
            navigate('/audiences');
            toast(`Audience “${name}” deleted`);
          }}
        >
          Its contacts are kept. The membership is lost.
        </Confirm>
      )}
    </>
  );
}

function Members({ audience }: { readonly audience: Audience }) {
  const { may } = useViewer();
  const { id, type } = audience;
  const list = useList('GET /audiences/{id}/contacts', { path: { id } });
  const mayRemove = type === 'static' && may('contacts:write');
  const columns: readonly [Column<Contact>, ...Column<Contact>[]] = [
    {
      name: 'Contact',
      cell: (contact) => <Lead title={contact.email} sub={wholeName(contact) || undefined} />,
    },
    { name: 'Status', width: 'w-36', from: 'sm', cell: ({ status }) => <Badge status={status} /> },
    timeColumn('Last active', 'lastActivityAt', { from: 'md', none: 'never' }),
    ...(mayRemove
      ? [
          {
            name: 'Remove',
            width: 'w-24',
            isRight: true,
            cell: (contact: Contact) => <Remove audienceId={id} contact={contact} />,
          },
        ]
      : []),
  ];
  return (
    <Table
      label="Contacts of the audience"
      list={list}
      columns={columns}
      keyOf={(contact) => contact.id}
      linkOf={(contact) => `/contacts/${contact.id}`}
      empty={
        <Empty title="No contacts yet" icon={icons.People}>
          <p>
            {type === 'static'
              ? 'Add contacts by address, import a file, or add them with the API.'
              : 'No contact matches the filter now. Contacts that match later appear at once.'}
          </p>
        </Empty>
      }
    />
  );
}

/** Removes a contact from a list at once; the toast offers an undo. */
function Remove({ audienceId, contact }: { readonly audienceId: string; readonly contact: Contact }) {
  const remove = useChange('DELETE /audiences/{id}/contacts/{contact}', ['contacts']);
  const add = useChange('POST /audiences/{id}/contacts', ['contacts']);
  return (
    <RowActions>
      <IconButton
        label={`Remove ${contact.email} from the audience`}
        onClick={() =>
          remove.mutate({ path: { id: audienceId, contact: contact.id } }, () =>
            toast(`${contact.email} removed from the audience`, () =>
              add.mutateAsync({ path: { id: audienceId }, body: { contactIds: [contact.id] } }),
            ),
          )
        }
      >
        {icons.Close}
      </IconButton>
    </RowActions>
  );
}
