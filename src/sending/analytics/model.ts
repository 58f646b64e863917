import { type Static, Type } from '@sinclair/typebox';
import { literals } from '../../http/request/schema.ts';
import { MOST_TAGS, MOST_VALUES } from './counting.ts';
import { MOST_POINTS } from './period.ts';

const moment = (description: string) =>
  Type.Optional(Type.String({ maxLength: 40, description, examples: ['2026-11-01'] }));
const id = (of: string) => Type.Optional(Type.String({ maxLength: 60, description: `Only what ${of}.` }));

/** The query of GET /v1/analytics. */
export const AnalyticsQuery = Type.Object({
  from: moment(
    'The first day (`YYYY-MM-DD` in the time zone) or instant (ISO 8601 with an offset or Z; an instant within a quarter of an hour counts from its beginning). Without it: 30 days, or 24 hours.',
  ),
  to: moment('The day or instant before which it ends; now without it.'),
  interval: literals(['hour', 'day'], {
    default: 'day',
    description: `The length of a point of the series, by the clocks of the time zone. At most ${MOST_POINTS} points.`,
  }),
  timeZone: Type.Optional(
    Type.String({
      maxLength: 64,
      description:
        'IANA name of a time zone, or an offset such as `+02:00`; that of the workspace without it.',
      examples: ['Europe/Vienna'],
    }),
  ),
  by: literals(['occurred', 'accepted'], {
    default: 'occurred',
    description:
      '`occurred`: events count when they happened. `accepted`: they count when their email was accepted, so that a point tells what became of the mail of that time.',
  }),
  domainId: id('was sent from this domain'),
  campaignId: id('was sent by this campaign'),
  templateId: id('was made from this template'),
  tag: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9_-]{1,256}:[A-Za-z0-9_-]{1,256}$',
      description: `Only what has this tag, as \`name:value\`. The first ${MOST_TAGS.toLocaleString('en')} tags of a workspace are counted, and of each name the first ${MOST_VALUES}.`,
      examples: ['order:1842'],
    }),
  ),
});

/** The type of the query. */
export type AnalyticsQuery = Static<typeof AnalyticsQuery>;

const count = (description: string) => Type.Integer({ minimum: 0, description });

const counts = {
  accepted: count('Recipients of emails that were accepted, those of scheduled ones included.'),
  sent: count('`sent` events.'),
  delivered: count('`delivered` events.'),
  opened: count('`opened` events that, as far as one can tell, are of people.'),
  clicked: count('`clicked` events of people.'),
  bounced: count('`bounced` events, permanent and transient.'),
  complained: count('`complained` events.'),
  unsubscribed: count('`unsubscribed` events.'),
  machineOpened: count('`opened` events of programs that fetch pictures on their own.'),
  machineClicked: count('`clicked` events of programs that follow links on their own.'),
};

const share = (of: string) =>
  Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()], {
    description: `The share of the accepted recipients ${of}, from 0 to 1; null where none was accepted.`,
  });

/** The answer of GET /v1/analytics. */
export const Analytics = Type.Object(
  {
    from: Type.String({ format: 'date-time', description: 'The first moment that is counted.' }),
    to: Type.String({ format: 'date-time', description: 'The moment before which counting ends.' }),
    interval: literals(['hour', 'day']),
    timeZone: Type.String({ description: 'The time zone of hours and days.' }),
    by: literals(['occurred', 'accepted']),
    series: Type.Array(
      Type.Object({
        start: Type.String({ format: 'date-time', description: 'When the interval begins.' }),
        local: Type.String({
          description: 'The same by the clocks of the time zone, such as `2026-11-22T00:00`.',
          examples: ['2026-11-22T00:00'],
        }),
        open: Type.Boolean({ description: 'True while the interval is not over: its counts still grow.' }),
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
        complained: share('who called it spam'),
        unsubscribed: share('who unsubscribed'),
      },
      {
        description:
          'What has become, up to now, of what was accepted between `from` and `to`, whatever `by` says. Each recipient counts once.',
      },
    ),
  },
  { title: 'Analytics' },
);

/** The type of the answer. */
export type Analytics = Static<typeof Analytics>;

/** The counts of a point. */
export type Counts = Analytics['totals'];
