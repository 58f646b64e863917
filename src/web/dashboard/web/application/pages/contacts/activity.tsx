import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { ContactActivity } from '../../../../../client/operations.ts';
import { useList } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Timeline } from '../../ui/charts/timeline.tsx';
import { toneOf } from '../../ui/display/badge.tsx';
import { eventTexts, type Tone } from '../../ui/display/event-looks.ts';
import { Failed, Skeleton } from '../../ui/display/states.tsx';
import { ChoiceFilter, useFilters } from '../../ui/lists/filters.tsx';
import { Card } from '../../ui/page.tsx';
import { useAudienceNames } from '../names.ts';

type Type = ContactActivity['type'];

const WORDS = {
  created: 'Added',
  imported: 'Imported',
  subscribed: 'Subscribed',
  unsubscribed: 'Unsubscribed',
  asked: 'Confirmation requested',
  notAsked: 'Confirmation not requested',
  joined: 'Joined',
  left: 'Left',
  event: 'Event',
  replied: 'Replied',
  ...eventTexts('unsubscribed'),
  sent: 'Email sent',
  delivered: 'Email delivered',
  flowStarted: 'Flow started',
  flowCompleted: 'Flow completed',
  flowExited: 'Flow exited',
  flowFailed: 'Flow failed',
  flowCancelled: 'Flow cancelled',
} as const satisfies Record<Type, string>;

const TONES: Partial<Record<Type, Tone>> = {
  created: 'moving',
  imported: 'moving',
  joined: 'good',
  asked: 'waiting',
  notAsked: 'bad',
  flowStarted: 'moving',
  flowCompleted: 'good',
  flowExited: 'quiet',
  flowFailed: 'bad',
  flowCancelled: 'quiet',
  left: 'waiting',
  unsubscribed: 'bad',
  event: 'moving',
  replied: 'good',
  sent: 'quiet',
};

/** The details of an entry beside its name. */
function detailOf({ type, data, emailId, importId, flowId, runId, byMachine }: ContactActivity): ReactNode {
  const shown = Object.entries(data).filter(([, value]) => value !== null && typeof value !== 'object');
  const facts = type === 'replied' ? [] : shown;
  const { receivedId } = data;
  return (
    <>
      {byMachine && <span className="block">By a bot, not by the person.</span>}
      {facts.length > 0 && (
        <span className="block">{facts.map(([key, value]) => `${key}: ${String(value)}`).join(' · ')}</span>
      )}
      {typeof receivedId === 'string' && type === 'replied' && (
        <Link href={`/received/${receivedId}`} className="link mr-3">
          View reply
        </Link>
      )}
      {emailId !== null && (
        <Link href={`/emails/${emailId}`} className="link">
          View email
        </Link>
      )}
      {importId !== null && (
        <Link href={`/contacts/imports/${importId}`} className="link">
          View import
        </Link>
      )}
      {flowId !== null && (
        <Link href={`/flows/${flowId}/runs/${runId}`} className="link">
          View run
        </Link>
      )}
    </>
  );
}

/** The timeline of a contact, newest first. */
export function Activity({ id }: { readonly id: string }) {
  const { values, filter } = useFilters(['type']);
  const names = useAudienceNames();
  const type = values.type in WORDS ? (values.type as Type) : undefined;
  const list = useList('GET /contacts/{contact}/activity', {
    path: { contact: id },
    query: { ...(type && { type }) },
  });
  const { items, error, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = list;
  if (error && !items) return <Failed error={error} onRetry={() => void refetch()} />;
  const what = (entry: ContactActivity): string => {
    if (entry.type === 'event') return entry.name ?? 'Event';
    if (entry.flowId !== null) return `${WORDS[entry.type]}: ${entry.name ?? 'a flow'}`;
    if (entry.audienceId === null) return WORDS[entry.type];
    return `${WORDS[entry.type]} ${names[entry.audienceId] ?? 'an audience'}`;
  };
  return (
    <Card
      title="Timeline"
      actions={<ChoiceFilter label="Entries" {...filter('type')} value={type ?? ''} options={WORDS} />}
    >
      {items === undefined && <Skeleton className="h-40 w-full" />}
      {items?.length === 0 && <p className="text-dim">No entries of this type yet.</p>}
      {items && items.length > 0 && (
        <Timeline
          label="Timeline"
          moments={items.map((entry) => ({
            key: entry.id,
            what: what(entry),
            at: entry.at,
            tone: entry.byMachine ? 'quiet' : (TONES[entry.type] ?? toneOf(entry.type)),
            more: detailOf(entry),
          }))}
        />
      )}
      {hasNextPage && (
        <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()} className="justify-self-start">
          Show earlier entries
        </Button>
      )}
    </Card>
  );
}
