import { countRule, type ItemOf, useDownload, useList, useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { ButtonLink, Download } from '../../ui/button.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { EVENT_LOOKS } from '../../ui/display/event-looks.ts';
import { Empty } from '../../ui/display/states.tsx';
import { icons } from '../../ui/icons.tsx';
import { timeColumn } from '../../ui/lists/column-kinds.tsx';
import {
  ChoiceFilter,
  FilterBar,
  PeriodFilter,
  periodText,
  sinceDays,
  TextFilter,
  useFilters,
} from '../../ui/lists/filters.tsx';
import type { Column } from '../../ui/lists/list-types.ts';
import { useSelection } from '../../ui/lists/selection.tsx';
import { useSort } from '../../ui/lists/sort.ts';
import { Lead, Table } from '../../ui/lists/table.tsx';
import { listAndItems, Page } from '../../ui/page.tsx';
import { useDomainNames } from '../names.ts';
import { EmailActions } from './bulk.tsx';

type Item = ItemOf<'GET /emails'>;

const STATUSES = {
  scheduled: 'Scheduled',
  queued: 'Queued',
  sending: 'Sending',
  deferred: 'Deferred',
  sent: 'Sent',
  delivered: 'Delivered',
  failed: 'Failed',
  cancelled: 'Cancelled',
} as const satisfies Record<Item['status'], string>;

const COLUMNS: readonly [Column<Item>, ...Column<Item>[]] = [
  {
    name: 'To',
    cell: ({ to, subject }) => (
      <Lead title={to.join(', ')} sub={<span className="lg:hidden">{subject || '(no subject)'}</span>} />
    ),
  },
  {
    name: 'Subject',
    from: 'lg',
    cell: ({ subject }) => subject || <span className="text-faint">(no subject)</span>,
  },
  { name: 'Sender', width: 'w-56', from: 'lg', isExtra: true, cell: ({ from }) => from },
  {
    name: 'Tags',
    width: 'w-40',
    from: 'lg',
    isExtra: true,
    cell: ({ tags }) => tags.map(({ name, value }) => `${name}:${value}`).join(', '),
  },
  {
    name: 'Status',
    width: 'w-40',
    cell: ({ status, lastEvent }) =>
      lastEvent !== null && EVENT_LOOKS[lastEvent].isShownAsStatus ? (
        <Badge status={lastEvent} />
      ) : (
        <Badge status={status} />
      ),
  },
  timeColumn('Accepted', 'createdAt', { sortBy: 'createdAt', from: 'sm' }),
  timeColumn('Delivered', 'deliveredAt', { from: 'lg', isExtra: true }),
];

/** A text that may be a whole address; any other is looked for in the subjects. */
const isAddress = (text: string): boolean => /^\S+@\S+\.\S+$/.test(text);
const idOf = ({ id }: Item): string => id;
const labelOf = ({ to }: Item): string => to.join(', ');

/** The log of emails, newest first. */
function EmailList() {
  const { environment, may } = useViewer();
  const filters = useFilters(['status', 'to', 'subject', 'from', 'tag', 'domain', 'days']);
  const { values, set, filter, isSet, clear } = filters;
  const { status, to, subject, from, tag, domain, days } = values;
  const domains = useDomainNames();
  const createdAfter = sinceDays(days);
  const query = {
    ...(status in STATUSES && { status: status as Item['status'] }),
    ...(to !== '' && { to }),
    ...(subject !== '' && { subject }),
    ...(from !== '' && { from }),
    ...(tag !== '' && { tag }),
    ...(domain !== '' && { domainId: domain }),
    ...(createdAfter !== undefined && { createdAfter }),
  };
  const { query: order, sorting } = useSort();
  const list = useList('GET /emails', { query: { ...query, ...order } }, { keeps: true });
  const file = useDownload('GET /emails/export', { query: { ...query, ...order } });
  const counted = useRead('GET /emails/count', { query }, countRule(list)).data;
  const selection = useSelection<Item>(idOf, labelOf);
  const hasSome = isSet || (list.items?.length ?? 0) > 0;
  return (
    <Page
      title="Emails"
      about="All accepted emails with their status."
      actions={
        hasSome && (
          <Download href={file} name={`emails-${environment}.csv`}>
            Export CSV
          </Download>
        )
      }
    >
      <FilterBar
        isSet={isSet}
        onClear={clear}
        onRemove={(name) => set({ [name]: '' })}
        chosen={{
          status: STATUSES[status as Item['status']],
          from,
          tag,
          domain: domains[domain],
          days: periodText(days),
        }}
        more={
          <>
            <ChoiceFilter label="Status" {...filter('status')} options={STATUSES} />
            <PeriodFilter {...filter('days')} />
            {Object.keys(domains).length > 0 && (
              <ChoiceFilter label="Domain" {...filter('domain')} options={domains} />
            )}
            <TextFilter label="Sender" isExact {...filter('from')} />
            <TextFilter label="Tag (name:value)" isExact {...filter('tag')} />
          </>
        }
      >
        <TextFilter
          label="Recipient or subject"
          value={to || subject}
          onChange={(value) =>
            set(isAddress(value) ? { to: value, subject: '' } : { to: '', subject: value })
          }
        />
      </FilterBar>
      <Table
        label="Emails"
        list={list}
        columns={COLUMNS}
        nouns={['email', 'emails']}
        counted={counted}
        sorting={sorting}
        keyOf={idOf}
        linkOf={({ id }) => `/emails/${id}`}
        selection={may('emails:send') || may('contacts:write') ? selection : undefined}
        empty={
          isSet ? (
            <Empty title="No matching emails" icon={icons.Mail}>
              <p>A recipient is found by the whole address, a subject by any part.</p>
            </Empty>
          ) : (
            <Empty
              title={`No ${environment} emails yet`}
              icon={icons.Mail}
              action={
                <>
                  {environment === 'test' && <ButtonLink to="/">Send test email</ButtonLink>}
                  {may('api-keys:read') && <ButtonLink to="/api-keys">API keys</ButtonLink>}
                </>
              }
            >
              <p>
                {environment === 'test'
                  ? "Test email takes the whole delivery path but never leaves: the recipient's address chooses the outcome."
                  : 'Live email leaves from a verified domain, by HTTP or SMTP, with a live key.'}
              </p>
            </Empty>
          )
        }
      />
      <EmailActions selection={selection} />
    </Page>
  );
}

/** The log of emails, and one of them. */
export default listAndItems('/emails', EmailList, () => import('./detail.tsx'));
