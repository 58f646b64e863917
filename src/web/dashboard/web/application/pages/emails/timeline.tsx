import type { Email, EmailEvent } from '../../../../../client/operations.ts';
import { Timeline as Events, type Moment } from '../../ui/charts/timeline.tsx';
import { toneOf } from '../../ui/display/badge.tsx';
import { capital, wordsOf } from '../../ui/display/format.ts';
import { Card } from '../../ui/page.tsx';

const VIA = {
  imageProxy: 'by an image proxy',
  prefetch: 'by a prefetching program',
  scanner: 'by a security scanner',
} as const;

/** The details of an event beside its name. */
function detailOf(event: EmailEvent): string | null {
  switch (event.type) {
    case 'sent':
      return event.data.response;
    case 'bounced':
      return event.data.message;
    case 'clicked':
      return event.data.url + (event.data.via === null ? '' : `, ${VIA[event.data.via]}`);
    case 'opened':
      return event.data.via === null ? event.data.userAgent : `Not by a person: ${VIA[event.data.via]}`;
    default:
      return null;
  }
}

/** Everything that happened to an email, the latest first. */
export function Timeline({ email }: { readonly email: Email }) {
  const hasSeveral = email.recipients.length > 1;
  const moments: readonly Moment[] = [
    { key: 'accepted', what: 'Accepted', at: email.createdAt, tone: 'quiet', more: 'Stored durably.' },
    ...email.events.map((event) => ({
      key: event.id,
      what: capital(wordsOf(event.type)) + (hasSeveral ? `: ${event.recipient}` : ''),
      at: event.occurredAt,
      tone: event.type === 'bounced' && event.data.type === 'Transient' ? 'waiting' : toneOf(event.type),
      more: detailOf(event),
    })),
  ];
  return (
    <Card title="Timeline">
      <Events label="Timeline" moments={moments.toReversed()} isExact />
    </Card>
  );
}
