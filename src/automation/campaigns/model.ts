import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { CAMPAIGN_STATES } from '../../../machines/campaign/machine.ts';
import { EMAIL_EVENT_TYPES, WITHHELD_REASONS } from '../../../machines/email/recipient.ts';
import { IfUpdatedAt } from '../../http/if-updated-at.ts';
import { pageQuery } from '../../http/lists/pagination.ts';
import { literals } from '../../http/request/schema.ts';
import { LIQUID_LIMITS } from '../../mail/liquid/limits.ts';
import { nameSchema } from '../../platform/errors/text-length.ts';
import { IN_DOUBT } from './sending/follow-emails.ts';

const nullable = <Schema extends TSchema>(schema: Schema, options = {}) =>
  Type.Union([schema, Type.Null()], options);
const Moment = Type.String({ format: 'date-time' });
const Count = Type.Integer({ minimum: 0 });
const Rate = nullable(Type.Number(), { description: 'A share from 0 to 1; null where there is none.' });
const Percent = Type.Number({ minimum: 0, maximum: 100 });

/** The statuses that a campaign is shown in. */
export const CAMPAIGN_STATUSES = CAMPAIGN_STATES.filter((state) => state !== 'deleted');

/** Why a campaign is paused. */
export const PAUSED_REASONS = [
  ...(['manual', 'quota_exceeded', 'bounce_rate', 'complaint_rate', 'canary', 'sender_unverified'] as const),
] as const;

/** The most emails an hour that a campaign can be held to. */
export const HIGHEST_RATE = 3_600_000;

const Canary = Type.Object(
  {
    percent: Type.Number({ exclusiveMinimum: 0, maximum: 100, description: 'The share that gets it first.' }),
    holdMinutes: Type.Integer({
      minimum: 0,
      maximum: 10_080,
      description: 'How long its outcomes are awaited.',
    }),
    maxBounceRate: Percent,
    maxComplaintRate: Percent,
  },
  {
    title: 'CampaignCanary',
    additionalProperties: false,
    description:
      'A share that gets it first. Above either rate, in percent, the campaign pauses; else the rest follows.',
  },
);
/** The type of it. */
export type CanaryView = Static<typeof Canary>;

const Name = nameSchema({ description: 'For people.', examples: ['July news'] });
const Source = (description: string) =>
  Type.String({ maxLength: LIQUID_LIMITS.source, description: `${description} Liquid; at most 256 KiB.` });
const AudienceId = Type.String({ examples: ['aud_01m7xj1rwzprnwr10308attx'] });
const Rated = Type.Integer({
  minimum: 1,
  maximum: HIGHEST_RATE,
  description: 'The most emails an hour, evenly spread. Null for as fast as they leave.',
});
const Variables = Type.Unsafe<Record<string, unknown>>(
  Type.Object(
    {},
    { additionalProperties: Type.Unknown(), description: 'Values for the variables of the content.' },
  ),
);

const members = {
  excludeAudienceIds: Type.Array(AudienceId, {
    maxItems: 20,
    description: 'Who is in one of these is left out.',
  }),
  from: nullable(
    Type.String({ description: 'The sender; the one of the template, or of the workspace, when null.' }),
  ),
  subject: nullable(Type.String({ maxLength: 998, description: "Liquid; the template's when null." })),
  previewText: nullable(
    Type.String({ maxLength: 998, description: 'What inboxes show behind the subject.' }),
  ),
  html: nullable(Source('The html. A link to unsubscribe is added where it has none.')),
  markdown: nullable(Source('emailmd markdown, from which html and text are made.')),
  templateId: nullable(Type.String({ description: 'The template that it is made of, by id or alias.' })),
  variables: Variables,
  ratePerHour: nullable(Rated),
  canary: nullable(Canary),
  trackOpens: nullable(Type.Boolean({ description: 'What the sending domain says when null.' })),
  trackClicks: nullable(Type.Boolean({ description: 'What the sending domain says when null.' })),
};

const ReplyTo = Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 10 }), Type.Null()], {
  description: 'Where answers go: an address, or up to 10.',
});

const given = Type.Partial(Type.Object(members)).properties;

/** The body of `POST /v1/campaigns`. */
export const NewCampaign = Type.Object(
  { name: Name, audienceId: AudienceId, ...given, replyTo: Type.Optional(ReplyTo) },
  { title: 'CreateCampaign', additionalProperties: false },
);
/** The type of it. */
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
/** The type of it. */
export type CampaignBody = Static<typeof PatchCampaign>;

/** The body of `POST /v1/campaigns/{id}/send`. */
export const SendCampaign = Type.Object(
  {
    scheduledAt: Type.Optional(
      Type.String({
        description:
          'When to start: ISO 8601 with an offset or Z, at most 30 days ahead. Up to 60 seconds in the past counts as now; now when left out.',
        examples: ['2026-01-31T09:30:00Z'],
      }),
    ),
    ifUpdatedAt: IfUpdatedAt,
  },
  { title: 'SendCampaign', additionalProperties: false },
);
/** The type of it. */
export type SendCampaign = Static<typeof SendCampaign>;

/** A campaign as it is answered. */
export const Campaign = Type.Object(
  {
    id: Type.String({ examples: ['cmp_01m7xj1rwzprnwr10308attx'] }),
    livemode: Type.Boolean({ description: 'False for one of the test environment, which is never sent.' }),
    name: Name,
    status: literals(CAMPAIGN_STATUSES),
    pausedReason: nullable(literals(PAUSED_REASONS), { description: 'Why it is paused; null otherwise.' }),
    failureReason: nullable(
      literals(['sender_unverified', 'sender_refused', 'audience_gone', 'content_refused']),
      { description: 'Why it could not start; null otherwise.' },
    ),
    audienceId: AudienceId,
    ...members,
    replyTo: Type.Array(Type.String()),
    scheduledAt: nullable(Moment),
    startedAt: nullable(Moment),
    completedAt: nullable(Moment, { description: 'When everybody was given out or skipped.' }),
    recipientCount: nullable(Count, {
      description: 'Everybody in the frozen audience, those left out included; null before.',
    }),
    createdAt: Moment,
    updatedAt: Moment,
  },
  { title: 'Campaign' },
);
/** The type of it. */
export type CampaignView = Static<typeof Campaign>;

/** A campaign in a list. A hundred of them with what they say could take 100 MB. */
export const CampaignItem = Type.Omit(Campaign, ['html', 'markdown', 'variables'], { title: 'CampaignItem' });
/** The type of it. */
export type CampaignItemView = Static<typeof CampaignItem>;

/** The query of the list. */
export const CampaignQuery = Type.Object({
  ...pageQuery,
  status: Type.Optional(literals(CAMPAIGN_STATUSES, { description: 'Only campaigns of this status.' })),
});
/** The type of it. */
export type CampaignQuery = Static<typeof CampaignQuery>;

const People = (description: string) =>
  Type.Object({ count: Count, unique: Count, rate: Rate }, { description });

/** The numbers of a campaign. */
export const CampaignStats = Type.Object(
  {
    total: Type.Integer({
      description: 'Everybody in the frozen audience: remaining + sent + skipped + failed, at every moment.',
    }),
    sent: Type.Integer({ description: 'Whose email was accepted and has not failed.' }),
    remaining: Type.Integer({ description: 'Who waits to be given out.' }),
    skipped: Type.Integer({ description: 'Who was left out, or has left since.' }),
    failed: Count,
    inDoubt: Type.Integer({ description: 'Of those who failed: who may have got it all the same.' }),
    delivered: Type.Object({ count: Count, rate: Rate }),
    opened: People('By people. The rate is of unique opens to delivered emails.'),
    clicked: People('By people. The rate is of unique clicks to delivered emails.'),
    bounced: Type.Object({ permanent: Count, transient: Count, rate: Rate }),
    complained: Count,
    unsubscribed: Count,
    machineOpens: Type.Integer({ description: 'By programs that fetch images or open links on their own.' }),
    machineClicks: Count,
  },
  { title: 'CampaignStats' },
);
/** The type of it. */
export type StatsView = Static<typeof CampaignStats>;

/** A link of a campaign. */
export const CampaignLink = Type.Object(
  {
    url: nullable(Type.String(), {
      description: 'As it was written, before it became personal; null for addresses that are in no source.',
    }),
    clicks: Count,
    uniqueClicks: Count,
  },
  { title: 'CampaignLink' },
);
/** The type of it. */
export type LinkView = Static<typeof CampaignLink>;

/** The outcomes of recipients, by which they are listed. */
export const OUTCOMES = [
  ...(['remaining', 'sent', 'failed', 'skipped'] as const),
  ...EMAIL_EVENT_TYPES.filter((type) => type !== 'sent'),
];
/** One of them. */
export type Outcome = (typeof OUTCOMES)[number];

/** Somebody in the frozen audience. */
export const CampaignRecipient = Type.Object(
  {
    contactId: Type.String(),
    email: nullable(Type.String(), { description: 'Null for a contact that has gone.' }),
    outcome: literals(['remaining', 'sent', 'failed', 'skipped']),
    reason: nullable(literals([...WITHHELD_REASONS, IN_DOUBT]), {
      description:
        'The act that left them out; `in_doubt` for one who failed and may have got it; else null.',
    }),
    emailId: nullable(Type.String()),
    openedAt: nullable(Moment),
    clickedAt: nullable(Moment),
    bouncedAt: nullable(Moment),
    complainedAt: nullable(Moment),
    unsubscribedAt: nullable(Moment),
  },
  { title: 'CampaignRecipient' },
);
/** The type of it. */
export type RecipientView = Static<typeof CampaignRecipient>;

/** The query of that list. */
export const RecipientQuery = Type.Object({
  ...pageQuery,
  outcome: Type.Optional(literals(OUTCOMES, { description: 'Only recipients of whom this is true.' })),
});
/** The type of it. */
export type RecipientQuery = Static<typeof RecipientQuery>;
