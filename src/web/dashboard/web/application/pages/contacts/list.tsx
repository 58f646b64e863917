import { useState } from 'react';
import { Link } from 'wouter';
import { CONTACT_FIELDS, wholeName } from '../../../../../../platform/text/contact-fields.ts';
import type { Contact } from '../../../../../client/operations.ts';
import { countRule, useDownload, useList, useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { listText } from '../../ui/display/format.ts';
import { Empty } from '../../ui/display/states.tsx';
import { icons } from '../../ui/icons.tsx';
import { countColumn, timeColumn } from '../../ui/lists/column-kinds.tsx';
import { ChoiceFilter, FilterBar, TextFilter, useFilters } from '../../ui/lists/filters.tsx';
import type { Column } from '../../ui/lists/list-types.ts';
import { useSelection } from '../../ui/lists/selection.tsx';
import { useSort } from '../../ui/lists/sort.ts';
import { Lead, Table } from '../../ui/lists/table.tsx';
import { Item, Menu } from '../../ui/overlays/menu.tsx';
import { Page } from '../../ui/page.tsx';
import { useAudienceNames } from '../names.ts';
import { ContactActions } from './bulk.tsx';
import { NewContact } from './edit.tsx';

const STATUSES = {
  subscribed: 'Subscribed',
  unsubscribed: 'Unsubscribed',
  bounced: 'Bounced',
  complained: 'Complained',
} as const satisfies Record<Contact['status'], string>;

const SEARCHED = listText([
  'Addresses',
  ...Object.values(CONTACT_FIELDS).map(({ label }) => `${label.toLowerCase()}s`),
]);

const COLUMNS: readonly [Column<Contact>, ...Column<Contact>[]] = [
  {
    name: 'Contact',
    sortBy: 'email',
    cell: (contact) => {
      const name = wholeName(contact);
      return name === '' ? <Lead title={contact.email} /> : <Lead title={contact.email} sub={name} />;
    },
  },
  { name: 'Status', width: 'w-36', cell: ({ status }) => <Badge status={status} /> },
  countColumn('Audiences', ({ audienceIds }) => audienceIds.length, { from: 'xl' }),
  timeColumn('Last active', 'lastActivityAt', { from: 'md', none: 'never' }),
  timeColumn('Added', 'createdAt', { sortBy: 'createdAt', from: 'sm' }),
  timeColumn('Updated', 'updatedAt', { from: 'lg', isExtra: true }),
  timeColumn('Unsubscribed', 'unsubscribedAt', { from: 'lg', isExtra: true }),
];

const idOf = ({ id }: Contact): string => id;
const addressOf = ({ email }: Contact): string => email;

/** The contacts of one environment. */
export function ContactList() {
  const { environment, may } = useViewer();
  const { values, set, filter, isSet, clear } = useFilters(['search', 'status', 'audience', 'import']);
  const { search, status, audience } = values;
  const [isMaking, setMaking] = useState(false);
  const audiences = useAudienceNames();
  const ofImport = values.import !== '';
  const {
    data: added,
    error: importProblem,
    refetch: readImport,
  } = useRead('GET /contacts/imports/{id}', { path: { id: values.import } }, { enabled: ofImport });
  const isKnown = !ofImport || added !== undefined;
  const isRunning = ofImport && added?.endedAt === null;
  const query = {
    ...(added && { createdAfter: added.createdAt }),
    // The last contacts may have the millisecond of the end, and `createdBefore` leaves that one out.
    ...(added?.endedAt && { createdBefore: new Date(Date.parse(added.endedAt) + 1).toISOString() }),
    ...(search !== '' && { search }),
    ...(status in STATUSES && { status: status as Contact['status'] }),
    ...(audience !== '' && { audienceId: audience }),
  };
  const { query: order, sorting } = useSort('email');
  const file = useDownload('GET /contacts/export', { query: { ...query, ...order } });
  const read = useList(
    'GET /contacts',
    { query: { ...query, ...order } },
    { keeps: !ofImport, enabled: isKnown },
  );
  // Without its times the question is that of the whole list, which this page may have read before.
  const list = isKnown
    ? read
    : { ...read, items: undefined, hasNextPage: false, error: importProblem, refetch: readImport };
  const counted = useRead('GET /contacts/count', { query }, countRule(list)).data;
  const selection = useSelection<Contact>(idOf, addressOf);
  const hasSome = isSet || (list.items?.length ?? 0) > 0;
  const create = may('contacts:write') && (
    <Button look="main" data-create onClick={() => setMaking(true)}>
      {icons.Plus} Add contact
    </Button>
  );
  const byFile = may('contacts:write') && <ButtonLink to="/contacts/import">Import contacts</ButtonLink>;
  return (
    <Page
      title="Contacts"
      about="The people that campaigns and flows write to, with their properties."
      actions={
        <>
          {byFile}
          {create}
          <Menu
            label="More actions"
            isPicture
            items={
              <>
                {hasSome && isKnown && (
                  <Item render={<a href={file} download={`contacts-${environment}.csv`} />}>
                    {isSet ? 'Export matching contacts as CSV' : 'Export all as CSV'}
                  </Item>
                )}
                <Item render={<Link href="/contacts/imports" />}>Imports</Item>
              </>
            }
          >
            {icons.More}
          </Menu>
        </>
      }
    >
      <FilterBar isSet={isSet} onClear={clear}>
        <TextFilter label="Address or name" {...filter('search')} />
        <ChoiceFilter label="Status" {...filter('status')} options={STATUSES} />
        {Object.keys(audiences).length > 0 && (
          <ChoiceFilter label="Audience" {...filter('audience')} options={audiences} />
        )}
        {ofImport && (
          <button type="button" className="chip" onClick={() => set({ import: '' })}>
            Added while the import ran <span aria-hidden="true">×</span>
            <span className="sr-only">, remove</span>
          </button>
        )}
      </FilterBar>
      {isRunning && (
        <p role="status" className="text-dim">
          This import is still running, and adds more contacts. They can be selected once it has ended.
        </p>
      )}
      <Table
        label="Contacts"
        list={list}
        columns={COLUMNS}
        nouns={['contact', 'contacts']}
        counted={counted}
        sorting={sorting}
        keyOf={idOf}
        selection={may('contacts:write') && isKnown && !isRunning ? selection : undefined}
        linkOf={({ id }) => `/contacts/${id}`}
        empty={
          isSet ? (
            <Empty title="No matching contacts" icon={icons.Person}>
              <p>{SEARCHED} are matched from their beginning, ignoring case.</p>
            </Empty>
          ) : (
            <Empty
              title={`No ${environment} contacts yet`}
              icon={icons.Person}
              action={
                <>
                  {create}
                  {byFile}
                </>
              }
            >
              <p>
                A contact is an address with a name and properties of your choice. Contacts come from a CSV
                file, from your program (<code className="font-mono text-caption">POST /v1/contacts</code>),
                or from this form, one by one.
              </p>
              <p>
                A contact who unsubscribes stays unsubscribed: no import and no program subscribes them again.
              </p>
            </Empty>
          )
        }
      />
      <ContactActions selection={selection} />
      {isMaking && <NewContact onClose={() => setMaking(false)} />}
    </Page>
  );
}
