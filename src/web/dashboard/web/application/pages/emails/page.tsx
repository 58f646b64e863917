import { lazy } from 'react';
import { Route, Switch } from 'wouter';
import { type ItemOf, useList } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { EVENT_LOOKS } from '../../ui/display/event-looks.ts';
import { Empty } from '../../ui/display/states.tsx';
import { type Column, Lead, Table } from '../../ui/display/table.tsx';
import { Time } from '../../ui/display/time.tsx';
import {
  ChoiceFilter,
  FilterBar,
  PeriodFilter,
  sinceDays,
  TextFilter,
  useFilters,
} from '../../ui/filters.tsx';
import { icons } from '../../ui/icons.tsx';
import { Page } from '../../ui/page.tsx';
import { useDomainNames } from '../names.ts';

const Detail = lazy(() => import('./detail.tsx'));

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
  {
    name: 'Accepted',
    width: 'w-36',
    from: 'sm',
    isRight: true,
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
];

/** The log of emails, and one of them. */
export default function Emails() {
  return (
    <Switch>
      <Route path="/emails/:id">{({ id }) => <Detail key={id} id={id} />}</Route>
      <Route>
        <EmailList />
      </Route>
    </Switch>
  );
}

/** The log of emails, newest first. */
function EmailList() {
  const { environment, may } = useViewer();
  const { values, set, isSet, clear } = useFilters([
    'status',
    'to',
    'subject',
    'from',
    'tag',
    'domain',
    'days',
  ]);
  const { status, to, subject, from, tag, domain, days } = values;
  const domains = useDomainNames();
  const createdAfter = sinceDays(days);
  const list = useList('GET /emails', {
    query: {
      ...(status in STATUSES && { status: status as Item['status'] }),
      ...(to !== '' && { to }),
      ...(subject !== '' && { subject }),
      ...(from !== '' && { from }),
      ...(tag !== '' && { tag }),
      ...(domain !== '' && { domainId: domain }),
      ...(createdAfter !== undefined && { createdAfter }),
    },
  });
  return (
    <Page title="Emails" about="All accepted emails with their status, newest first.">
      <FilterBar isSet={isSet} onClear={clear}>
        <TextFilter label="Recipient" value={to} onChange={(value) => set({ to: value })} />
        <TextFilter label="Subject" value={subject} onChange={(value) => set({ subject: value })} />
        <TextFilter label="Sender" value={from} onChange={(value) => set({ from: value })} />
        <TextFilter label="Tag (name:value)" value={tag} onChange={(value) => set({ tag: value })} />
        {Object.keys(domains).length > 0 && (
          <ChoiceFilter
            label="Domain"
            value={domain}
            options={domains}
            onChange={(value) => set({ domain: value })}
          />
        )}
        <ChoiceFilter
          label="Status"
          value={status}
          options={STATUSES}
          onChange={(value) => set({ status: value })}
        />
        <PeriodFilter value={days} onChange={(value) => set({ days: value })} />
      </FilterBar>
      <Table
        label="Emails"
        list={list}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        linkOf={({ id }) => `/emails/${id}`}
        empty={
          isSet ? (
            <Empty title="No matching emails" icon={icons.Mail}>
              <p>Recipient and status must match exactly; the subject matches by any part.</p>
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
    </Page>
  );
}
