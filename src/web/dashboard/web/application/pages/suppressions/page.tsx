import { useState } from 'react';
import type { Suppression } from '../../../../../client/operations.ts';
import { countRule, useChange, useDownload, useList, useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button, Download } from '../../ui/button.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { count } from '../../ui/display/format.ts';
import { Empty } from '../../ui/display/states.tsx';
import { icons } from '../../ui/icons.tsx';
import { Bulk } from '../../ui/lists/bulk.tsx';
import { timeColumn } from '../../ui/lists/column-kinds.tsx';
import { ChoiceFilter, FilterBar, TextFilter, useFilters } from '../../ui/lists/filters.tsx';
import type { Column } from '../../ui/lists/list-types.ts';
import { SelectionBar, useSelection } from '../../ui/lists/selection.tsx';
import { useSort } from '../../ui/lists/sort.ts';
import { Lead, RowActions, Table } from '../../ui/lists/table.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import { Page } from '../../ui/page.tsx';
import { ImportSuppressions } from './import.tsx';
import { Suppress } from './suppress.tsx';

const REASONS = {
  bounced: 'Bounced',
  complained: 'Complained',
  unsubscribed: 'Unsubscribed',
  manual: 'Manual',
} as const satisfies Record<Suppression['reason'], string>;

const keyOf = ({ address, createdAt, reason }: Suppression): string => `${address} ${createdAt} ${reason}`;
const labelOf = ({ address }: Suppression): string => address ?? 'a forgotten address';

/** The addresses that live mail does not go to. They are one list for both environments. */
export default function Suppressions() {
  const { environment, may } = useViewer();
  const { values, filter, isSet, clear } = useFilters(['address', 'reason']);
  const { address, reason } = values;
  const [asked, setAsked] = useState<'add' | 'import' | 'remove' | null>(null);
  const all = useDownload('GET /suppressions/export', {});
  const query = {
    ...(address !== '' && { address }),
    ...(reason in REASONS && { reason: reason as Suppression['reason'] }),
  };
  const { query: order, sorting } = useSort('address');
  const list = useList('GET /suppressions', { query: { ...query, ...order } });
  const counted = useRead('GET /suppressions/count', { query }, countRule(list)).data;
  const selection = useSelection<Suppression>(keyOf, labelOf);
  const remove = useChange('DELETE /suppressions/{address}', ['contacts']);
  const known = selection.items.filter(({ address }) => address !== null);
  const mayWrite = may('contacts:write') && environment === 'live';
  const hasSome = isSet || (list.items?.length ?? 0) > 0;
  const create = mayWrite && (
    <Button look="main" data-create onClick={() => setAsked('add')}>
      {icons.Plus} Suppress address
    </Button>
  );
  const byFile = mayWrite && <Button onClick={() => setAsked('import')}>Import suppressions</Button>;
  return (
    <Page
      title="Suppressions"
      about="Addresses that get no live mail from this workspace, with the reason."
      actions={
        <>
          {hasSome && (
            <Download href={all} name="suppressions.csv">
              Export
            </Download>
          )}
          {byFile}
          {create}
        </>
      }
    >
      {environment === 'live' && (
        <FilterBar isSet={isSet} onClear={clear}>
          <TextFilter label="Address" isExact {...filter('address')} />
          <ChoiceFilter label="Reason" {...filter('reason')} options={REASONS} />
        </FilterBar>
      )}
      <Table
        label="Suppressed addresses"
        list={list}
        columns={COLUMNS}
        nouns={['address', 'addresses']}
        counted={counted}
        sorting={sorting}
        keyOf={keyOf}
        selection={mayWrite ? selection : undefined}
        empty={
          environment === 'test' ? (
            <Empty title="Test mail is never suppressed" icon={icons.Block}>
              <p>
                Suppressions apply only to live mail. Switch to the live environment to see them. To test a
                suppressed recipient, send to the simulator’s address “suppressed@…”.
              </p>
            </Empty>
          ) : isSet ? (
            <Empty title="No matching address" icon={icons.Block}>
              <p>Enter the whole address.</p>
            </Empty>
          ) : (
            <Empty
              title="No suppressed addresses"
              icon={icons.Block}
              action={
                <>
                  {create}
                  {byFile}
                </>
              }
            >
              <p>
                An address is suppressed when its server reports that it does not exist, or when its owner
                complains or unsubscribes. If you come from another service, import its list: sending to these
                addresses again harms your reputation.
              </p>
            </Empty>
          )
        }
      />
      <SelectionBar selection={selection} list="suppressions">
        <Button look="danger" onClick={() => setAsked('remove')}>
          Remove suppressions
        </Button>
      </SelectionBar>
      {asked === 'remove' && (
        <Bulk
          title={`Remove ${count(known.length)} ${known.length === 1 ? 'suppression' : 'suppressions'}?`}
          action="Remove suppressions"
          done="removed"
          selection={selection}
          items={known}
          change={({ address }) => remove.each({ path: { address: address ?? '' } })}
          refresh={remove.refresh}
          onClose={() => setAsked(null)}
        >
          Email reaches these addresses again. Contacts who unsubscribed stay unsubscribed, and so do people
          who had unsubscribed or complained before another reason.
          {known.length < selection.items.length && ' Forgotten addresses stay suppressed.'}
        </Bulk>
      )}
      {asked === 'add' && <Suppress onClose={() => setAsked(null)} />}
      {asked === 'import' && <ImportSuppressions onClose={() => setAsked(null)} />}
    </Page>
  );
}

const COLUMNS: readonly [Column<Suppression>, ...Column<Suppression>[]] = [
  {
    name: 'Address',
    sortBy: 'address',
    cell: ({ address, reason, otherReasons }) =>
      address === null ? (
        <span className="text-dim">Forgotten; only a hash is kept</span>
      ) : (
        <Lead
          title={address}
          sub={
            <span className="sm:hidden">
              {[reason, ...otherReasons].map((one) => REASONS[one]).join(', ')}
            </span>
          }
        />
      ),
  },
  {
    name: 'Reason',
    width: 'w-60',
    from: 'sm',
    cell: ({ reason, otherReasons }) => (
      <span className="inline-flex flex-wrap gap-1">
        {[reason, ...otherReasons].map((one) => (
          <Badge key={one} status={one} tone={one === 'bounced' || one === 'complained' ? 'bad' : 'waiting'}>
            {REASONS[one]}
          </Badge>
        ))}
      </span>
    ),
  },
  timeColumn('Added', 'createdAt', { sortBy: 'createdAt', from: 'sm' }),
  {
    name: 'Remove',
    isFixed: true,
    width: 'w-28',
    isRight: true,
    cell: (suppression) => <Remove suppression={suppression} />,
  },
];

const WARNINGS = {
  complained: "The recipient reported spam. Sending to them again harms your domain's reputation.",
  bounced: 'The server said that the address does not exist. Remove the suppression only if it exists now.',
  unsubscribed: 'An unsubscribed contact stays unsubscribed. Only new consent changes that.',
  manual: 'An unsubscribed contact stays unsubscribed. Only new consent changes that.',
} as const satisfies Record<Suppression['reason'], string>;

const STAYING = {
  complained: 'The recipient has also reported spam. That remains, and no email reaches the address.',
  unsubscribed: 'The recipient has also unsubscribed. That remains: campaigns stay away, receipts arrive.',
} as const satisfies Record<Suppression['otherReasons'][number], string>;

const warningOf = ({ reason, otherReasons: [stays] }: Pick<Suppression, 'reason' | 'otherReasons'>): string =>
  [(!stays || reason !== 'manual') && WARNINGS[reason], stays && STAYING[stays]].filter(Boolean).join(' ');

/** Lets mail reach an address again, after asking: it may bounce or be called spam once more. */
function Remove({ suppression: { address, reason, otherReasons } }: { readonly suppression: Suppression }) {
  const { environment, may } = useViewer();
  const [isAsking, setAsking] = useState(false);
  const remove = useChange('DELETE /suppressions/{address}', ['contacts']);
  if (address === null || environment === 'test' || !may('contacts:write')) return null;
  return (
    <RowActions>
      <Button look="quiet" aria-label={`Remove suppression of ${address}`} onClick={() => setAsking(true)}>
        Remove
      </Button>
      {isAsking && (
        <Confirm
          title={`Allow email to ${address} again?`}
          action="Remove suppression"
          onClose={() => setAsking(false)}
          done={`Suppression of ${address} removed`}
          onConfirm={() => remove.mutateAsync({ path: { address } })}
        >
          {warningOf({ reason, otherReasons })}
        </Confirm>
      )}
    </RowActions>
  );
}
