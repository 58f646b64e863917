import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { IfUpdatedAt } from '../../http/if-updated-at.ts';
import { sortQuery } from '../../http/lists/list.ts';
import { pageQuery } from '../../http/lists/pagination.ts';
import { literals } from '../../http/request/schema.ts';
import { LIQUID_LIMITS } from '../../mail/liquid/limits.ts';
import { nameSchema } from '../../platform/errors/text-length.ts';
import {
  Languages,
  LanguageTag,
  OwnLanguage,
  Translations,
  TranslationsInput,
} from './languages/translation-model.ts';
import { Kind, Layers, TEMPLATE_KINDS, UsedBy } from './layers/layer-model.ts';

export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
export const dictionary = (options: object) =>
  Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: Type.Unknown(), ...options }));

/** The types that a variable may have. */
export const VARIABLE_TYPES = ['string', 'number', 'boolean', 'date', 'list', 'object'] as const;
/** The names that the service fills in, and that no variable may have. */
export const SERVICE_NAMES = [
  'contact',
  'workspace',
  'campaign',
  'event',
  'unsubscribeUrl',
  'preferencesUrl',
];

/** The shape of an alias. One that looks like the id of a template is refused besides. */
export const ALIAS = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const MOST_VARIABLES = 100;

/** The member that holds what the author of a format writes. */
export const BODY_OF = { html: 'html', emailmd: 'markdown', mjml: 'mjml' } as const;
/** The language in which a template is written. */
export type TemplateFormat = keyof typeof BODY_OF;

export const Format = literals(['html', 'emailmd', 'mjml'] satisfies readonly TemplateFormat[], {
  description:
    '`html`: you write the html. `emailmd`: you write markdown, from which html and text are made. `mjml`: you write MJML, from which html is made.',
});
const Alias = Type.String({
  pattern: ALIAS.source,
  description: 'Your name for the template, accepted wherever `templateId` is; unique in its environment.',
  examples: ['order-confirmation'],
});
const Source = (description: string, examples: readonly string[] = []) =>
  Type.String({
    maxLength: LIQUID_LIMITS.source,
    description: `${description} Liquid; at most 256 KiB.`,
    examples: [...examples],
  });

/**
 * The members of a template beside its content; a change of them makes no version. Requests, answers,
 * examples and statements follow from this list; the column and the example of a request (`examples.ts`) do
 * not.
 */
export const details = {
  name: nameSchema({
    description: 'The name of the template; recipients never see it.',
    examples: ['Order'],
  }),
  alias: nullable(Alias),
};
const someDetails = Type.Partial(Type.Object(details)).properties;

const members = {
  subject: nullable(Source('The subject, in one line.', ['Your order {{ order.number }}'])),
  previewText: nullable(Source('The text that inboxes show behind the subject.')),
  html: nullable(Source('The html part; format `html` only.', ['<p>Hello {{ name }}</p>'])),
  markdown: nullable(Source('emailmd markdown; format `emailmd` only.', ['# Hello {{ name }}'])),
  mjml: nullable(
    Source('MJML 5; format `mjml` only.', [
      '<mjml><mj-body><mj-section><mj-column><mj-text>Hello {{ name }}</mj-text></mj-column></mj-section></mj-body></mjml>',
    ]),
  ),
  text: nullable(Source('The plain text part; made from the html, markdown or mjml when null.')),
  from: nullable(Type.String({ description: 'The sender when the request has none.' })),
  layoutId: nullable(
    Type.String({
      description:
        'The layout around this template, or around this layout; by ID or alias in a request, by ID in an answer. The version keeps the version of the layout that is published when it is made.',
      examples: ['tpl_01m8c4vz7k2q5w9e3r6t1y8u'],
    }),
  ),
};

const DeclaredVariable = Type.Object(
  {
    key: Type.String({
      pattern: '^(?!__)[A-Za-z_][A-Za-z0-9_]{0,63}$',
      description: `The name in the template. Not one of ${SERVICE_NAMES.join(', ')}.`,
      examples: ['name'],
    }),
    type: Type.Optional(
      literals(VARIABLE_TYPES, {
        description: 'Default: `string`. A `date` is a day or a time in ISO 8601.',
      }),
    ),
    required: Type.Optional(Type.Boolean({ description: 'True refuses a request without it.' })),
    fallback: Type.Optional(
      Type.Unknown({ description: 'The value when a request has none; of the same type, or null.' }),
    ),
  },
  { title: 'TemplateVariableInput' },
);

const ReplyTo = Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 10 }), Type.Null()], {
  description:
    'The reply address when the request has none: one, or up to 10. `auto` makes one by which received mail finds the email.',
});

/** The members of content in a request. */
export const content = {
  subject: Type.Optional(members.subject),
  previewText: Type.Optional(members.previewText),
  html: Type.Optional(members.html),
  markdown: Type.Optional(members.markdown),
  mjml: Type.Optional(members.mjml),
  text: Type.Optional(members.text),
  from: Type.Optional(members.from),
  layoutId: Type.Optional(members.layoutId),
  language: Type.Optional(OwnLanguage),
  translations: Type.Optional(TranslationsInput),
  replyTo: Type.Optional(ReplyTo),
  variables: Type.Optional(
    Type.Array(DeclaredVariable, {
      maxItems: MOST_VARIABLES,
      description: `The declared variables, at most ${MOST_VARIABLES}. Requests may also give, and the template may use, undeclared ones.`,
    }),
  ),
};

/** The body of `POST /v1/templates`. */
export const CreateTemplate = Type.Object(
  {
    ...someDetails,
    name: details.name,
    kind: Type.Optional(Kind),
    format: Type.Optional(Format),
    ...content,
  },
  { title: 'CreateTemplate' },
);

/** The body of `PATCH /v1/templates/{id}`. */
export const UpdateTemplate = Type.Object(
  {
    ...someDetails,
    format: Type.Optional(Format),
    ...content,
    draft: Type.Optional(
      Type.Boolean({
        description:
          'True stores the new version as a draft until it is published. It builds on the newest version.',
      }),
    ),
    ifVersion: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'The version that your change is based on: the published one, or with `draft` the newest. 409 when it has changed since.',
      }),
    ),
    ifUpdatedAt: IfUpdatedAt,
  },
  { title: 'UpdateTemplate', minProperties: 1 },
);

const Variable = Type.Object(
  {
    key: Type.String(),
    type: literals(VARIABLE_TYPES),
    required: Type.Boolean(),
    fallback: Type.Unknown(),
  },
  { title: 'TemplateVariable' },
);
const Timestamp = (description: string) => Type.String({ format: 'date-time', description });
export const TemplateId = Type.String({
  description: 'The template.',
  examples: ['tpl_01m8c4vz7k2q5w9e3r6t1y8u'],
});

/** The content of a version, without its bodies. */
const contentMembers = {
  format: Format,
  subject: members.subject,
  previewText: members.previewText,
  from: members.from,
  layoutId: members.layoutId,
  language: OwnLanguage,
  languages: Languages,
  replyTo: Type.Array(Type.String()),
  variables: Type.Array(Variable),
};
const itemMembers = {
  id: TemplateId,
  livemode: Type.Boolean({ description: 'True in the live environment.' }),
  ...details,
  kind: Kind,
  ...contentMembers,
  version: Type.Integer({
    description: 'The version of this content; in lists and in GET, the published one.',
  }),
  createdAt: Timestamp('When the template was made.'),
  updatedAt: Timestamp('When it was changed last.'),
};
const bodies = {
  html: members.html,
  markdown: members.markdown,
  mjml: members.mjml,
  text: members.text,
  translations: Translations,
};

/** A template in a list: without its bodies. */
export const TemplateItem = Type.Object(itemMembers, { title: 'TemplateItem' });
/** A template with its bodies. */
export const Template = Type.Object(
  { ...itemMembers, ...bodies, layers: Layers, usedBy: UsedBy },
  { title: 'Template' },
);

const versionMembers = {
  templateId: TemplateId,
  version: Type.Integer({ minimum: 1 }),
  isCurrent: Type.Boolean({ description: 'True for the published version.' }),
  ...contentMembers,
  createdAt: Timestamp('When this version was written.'),
};

/** A version in a list: without its bodies. */
export const TemplateVersionItem = Type.Object(versionMembers, { title: 'TemplateVersionItem' });
/** A version with its bodies. */
export const TemplateVersion = Type.Object(
  { ...versionMembers, ...bodies, layers: Layers },
  { title: 'TemplateVersion' },
);

export const TemplateQuery = Type.Object({
  ...pageQuery,
  kind: Type.Optional(literals(TEMPLATE_KINDS, { description: 'Only templates of this kind.' })),
  ...sortQuery(),
});
export const VersionQuery = Type.Object(pageQuery);

export const CheckQuery = Type.Object({
  version: Type.Optional(
    Type.Integer({ minimum: 1, description: 'A version, such as a draft. Default: the published one.' }),
  ),
  language: Type.Optional(LanguageTag('The language to check, chosen as in a preview.')),
});

/** The body of publish and of restore. */
export const VersionBody = Type.Object(
  { version: Type.Integer({ minimum: 1, description: 'A version of this template.' }) },
  { title: 'TemplateVersionChoice' },
);

type DetailName = keyof typeof details;
export type Details = { readonly [Name in DetailName]: Static<(typeof details)[Name]> };

export const DETAILS = Object.keys(details) as DetailName[];

/** The details that a request names, over those from before; null where neither has one. */
export const detailsOf = (body: Partial<Details>, before: Partial<Details> = {}): Details =>
  Object.fromEntries(
    DETAILS.map((name) => [name, body[name] === undefined ? (before[name] ?? null) : body[name]]),
  ) as Details;

export type NewTemplate = Static<typeof CreateTemplate>;
export type TemplatePatch = Static<typeof UpdateTemplate>;
export type TemplateView = Static<typeof Template>;
export type TemplateItemView = Static<typeof TemplateItem>;
export type VersionView = Static<typeof TemplateVersion>;
export type VersionItemView = Static<typeof TemplateVersionItem>;
export type CheckQuery = Static<typeof CheckQuery>;
export type TemplateQuery = Static<typeof TemplateQuery>;
export type VersionBody = Static<typeof VersionBody>;
export type DeclaredVariable = Static<typeof DeclaredVariable>;
export type VariableView = Static<typeof Variable>;
