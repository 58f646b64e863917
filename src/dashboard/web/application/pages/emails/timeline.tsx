import type { Email, EmailEvent } from '../../api/operations.ts';
import { toneOf } from '../../ui/badge.tsx';
import { capital, momentText, wordsOf } from '../../ui/format.ts';
import { Card } from '../../ui/page.tsx';

interface Moment {
  readonly key: string;
  readonly what: string;
  readonly at: string;
  readonly tone: string;
  readonly more: string | null;
}

const VIA = {
  imageProxy: 'by a proxy for images',
  prefetch: 'by a program that looks ahead',
  scanner: 'by a scanner',
} as const;

/** What an event says beyond its name. */
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
    { key: 'accepted', what: 'Accepted', at: email.createdAt, tone: 'quiet', more: 'Stored for good.' },
    ...email.events.map((event) => ({
      key: event.id,
      what: capital(wordsOf(event.type)) + (hasSeveral ? `: ${event.recipient}` : ''),
      at: event.occurredAt,
      tone: event.type === 'bounced' && event.data.type === 'Transient' ? 'waiting' : toneOf(event.type),
      more: detailOf(event),
    })),
  ];
  return (
    <Card title="What happened">
      <ol className="grid">
        {moments.toReversed().map(({ key, what, at, tone, more }, index) => (
          <li key={key} data-color={tone} className="grid grid-cols-[16px_minmax(0,1fr)] gap-x-3">
            <span aria-hidden="true" className="grid grid-rows-[20px_1fr] justify-items-center">
              <span className="m-auto size-2.5 rounded-full bg-(--state)" />
              {index < moments.length - 1 && <span className="w-px bg-edge-strong" />}
            </span>
            <div className="pb-4">
              <p className="flex flex-wrap justify-between gap-x-3">
                <span className="font-medium break-all">{what}</span>
                <time dateTime={at} className="num text-caption text-dim">
                  {momentText(at)}
                </time>
              </p>
              {more !== null && <p className="mt-0.5 text-caption break-words text-dim">{more}</p>}
            </div>
          </li>
        ))}
      </ol>
    </Card>
  );
}
