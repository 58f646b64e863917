import { Link } from 'wouter';
import { isForgotten } from '../../../../../../platform/text/forgotten.ts';
import type { Email, EmailEvent, Suppression } from '../../../../../client/operations.ts';
import { useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
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

const WHY = {
  bounced: 'Its server said that it does not exist',
  complained: 'Its owner reported spam',
  unsubscribed: 'Its owner unsubscribed',
  manual: 'Suppressed manually',
} as const satisfies Record<Suppression['reason'], string>;
const AT_THAT_TIME = 'The address was suppressed at that time.';
const NOT_NOW = 'It is not on the suppression list now.';
/** The request and its entry in the audit log are of the same moment, by the clocks of two statements. */
const CLOSE_MS = 2_000;
const ADDED: ReadonlySet<string> = new Set(['suppression.created', 'suppressions.imported']);

/** The suppression for which a recipient was left out: when it began, why, by whom, and the way to it. */
function useWithheld({ status, failureReason, recipients, id, createdAt }: Email): readonly Moment[] {
  const { may, environment } = useViewer();
  // Test mail fails by the address of the simulator, and is never suppressed.
  const isOn = environment === 'live' && failureReason === 'suppressed' && may('contacts:read');
  const address = recipients.find((each) => each.status === 'failed')?.address ?? '';
  // The suppression of a forgotten person is known by a hash alone, so the placeholder finds none.
  const isKnown = address !== '' && !isForgotten(address);
  const found = useRead(
    'GET /suppressions',
    { query: { address, limit: 1 } },
    { enabled: isOn && isKnown },
  ).data;
  const suppression = found?.[0];
  const { data: explained } = useRead('GET /emails/{id}/explain', { path: { id } }, { enabled: isOn });
  const at = suppression ? Date.parse(suppression.createdAt) : 0;
  const isManual = suppression?.reason === 'manual';
  const log = useRead(
    'GET /audit-log',
    {
      query: {
        createdAfter: new Date(at - CLOSE_MS).toISOString(),
        createdBefore: new Date(at + CLOSE_MS).toISOString(),
      },
    },
    { enabled: isManual && may('members:write') },
  ).data;
  // An entry names no address, since a log outlives the person: of two at that moment neither is meant.
  const entries = log?.filter(({ action }) => ADDED.has(action)) ?? [];
  const by = entries.length === 1 ? entries[0] : undefined;
  if (!isOn || status !== 'failed') return [];
  const skipped: Moment = {
    key: 'withheld',
    what: 'Not sent',
    at: explained?.evidence.at(-1)?.at ?? createdAt,
    tone: 'bad',
    more: suppression
      ? 'The address is on the suppression list.'
      : found
        ? `${AT_THAT_TIME} ${NOT_NOW}`
        : AT_THAT_TIME,
  };
  if (!suppression) return [skipped];
  return [
    {
      key: 'suppressed',
      what: 'Address suppressed',
      at: suppression.createdAt,
      tone: 'waiting',
      more: (
        <span className="flex flex-wrap gap-x-3">
          <span>
            {WHY[suppression.reason]}
            {by &&
              ` by ${by.actor.name ?? by.actor.type}${by.action === 'suppressions.imported' ? ', in an imported file' : ''}`}
            .
          </span>
          {suppression.emailId !== null && (
            <Link href={`/emails/${suppression.emailId}`} className="link">
              View email that caused it
            </Link>
          )}
          <Link href={`/suppressions?address=${encodeURIComponent(address)}`} className="link">
            View suppression
          </Link>
        </span>
      ),
    },
    skipped,
  ];
}

/** Everything that happened to an email, the latest first. */
export function Timeline({ email }: { readonly email: Email }) {
  const hasSeveral = email.recipients.length > 1;
  const withheld = useWithheld(email);
  const moments: readonly Moment[] = [
    { key: 'accepted', what: 'Accepted', at: email.createdAt, tone: 'quiet', more: 'Stored durably.' },
    ...email.events.map((event) => ({
      key: event.id,
      what: capital(wordsOf(event.type)) + (hasSeveral ? `: ${event.recipient}` : ''),
      at: event.occurredAt,
      tone: event.type === 'bounced' && event.data.type === 'Transient' ? 'waiting' : toneOf(event.type),
      more: detailOf(event),
    })),
    ...withheld,
  ];
  return (
    <Card title="Timeline">
      <Events
        label="Timeline"
        moments={moments.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at)).toReversed()}
        isExact
      />
    </Card>
  );
}
