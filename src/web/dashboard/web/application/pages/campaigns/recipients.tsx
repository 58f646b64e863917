import { type ItemOf, useDownload, useList } from '../../api/queries.ts';
import { Download } from '../../ui/button.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { eventTexts } from '../../ui/display/event-looks.ts';
import { Empty } from '../../ui/display/states.tsx';
import { icons } from '../../ui/icons.tsx';
import { timeColumn } from '../../ui/lists/column-kinds.tsx';
import { useOneChoice } from '../../ui/lists/filters.tsx';
import type { Column } from '../../ui/lists/list-types.ts';
import { Lead, Table } from '../../ui/lists/table.tsx';
import { SKIPPED } from './words.ts';

type Item = ItemOf<'GET /campaigns/{id}/recipients'>;

const OUTCOMES = {
  remaining: 'Remaining',
  sent: 'Sent',
  failed: 'Failed',
  skipped: 'Skipped',
  ...eventTexts('sent'),
  replied: 'Replied',
} as const;

const COLUMNS: readonly [Column<Item>, ...Column<Item>[]] = [
  {
    name: 'Recipient',
    cell: ({ email, reason }) => (
      <Lead
        title={email ?? 'Forgotten contact'}
        sub={reason === null ? undefined : <span className="sm:hidden">{SKIPPED[reason]}</span>}
      />
    ),
  },
  {
    name: 'Outcome',
    width: 'w-56 not-sm:w-36',
    cell: ({ outcome, reason }) => (
      <span className="flex min-w-0 items-center gap-2">
        <Badge
          status={outcome}
          tone={
            outcome === 'skipped'
              ? 'waiting'
              : outcome === 'remaining'
                ? 'quiet'
                : outcome === 'failed'
                  ? 'bad'
                  : 'good'
          }
        >
          {OUTCOMES[outcome]}
        </Badge>
        {reason !== null && <span className="not-sm:hidden truncate text-caption">{SKIPPED[reason]}</span>}
      </span>
    ),
  },
  timeColumn('Opened', 'openedAt', { from: 'md' }),
  timeColumn('Clicked', 'clickedAt', { from: 'lg' }),
];

/** The contacts of the frozen audience, by outcome. */
export function Recipients({ id }: { readonly id: string }) {
  const { chosen: outcome, isSet, bar } = useOneChoice('outcome', 'Outcome', OUTCOMES);
  const asked = { path: { id }, query: { ...(outcome && { outcome }) } };
  const list = useList('GET /campaigns/{id}/recipients', asked);
  const file = useDownload('GET /campaigns/{id}/recipients/export', asked);
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <div className="min-w-0 flex-1">{bar}</div>
        <Download href={file} name="recipients.csv">
          Export CSV
        </Download>
      </div>
      <Table
        label="Recipients"
        list={list}
        columns={COLUMNS}
        keyOf={({ contactId }) => contactId}
        linkOf={({ contactId, emailId }) =>
          emailId === null ? `/contacts/${contactId}` : `/emails/${emailId}`
        }
        empty={
          <Empty title={isSet ? 'No recipients yet' : 'No recipients before the start'} icon={icons.People}>
            <p>
              {isSet
                ? 'Clear the filter to see all recipients.'
                : 'When the campaign starts, every contact of its audience is listed here once.'}
            </p>
          </Empty>
        }
      />
    </>
  );
}
