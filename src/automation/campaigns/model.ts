import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { CAMPAIGN_STATES } from '../../../machines/campaign/machine.ts';
import { EMAIL_EVENT_TYPES, WITHHELD_REASONS } from '../../../machines/email/recipient.ts';
import { IfUpdatedAt } from '../../http/if-updated-at.ts';
import { sortQuery } from '../../http/lists/list.ts';
import { pageQuery } from '../../http/lists/pagination.ts';
import { literals } from '../../http/request/schema.ts';
import { LIQUID_LIMITS } from '../../mail/liquid/limits.ts';
import { nameSchema } from '../../platform/errors/text-length.ts';
import { LONGEST_TAG } from '../../platform/text/language.ts';
import { IN_DOUBT } from './sending/follow-emails.ts';

const nullable = <Schema extends TSchema>(schema: Schema, options = {}) =>
  Type.Union([schema, Type.Null()], options);
const Moment = Type.String({ format: 'date-time' });
const Count = Type.Integer({ minimum: 0 });
const Rate = nullable(Type.Number(), { description: 'A share from 0 to 1; null without a base.' });
const Percent = Type.Number({ minimum: 0, maximum: 100 });

/** The statuses that a campaign is shown in. */
export const CAMPAIGN_STATUSES = CAMPAIGN_STATES.filter((state) => state !== 'deleted');

export const PAUSED_REASONS = [
  'manual',
  'quota_exceeded',
  'bounce_rate',
  'complaint_rate',
  'canary',
  'sender_unverified',
] as const;

/** The most emails an hour that a campaign can be held to. */
export const HIGHEST_RATE = 3_600_000;

const Canary = Type.Object(
  {
    percent: Type.Number({
      exclusiveMinimum: 0,
      maximum: 100,
      description: 'The share of recipients that gets the campaign first.',
    }),
    holdMinutes: Type.Integer({
      minimum: 0,
      maximum: 10_080,
      description: 'The wait for its outcomes.',
    }),
    maxBounceRate: Percent,
    maxComplaintRate: Percent,
  },
  {
    title: 'CampaignCanary',
    additionalProperties: false,
    description:
      'A share of recipients that gets the campaign first. Above either rate, in percent, the campaign pauses; otherwise the rest follows.',
  },
);
export type CanaryView = Static<typeof Canary>;

const Name = nameSchema({ description: 'For people.', examples: ['July news'] });
const Source = (description: string) =>
  Type.String({ maxLength: LIQUID_LIMITS.source, description: `${description} Liquid; at most 256 KiB.` });
const AudienceId = Type.String({ examples: ['aud_01m7xj1rwzprnwr10308attx'] });
const Rated = Type.Integer({
  minimum: 1,
  maximum: HIGHEST_RATE,
  description: 'The most emails per hour, evenly spread. Null for no limit.',
});
const Variables = Type.Unsafe<Record<string, unknown>>(
  Type.Object(
    {},
    { additionalProperties: Type.Unknown(), description: 'The values of the variables in the content.' },
  ),
);

const members = {
  excludeAudienceIds: Type.Array(AudienceId, {
    maxItems: 20,
    description: 'Contacts in one of these audiences are left out.',
  }),
  from: nullable(
    Type.String({ description: 'The sender; null for that of the template, or of the workspace.' }),
  ),
  subject: nullable(Type.String({ maxLength: 998, description: "Liquid; null for the template's." })),
  previewText: nullable(
    Type.String({
      maxLength: 998,
      description: 'The preview text, which mail programs show beside the subject.',
    }),
  ),
  html: nullable(Source('The html. A link to unsubscribe is added where it is missing.')),
  markdown: nullable(Source('emailmd markdown, from which html and text are made.')),
  mjml: nullable(Source('MJML, from which html and text are made.')),
  templateId: nullable(Type.String({ description: 'The id or alias of its template.' })),
  language: nullable(
    Type.String({
      minLength: 2,
      maxLength: LONGEST_TAG,
      description:
        'The language of all emails (BCP 47), in which the own content of a campaign is. Null: each contact gets the translation into its property `language`, else the own content of the template.',
      examples: ['de'],
    }),
  ),
  variables: Variables,
  ratePerHour: nullable(Rated),
  canary: nullable(Canary),
  trackOpens: nullable(Type.Boolean({ description: 'Null for the setting of the sending domain.' })),
  trackClicks: nullable(Type.Boolean({ description: 'Null for the setting of the sending domain.' })),
};

const ReplyTo = Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 10 }), Type.Null()], {
  description:
    'The addresses for replies: one, or up to 10. `auto` makes one by which received mail finds the email.',
});

const given = Type.Partial(Type.Object(members)).properties;

/** The body of `POST /v1/campaigns`. */
export const NewCampaign = Type.Object(
  { name: Name, audienceId: AudienceId, ...given, replyTo: Type.Optional(ReplyTo) },
  { title: 'CreateCampaign', additionalProperties: false },
);
export type NewCampaign = Static<typeof NewCampaign>;

/** The body of `PATCH /v1/campaigns/{id}`. */
export const PatchCampaign = Type.Object(
  {
    name: Type.Optional(Name),
    audienceId: Type.Optional(AudienceId),
    ...given,
    replyTo: Type.Optional(ReplyTo),
    ifUpdatedAt: IfUpdatedAt,
  },
  { title: 'UpdateCampaign', additionalProperties: false, minProperties: 1 },
);
export type CampaignBody = Static<typeof PatchCampaign>;

/** The body of `POST /v1/campaigns/{id}/send`. */
export const SendCampaign = Type.Object(
  {
    scheduledAt: Type.Optional(
      Type.String({
        description:
          'The time to start: ISO 8601 with an offset or Z, at most 30 days ahead. A time up to 60 seconds in the past counts as now, the default.',
        examples: ['2026-01-31T09:30:00Z'],
      }),
    ),
    ifUpdatedAt: IfUpdatedAt,
  },
  { title: 'SendCampaign', additionalProperties: false },
);
export type SendCampaign = Static<typeof SendCampaign>;

/** A campaign as it is answered. */
export const Campaign = Type.Object(
  {
    id: Type.String({ examples: ['cmp_01m7xj1rwzprnwr10308attx'] }),
    livemode: Type.Boolean({
      description: 'False for a campaign of the test environment, which is never sent.',
    }),
    name: Name,
    status: literals(CAMPAIGN_STATUSES),
    pausedReason: nullable(literals(PAUSED_REASONS), {
      description: 'The reason for the pause; null otherwise.',
    }),
    failureReason: nullable(
      literals(['sender_unverified', 'sender_refused', 'audience_gone', 'audience_empty', 'content_refused']),
      {
        description:
          'The reason why it failed to start; null otherwise. `audience_empty`: no contact in the audience may get it.',
      },
    ),
    audienceId: AudienceId,
    ...members,
    replyTo: Type.Array(Type.String()),
    scheduledAt: nullable(Moment),
    startedAt: nullable(Moment),
    completedAt: nullable(Moment, {
      description: 'The time at which every recipient was dispatched or skipped.',
    }),
    recipientCount: nullable(Count, {
      description:
        'The number of recipients in the frozen audience, excluded ones included; null before it is frozen.',
    }),
    createdAt: Moment,
    updatedAt: Moment,
  },
  { title: 'Campaign' },
);
export type CampaignView = Static<typeof Campaign>;

/** A campaign in a list. A hundred of them with their content could take 100 MB. */
export const CampaignItem = Type.Omit(Campaign, ['html', 'markdown', 'mjml', 'variables'], {
  title: 'CampaignItem',
});
export type CampaignItemView = Static<typeof CampaignItem>;

export const CampaignQuery = Type.Object({
  ...pageQuery,
  status: Type.Optional(literals(CAMPAIGN_STATUSES, { description: 'Only campaigns with this status.' })),
  ...sortQuery(),
});
export type CampaignQuery = Static<typeof CampaignQuery>;

const People = (description: string) =>
  Type.Object({ count: Count, unique: Count, rate: Rate }, { description });

/** The numbers of a campaign. */
export const CampaignStats = Type.Object(
  {
    total: Type.Integer({
      description:
        'All recipients in the frozen audience: remaining + sent + skipped + failed, at every moment.',
    }),
    sent: Type.Integer({ description: 'Recipients whose email was accepted and has not failed.' }),
    remaining: Type.Integer({ description: 'Recipients who wait for their email.' }),
    skipped: Type.Integer({ description: 'Recipients who were excluded, or have left since.' }),
    failed: Count,
    inDoubt: Type.Integer({ description: 'Failed recipients who may have received it.' }),
    delivered: Type.Object({ count: Count, rate: Rate }),
    opened: People('Opens by people. The rate is unique opens divided by delivered emails.'),
    clicked: People('Clicks by people. The rate is unique clicks divided by delivered emails.'),
    bounced: Type.Object({ permanent: Count, transient: Count, rate: Rate }),
    complained: Count,
    unsubscribed: Count,
    replied: Type.Integer({
      description: 'Recipients who have answered by mail; automatic answers do not count.',
    }),
    machineOpens: Type.Integer({ description: 'By programs that fetch images or follow links.' }),
    machineClicks: Count,
  },
  { title: 'CampaignStats' },
);
export type StatsView = Static<typeof CampaignStats>;

/** A link of a campaign. */
export const CampaignLink = Type.Object(
  {
    url: nullable(Type.String(), {
      description:
        'The URL as the author wrote it, before it became personal; null for one that is in no source.',
    }),
    clicks: Count,
    uniqueClicks: Count,
  },
  { title: 'CampaignLink' },
);
export type LinkView = Static<typeof CampaignLink>;

/** The outcomes of recipients, by which they are listed. */
export const OUTCOMES = [
  'remaining',
  'sent',
  'failed',
  'skipped',
  ...EMAIL_EVENT_TYPES.filter((type) => type !== 'sent'),
  'replied',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** A recipient in the frozen audience. */
export const CampaignRecipient = Type.Object(
  {
    contactId: Type.String(),
    email: nullable(Type.String(), { description: 'Null for a deleted contact.' }),
    outcome: literals(['remaining', 'sent', 'failed', 'skipped']),
    reason: nullable(literals([...WITHHELD_REASONS, IN_DOUBT]), {
      description:
        'The act that excluded the recipient; `in_doubt` for a failed one who may have received it; otherwise null.',
    }),
    emailId: nullable(Type.String()),
    openedAt: nullable(Moment),
    clickedAt: nullable(Moment),
    bouncedAt: nullable(Moment),
    complainedAt: nullable(Moment),
    unsubscribedAt: nullable(Moment),
    repliedAt: nullable(Moment, { description: 'The time of the first reply by a person.' }),
  },
  { title: 'CampaignRecipient' },
);
export type RecipientView = Static<typeof CampaignRecipient>;

export const RecipientQuery = Type.Object({
  ...pageQuery,
  outcome: Type.Optional(literals(OUTCOMES, { description: 'Only recipients with this outcome.' })),
});
export type RecipientQuery = Static<typeof RecipientQuery>;
