import { type Static, type TInteger, Type } from '@sinclair/typebox';
import type { EmailEventType } from '../../../machines/email/recipient.ts';
import { literals } from '../../http/request/schema.ts';
import { MOST_TAGS, MOST_VALUES } from './counting.ts';
import { MOST_POINTS } from './period.ts';

const moment = (description: string) =>
  Type.Optional(Type.String({ maxLength: 40, description, examples: ['2026-11-01'] }));
const id = (of: string) => Type.Optional(Type.String({ maxLength: 60, description: `Only what ${of}.` }));

/** The query of GET /v1/analytics. */
export const AnalyticsQuery = Type.Object({
  from: moment(
    'The first day (`YYYY-MM-DD` in the time zone) or instant (ISO 8601 with an offset or Z, rounded down to a quarter of an hour). By default 30 days before the end, or 24 hours with `interval=hour`.',
  ),
  to: moment('The day or instant before which the period ends; now by default.'),
  interval: literals(['hour', 'day'], {
    default: 'day',
    description: `The length of each interval of the series, in the time zone. At most ${MOST_POINTS} points.`,
  }),
  timeZone: Type.Optional(
    Type.String({
      maxLength: 64,
      description:
        'The IANA name of a time zone, or an offset such as `+02:00`; the time zone of the workspace by default.',
      examples: ['Europe/Vienna'],
    }),
  ),
  by: literals(['occurred', 'accepted'], {
    default: 'occurred',
    description:
      '`occurred`: events count when they happened. `accepted`: they count when their email was accepted, so that an interval shows the results of the mail accepted in it.',
  }),
  domainId: id('was sent from this domain'),
  campaignId: id('was sent by this campaign'),
  templateId: id('was made from this template'),
  tag: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9_-]{1,256}:[A-Za-z0-9_-]{1,256}$',
      description: `Only email with this tag, as \`name:value\`. The first ${MOST_TAGS.toLocaleString('en')} tags of a workspace are counted, and of each name the first ${MOST_VALUES}.`,
      examples: ['order:1842'],
    }),
  ),
});

export type AnalyticsQuery = Static<typeof AnalyticsQuery>;

const count = (description: string) => Type.Integer({ minimum: 0, description });

const counts = {
  accepted: count('Recipients of accepted emails, scheduled ones included.'),
  sent: count('`sent` events.'),
  delivered: count('`delivered` events.'),
  opened: count('`opened` events by people, as far as the service can tell.'),
  clicked: count('`clicked` events by people.'),
  bounced: count('`bounced` events, permanent and transient.'),
  complained: count('`complained` events.'),
  unsubscribed: count('`unsubscribed` events.'),
  machineOpened: count('`opened` events by programs that fetch images.'),
  machineClicked: count('`clicked` events by programs that follow links.'),
} satisfies Readonly<Record<EmailEventType | 'accepted' | 'machineOpened' | 'machineClicked', TInteger>>;

const share = (of: string) =>
  Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()], {
    description: `The share of the accepted recipients ${of}, from 0 to 1; null where none was accepted.`,
  });

/** The answer of GET /v1/analytics. */
export const Analytics = Type.Object(
  {
    from: Type.String({ format: 'date-time', description: 'The beginning of the period.' }),
    to: Type.String({ format: 'date-time', description: 'The end of the period, exclusive.' }),
    interval: literals(['hour', 'day']),
    timeZone: Type.String({ description: 'The time zone of hours and days.' }),
    by: literals(['occurred', 'accepted']),
    series: Type.Array(
      Type.Object({
        start: Type.String({ format: 'date-time', description: 'The beginning of the interval.' }),
        local: Type.String({
          description: 'The same in local time of the time zone, such as `2026-11-22T00:00`.',
          examples: ['2026-11-22T00:00'],
        }),
        open: Type.Boolean({ description: 'True while the interval has not ended: its counts still grow.' }),
        ...counts,
      }),
      { description: 'Every interval, oldest first, those without mail included.' },
    ),
    totals: Type.Object(counts, { description: 'The sums of the series.' }),
    rates: Type.Object(
      {
        delivered: share('whose server took it'),
        opened: share('who opened it at least once'),
        clicked: share('who followed a link at least once'),
        bounced: share('for whom it bounced'),
        complained: share('who reported it as spam'),
        unsubscribed: share('who unsubscribed'),
      },
      {
        description:
          'The results, up to now, of the email accepted between `from` and `to`, whatever `by` is. Each recipient counts once.',
      },
    ),
  },
  { title: 'Analytics' },
);

export type Analytics = Static<typeof Analytics>;

/** The counts of a point. */
export type Counts = Analytics['totals'];

/** The counts of a point for the documentation. */
export const COUNTS_EXAMPLE: Counts = {
  accepted: 1200,
  sent: 1196,
  delivered: 1190,
  opened: 512,
  clicked: 97,
  bounced: 6,
  complained: 0,
  unsubscribed: 2,
  machineOpened: 388,
  machineClicked: 14,
};
