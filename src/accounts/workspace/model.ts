import { type Static, type TBoolean, type TSchema, Type } from '@sinclair/typebox';
import { IfUpdatedAt } from '../../http/if-updated-at.ts';
import { literals } from '../../http/request/schema.ts';
import { PLAN_NAMES } from '../../platform/config/plans.ts';
import { FONT_NAMES } from '../../platform/text/fonts.ts';
import { ChosenLanguage, EmailLanguage } from '../member-language.ts';
import { MUTABLE_EMAILS, type MutableEmail } from '../service-emails.ts';

const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

/** The settings of a workspace that a request may change, apart from its branding. */
const settings = {
  name: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: '\\S',
    description: 'The sender name that recipients see, at most 100 characters.',
    examples: ['Acme'],
  }),
  defaultFrom: nullable(
    Type.String({
      description: 'The default sender, at a verified domain; null where none is set.',
      examples: ['Acme <hello@acme.example>'],
    }),
  ),
  defaultReplyTo: nullable(
    Type.String({
      description: 'The default reply address; null where none is set.',
      examples: ['help@acme.example'],
    }),
  ),
  timeZone: Type.String({
    maxLength: 64,
    description:
      'The zone in which days are counted: its IANA name, or an offset such as `+02:00`, which has no summer time.',
    examples: ['Europe/Vienna'],
  }),
  language: ChosenLanguage(
    "The language (BCP 47) of the service's own emails to members who have chosen none, of invitations, and of the mail that asks a contact without a language to confirm; null for English.",
  ),
};

const branding = {
  colour: nullable(
    Type.String({ pattern: '^#[0-9a-fA-F]{6}$', description: 'Such as `#0f766e`.', examples: ['#0f766e'] }),
  ),
  address: nullable(
    Type.String({
      minLength: 1,
      maxLength: 500,
      description:
        'The postal address at the foot of emails, at most 500 characters; line breaks are allowed.',
    }),
  ),
  fontFamily: nullable(
    literals(FONT_NAMES, {
      description:
        'The font of new templates and of the pages that recipients see. Each name is a font that computers and phones have, with others that take its place.',
      examples: ['georgia'],
    }),
  ),
  website: nullable(
    Type.String({
      maxLength: 2_048,
      description: 'An http or https URL.',
      examples: ['https://acme.example'],
    }),
  ),
};

const ABOUT_EMAILS: Readonly<Record<MutableEmail, string>> = {
  invitation: 'The link of an invitation.',
  domainLost: 'A domain can no longer send.',
  webhookDisabled: 'A webhook endpoint was disabled after failures.',
  campaignPaused: 'A campaign was paused by the service.',
};

const ABOUT_BRANDING = 'The look of emails and recipient pages; null where nothing is set.';

const serviceEmails = Object.fromEntries(
  MUTABLE_EMAILS.map((kind) => [kind, Type.Boolean({ description: ABOUT_EMAILS[kind] })]),
) as { readonly [Kind in MutableEmail]: TBoolean };

const ABOUT_SERVICE_EMAILS =
  'The emails that the service itself sends: invitations to the invited, warnings to owners and admins. They count towards no quota.';

/** The body of PATCH /v1/workspace. settings.ts checks whatever a schema cannot say. */
export const PatchWorkspace = Type.Object(
  {
    ...Type.Partial(Type.Object(settings)).properties,
    branding: Type.Optional(Type.Partial(Type.Object(branding, { description: ABOUT_BRANDING }))),
    serviceEmails: Type.Optional(
      Type.Partial(Type.Object(serviceEmails, { description: ABOUT_SERVICE_EMAILS })),
    ),
    ifUpdatedAt: IfUpdatedAt,
  },
  { title: 'UpdateWorkspace', minProperties: 1 },
);

export const Workspace = Type.Object(
  {
    id: Type.String(),
    ...settings,
    emailLanguage: EmailLanguage,
    branding: Type.Object(
      {
        logoUrl: nullable(
          Type.String({ description: 'The image at the top of emails; PUT /v1/workspace/logo sets it.' }),
        ),
        ...branding,
      },
      { description: ABOUT_BRANDING },
    ),
    serviceEmails: Type.Object(serviceEmails, { description: ABOUT_SERVICE_EMAILS }),
    plan: literals(PLAN_NAMES),
    limits: Type.Object({
      emailsPerMonth: nullable(
        Type.Integer({ description: 'Live emails per UTC month; null for no limit.' }),
      ),
      domains: nullable(Type.Integer({ description: 'Sending domains; null for no limit.' })),
    }),
    usage: Type.Object({
      periodStart: Type.String({ format: 'date-time' }),
      periodEnd: Type.String({ format: 'date-time' }),
      emailsSent: Type.Integer({
        description: 'Live emails accepted in this UTC month, without cancelled ones.',
      }),
      testSendsToday: Type.Integer({ description: 'Test emails accepted on this UTC day.' }),
      domains: Type.Integer(),
    }),
    createdAt: Type.String({ format: 'date-time' }),
    updatedAt: Type.String({
      format: 'date-time',
      description: 'The time of the last change of the settings.',
    }),
  },
  { title: 'Workspace' },
);

export type WorkspaceView = Static<typeof Workspace>;
export type WorkspacePatch = Static<typeof PatchWorkspace>;
