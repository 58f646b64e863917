import { type Static, type TBoolean, type TSchema, Type } from '@sinclair/typebox';
import { IfUpdatedAt } from '../../http/if-updated-at.ts';
import { literals } from '../../http/request/schema.ts';
import { PLAN_NAMES } from '../../platform/config/plans.ts';
import { MUTABLE_EMAILS, type MutableEmail } from '../service-emails.ts';

const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

/** The settings of a workspace that a request may change, apart from its branding. */
const settings = {
  name: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: '\\S',
    description: 'What recipients see as the name of who writes to them, at most 100 characters.',
    examples: ['Acme'],
  }),
  defaultFrom: nullable(
    Type.String({
      description: 'The sender of emails that name none, at a verified domain; null where none is set.',
      examples: ['Acme <hello@acme.example>'],
    }),
  ),
  defaultReplyTo: nullable(
    Type.String({
      description: 'Where answers go to emails that do not say; null where none is set.',
      examples: ['help@acme.example'],
    }),
  ),
  timeZone: Type.String({
    maxLength: 64,
    description:
      'The zone that days are counted in: its IANA name, or an offset such as `+02:00`, which knows no summer time.',
    examples: ['Europe/Vienna'],
  }),
};

const branding = {
  colour: nullable(
    Type.String({ pattern: '^#[0-9a-fA-F]{6}$', description: 'Such as `#0f766e`.', examples: ['#0f766e'] }),
  ),
  address: nullable(
    Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'The postal address at the foot of emails, at most 500 characters; lines may break.',
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
  domainLost: 'A domain cannot send any more.',
  webhookDisabled: 'A webhook endpoint was switched off after failures.',
  campaignPaused: 'A campaign was paused by the service.',
};

const ABOUT_BRANDING = 'How emails and the pages for recipients look; null where nothing is set.';

const serviceEmails = Object.fromEntries(
  MUTABLE_EMAILS.map((kind) => [kind, Type.Boolean({ description: ABOUT_EMAILS[kind] })]),
) as { readonly [Kind in MutableEmail]: TBoolean };

const ABOUT_SERVICE_EMAILS =
  'Which emails of the service itself are sent: invitations to those who are invited, warnings to owners and admins. They count against no quota.';

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

/** The schema of a workspace. */
export const Workspace = Type.Object(
  {
    id: Type.String(),
    ...settings,
    branding: Type.Object(
      {
        logoUrl: nullable(
          Type.String({ description: 'The picture at the top of emails; PUT /v1/workspace/logo sets it.' }),
        ),
        ...branding,
      },
      { description: ABOUT_BRANDING },
    ),
    serviceEmails: Type.Object(serviceEmails, { description: ABOUT_SERVICE_EMAILS }),
    plan: literals(PLAN_NAMES),
    limits: Type.Object({
      emailsPerMonth: nullable(Type.Integer({ description: 'Live emails a UTC month; null is no limit.' })),
      domains: nullable(Type.Integer({ description: 'Sending domains; null is no limit.' })),
    }),
    usage: Type.Object({
      periodStart: Type.String({ format: 'date-time' }),
      periodEnd: Type.String({ format: 'date-time' }),
      emailsSent: Type.Integer({
        description: 'Live emails accepted in this UTC month, cancelled ones given back.',
      }),
      testSendsToday: Type.Integer({ description: 'Test emails accepted on this UTC day.' }),
      domains: Type.Integer(),
    }),
    createdAt: Type.String({ format: 'date-time' }),
    updatedAt: Type.String({ format: 'date-time', description: 'When its settings were changed last.' }),
  },
  { title: 'Workspace' },
);

export type WorkspaceView = Static<typeof Workspace>;
export type WorkspacePatch = Static<typeof PatchWorkspace>;
