import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import {
  CONTACT_FIELD_NAMES,
  CONTACT_FIELDS,
  wholeName,
} from '../../../../../../platform/text/contact-fields.ts';
import type { Contact } from '../../../../../client/operations.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { Id } from '../../ui/display/copy-button.tsx';
import { Skeleton } from '../../ui/display/states.tsx';
import { Time } from '../../ui/display/time.tsx';
import { icons } from '../../ui/icons.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import { Item, Menu } from '../../ui/overlays/menu.tsx';
import { toast } from '../../ui/overlays/toast.tsx';
import { Card, Facts, Page, PendingPage } from '../../ui/page.tsx';
import { propertyText, useAudienceNames } from '../names.ts';
import { Activity } from './activity.tsx';
import { Consent } from './consent.tsx';
import { EditContact } from './edit.tsx';
import { RecordEvent } from './record-event.tsx';

/** The effect of each status on sending. */
const MEANING = {
  subscribed: 'Gets email of campaigns and flows.',
  unsubscribed: 'Unsubscribed. Campaigns and flows skip this contact; transactional email is still sent.',
  bounced: 'The address does not exist. No email is sent to it.',
  complained: 'Reported an email as spam. No email is sent, and only the contact can change that.',
} as const satisfies Record<Contact['status'], string>;

/** The fields beside the name, by their labels. */
const besidesName = (contact: Contact) =>
  Object.fromEntries(
    CONTACT_FIELD_NAMES.filter((name) => !CONTACT_FIELDS[name].isPartOfName).map((name) => [
      CONTACT_FIELDS[name].label,
      contact[name],
    ]),
  );

/** One contact: what is known, and everything that happened. */
export default function ContactDetail({ id }: { readonly id: string }) {
  const { data, error, refetch } = useRead('GET /contacts/{contact}', { path: { contact: id } });
  const back = { to: '/contacts', text: 'Contacts' };
  if (error && !data)
    return <PendingPage title="Contact" back={back} error={error} onRetry={() => void refetch()} />;
  return (
    <Page
      title={data?.email ?? 'Contact'}
      back={back}
      about={
        data && (
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <Badge status={data.status} />
            <span>{MEANING[data.status]}</span>
          </span>
        )
      }
      actions={data && <Actions contact={data} />}
    >
      <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <Activity id={id} />
        <div className="grid gap-5 not-lg:order-first">
          <Card title="Person">
            {data ? (
              <Facts
                facts={{
                  Name: wholeName(data),
                  ...besidesName(data),
                  Added: <Time at={data.createdAt} />,
                  Unsubscribed: data.unsubscribedAt && <Time at={data.unsubscribedAt} />,
                  'Last active': <Time at={data.lastActivityAt} none="never" />,
                  Id: <Id id={data.id} />,
                }}
              />
            ) : (
              <Skeleton className="h-28 w-full" />
            )}
          </Card>
          {data && Object.keys(data.properties).length > 0 && (
            <Card title="Properties">
              <Facts
                facts={Object.fromEntries(
                  Object.entries(data.properties).map(([key, value]) => [key, propertyText(value)]),
                )}
              />
            </Card>
          )}
          {data && <InAudiences contact={data} />}
        </div>
      </div>
    </Page>
  );
}

function InAudiences({ contact: { audienceIds } }: { readonly contact: Contact }) {
  const names = useAudienceNames();
  return (
    <Card title="Audiences">
      {audienceIds.length === 0 ? (
        <p className="text-dim">Not in a static audience.</p>
      ) : (
        <ul className="grid gap-1.5">
          {audienceIds.map((id) => (
            <li key={id}>
              <Link href={`/audiences/${id}`} className="link">
                {names[id] ?? id}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function Actions({ contact }: { readonly contact: Contact }) {
  const { may } = useViewer();
  const [asked, setAsked] = useState<'edit' | 'event' | 'consent' | 'unsubscribe' | 'forget' | null>(null);
  const [, navigate] = useLocation();
  const change = useChange('PATCH /contacts/{contact}', ['audiences', 'suppressions']);
  const forget = useChange('DELETE /contacts/{contact}', ['audiences', 'suppressions']);
  const close = () => setAsked(null);
  if (!may('contacts:write')) return null;
  const { id, email, status } = contact;
  const path = { contact: id };
  return (
    <>
      {status === 'subscribed' && <Button onClick={() => setAsked('unsubscribe')}>Unsubscribe</Button>}
      {(status === 'unsubscribed' || status === 'bounced') && (
        <Button onClick={() => setAsked('consent')}>Subscribe again</Button>
      )}
      <Button look="main" data-edit onClick={() => setAsked('edit')}>
        Edit contact
      </Button>
      <Menu
        label="More actions"
        isPicture
        items={
          <>
            <Item onSelect={() => setAsked('event')}>{icons.Plus} Record event</Item>
            <Item danger onSelect={() => setAsked('forget')}>
              {icons.Block} Forget contact
            </Item>
          </>
        }
      >
        {icons.More}
      </Menu>
      {asked === 'edit' && <EditContact contact={contact} onClose={close} />}
      {asked === 'event' && <RecordEvent contact={contact} onClose={close} />}
      {asked === 'consent' && <Consent contact={contact} onClose={close} />}
      {asked === 'unsubscribe' && (
        <Confirm
          title={`Unsubscribe ${email}?`}
          action="Unsubscribe"
          onClose={close}
          done={`${email} unsubscribed`}
          onConfirm={() => change.mutateAsync({ path, body: { status: 'unsubscribed' } })}
        >
          Campaigns and flows no longer reach this contact. To subscribe them again, you need their consent,
          with its source and time.
        </Confirm>
      )}
      {asked === 'forget' && (
        <Confirm
          title={`Forget ${email}?`}
          action="Forget contact"
          onClose={close}
          onConfirm={async () => {
            navigate('/contacts');
            await forget.mutateAsync({ path });
            toast('Contact forgotten');
          }}
        >
          The name, properties and timeline are deleted, and the address is erased from stored emails. If the
          contact had unsubscribed, a hash is kept so that no import subscribes them again. This cannot be
          undone.
        </Confirm>
      )}
    </>
  );
}
