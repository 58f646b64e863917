import { useState } from 'react';
import { Link } from 'wouter';
import type { ApiKey, CreatedApiKey } from '../../../../../client/operations.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { SetUpSending, useLiveEmail } from '../../shell/way-out.tsx';
import { Button } from '../../ui/button.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { count } from '../../ui/display/format.ts';
import { Empty } from '../../ui/display/states.tsx';
import { icons } from '../../ui/icons.tsx';
import { timeColumn } from '../../ui/lists/column-kinds.tsx';
import type { Column } from '../../ui/lists/list-types.ts';
import { Lead, RowActions, Table } from '../../ui/lists/table.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import { Item, Menu } from '../../ui/overlays/menu.tsx';
import { Page } from '../../ui/page.tsx';
import { NewKey } from './new-key.tsx';
import { ChangePermissions } from './permissions.tsx';

/** The address of the requests of a key, which its row opens. */
const requestsOf = (id: string): string => `/requests?apiKeyId=${id}`;

const allowed = ({ permissions }: ApiKey): string =>
  permissions.includes('*')
    ? 'Everything'
    : permissions.length <= 2
      ? permissions.join(', ')
      : `${permissions[0]} and ${count(permissions.length - 1)} more`;

/** The API keys of one environment: created, shown once, listed and revoked. */
export default function ApiKeys() {
  const { environment, may } = useViewer();
  const { data, error, refetch } = useRead('GET /api-keys', {});
  const own = data?.filter(({ env }) => env === environment);
  // Revoked keys stay for the record, below those that work.
  const items = own && [
    ...own.filter(({ revokedAt }) => revokedAt === null),
    ...own.filter(({ revokedAt }) => revokedAt !== null),
  ];
  const [isMaking, setMaking] = useState(false);
  const [created, setCreated] = useState<CreatedApiKey | null>(null);
  const live = useLiveEmail();
  const mayWrite = may('api-keys:write');
  const create = mayWrite && (
    <Button look="main" data-create onClick={() => setMaking(true)}>
      {icons.Plus} Create {environment} key
    </Button>
  );
  return (
    <Page
      title="API keys"
      about={
        environment === 'test' ? (
          'A test key can do everything except send real email.'
        ) : (
          <>
            A live key sends live email. {live.sentence} {!live.isDelivered && <SetUpSending />}
          </>
        )
      }
      actions={create}
    >
      <Table
        label={`API keys of the ${environment} environment`}
        list={{ items, error, refetch }}
        keyOf={({ id }) => id}
        linkOf={({ id }) => requestsOf(id)}
        columns={COLUMNS}
        empty={
          <Empty title={`No ${environment} keys yet`} icon={icons.Key} action={create}>
            <p>
              An API key identifies your program. The key is shown once and stored only as a hash, so it
              cannot be read later.
            </p>
          </Empty>
        }
      />
      {(isMaking || created) && (
        <NewKey
          created={created}
          onCreated={setCreated}
          onClose={() => {
            setMaking(false);
            setCreated(null);
          }}
        />
      )}
    </Page>
  );
}

const COLUMNS: readonly [Column<ApiKey>, ...Column<ApiKey>[]] = [
  {
    name: 'Key',
    cell: ({ name, prefix }) => <Lead title={name} sub={<span className="font-mono">{prefix}</span>} />,
  },
  {
    name: 'Permissions',
    from: 'md',
    cell: (key) => <span title={key.permissions.join(', ')}>{allowed(key)}</span>,
  },
  timeColumn('Last used', 'lastUsedAt', { from: 'sm', isRight: false, none: 'never' }),
  timeColumn('Created', 'createdAt', { from: 'lg', isRight: false }),
  { name: 'Status', width: 'w-36', isRight: true, cell: (key) => <KeyActions apiKey={key} /> },
];

/**
 * Leads to the requests of a key; changes what it may do, or revokes it, after asking: programs that use it
 * stop at once.
 */
function KeyActions({ apiKey }: { readonly apiKey: ApiKey }) {
  const { id, name, revokedAt } = apiKey;
  const { may } = useViewer();
  const [asked, setAsked] = useState<'change' | 'revoke' | null>(null);
  const close = () => setAsked(null);
  const revoke = useChange('DELETE /api-keys/{id}');
  if (revokedAt !== null) return <Badge status="revoked" tone="quiet" />;
  if (!may('api-keys:write')) return <Badge status="active" />;
  return (
    <RowActions>
      <span className="inline-flex items-center gap-1">
        <Badge status="active" />
        <Menu
          label={`More actions for ${name}`}
          isPicture
          items={
            <>
              <Item render={<Link href={requestsOf(id)} />}>{icons.List} View requests</Item>
              <Item onSelect={() => setAsked('change')}>{icons.Gear} Edit permissions</Item>
              <Item danger onSelect={() => setAsked('revoke')}>
                {icons.Block} Revoke key
              </Item>
            </>
          }
        >
          {icons.More}
        </Menu>
      </span>
      {asked === 'change' && <ChangePermissions apiKey={apiKey} onClose={close} />}
      {asked === 'revoke' && (
        <Confirm
          title={`Revoke “${name}”?`}
          action="Revoke key"
          onClose={close}
          done={`API key “${name}” revoked`}
          onConfirm={() => revoke.mutateAsync({ path: { id } })}
        >
          Programs that use this key are refused from now on. This cannot be undone.
        </Confirm>
      )}
    </RowActions>
  );
}
