import { useState } from 'react';
import { useLocation } from 'wouter';
import { type ItemOf, useChange, useList } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { SetUpSending, useLiveEmail } from '../../shell/way-out.tsx';
import { Button } from '../../ui/button.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { Empty } from '../../ui/display/states.tsx';
import { Time } from '../../ui/display/time.tsx';
import { Field, Form } from '../../ui/forms/form.tsx';
import { icons } from '../../ui/icons.tsx';
import { CREATED } from '../../ui/lists/column-kinds.tsx';
import type { Column } from '../../ui/lists/list-types.ts';
import { useSort } from '../../ui/lists/sort.ts';
import { Lead, Table } from '../../ui/lists/table.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { listAndItems, Page } from '../../ui/page.tsx';
import { DomainNameField } from './records.tsx';
import { DOMAIN_STATES, PROVIDERS } from './states.ts';

type Item = ItemOf<'GET /domains'>;

const COLUMNS: readonly [Column<Item>, ...Column<Item>[]] = [
  { name: 'Domain', cell: ({ name }) => <Lead title={name} /> },
  { name: 'Transport', width: 'w-40', from: 'md', cell: ({ provider }) => PROVIDERS[provider] },
  {
    name: 'Checked',
    width: 'w-36',
    from: 'sm',
    cell: ({ lastCheckedAt, status }) => (
      <Time at={lastCheckedAt} none={status === 'verified' ? 'not needed' : 'not yet'} />
    ),
  },
  {
    name: 'Status',
    width: 'w-44',
    isRight: true,
    cell: ({ status }) => <Badge status={status} {...DOMAIN_STATES[status]} />,
  },
  CREATED,
];

function DomainList() {
  const { may } = useViewer();
  const [isAdding, setAdding] = useState(false);
  const live = useLiveEmail();
  const { query: order, sorting } = useSort();
  const list = useList('GET /domains', { query: order });
  const add = may('domains:write') && (
    <Button look="main" data-create onClick={() => setAdding(true)}>
      {icons.Plus} Add domain
    </Button>
  );
  return (
    <Page
      title="Domains"
      about={
        <>
          Live email needs a verified domain, or a subdomain of one, and is signed by it. {live.sentence}{' '}
          {!live.isDelivered && <SetUpSending />}
        </>
      }
      actions={add}
    >
      <Table
        label="Domains"
        list={list}
        columns={COLUMNS}
        nouns={['domain', 'domains']}
        sorting={sorting}
        keyOf={({ id }) => id}
        linkOf={({ id }) => `/domains/${id}`}
        empty={
          <Empty title="No domains yet" icon={icons.Globe} action={add}>
            <p>
              Add the domain that you send from. You get the records for its DNS, and the service checks them
              until they are in place. Test email needs no domain.
            </p>
          </Empty>
        }
      />
      {isAdding && <NewDomain onClose={() => setAdding(false)} />}
    </Page>
  );
}

function NewDomain({ onClose }: { readonly onClose: () => void }) {
  const [, navigate] = useLocation();
  const create = useChange('POST /domains');
  return (
    <Dialog title="Add domain" onClose={onClose}>
      <Form
        action="Add domain"
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async ({ name = '', returnPathSubdomain = '' }) => {
          const given =
            returnPathSubdomain.trim() === '' ? {} : { returnPathSubdomain: returnPathSubdomain.trim() };
          const { id } = await create.mutateAsync({ body: { name: name.trim(), ...given } });
          onClose();
          navigate(`/domains/${id}`);
        }}
      >
        <DomainNameField />
        <details>
          <summary className="link min-h-6 cursor-pointer">Other names</summary>
          <div className="mt-3">
            <Field
              label="Return path"
              name="returnPathSubdomain"
              placeholder="bounce"
              hint="The subdomain that bounces are sent to."
            />
          </div>
        </details>
      </Form>
    </Dialog>
  );
}

/** The domains that live email is sent from, and one of them. */
export default listAndItems('/domains', DomainList, () => import('./detail.tsx'));
