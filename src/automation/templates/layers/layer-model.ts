import { type Static, Type } from '@sinclair/typebox';
import { literals } from '../../../http/request/schema.ts';

/** The kinds of templates. Only a template is sent; the others are put into it. */
export const TEMPLATE_KINDS = ['template', 'layout', 'partial'] as const;
export type TemplateKind = (typeof TEMPLATE_KINDS)[number];

export const Kind = literals(TEMPLATE_KINDS, {
  description:
    '`template`: it is sent. `layout`: it is around the content of templates that name it in `layoutId`, at its `{{ content }}`. `partial`: others take it with `{% render %}`. It never changes.',
});

const TemplateId = Type.String({ description: 'The template.', examples: ['tpl_01m8c4vz7k2q5w9e3r6t1y8u'] });
const Name = Type.String({ description: 'The name of the template; recipients never see it.' });
const Alias = Type.Union([Type.String(), Type.Null()]);

/** A template that uses another one. */
const User = Type.Object(
  {
    id: TemplateId,
    name: Name,
    alias: Alias,
    kind: Kind,
  },
  { title: 'TemplateUser' },
);
/** The most users of a template that are named, and that are counted. */
export const MOST_USERS = { named: 20, counted: 1_000 } as const;

/** The templates that use one. */
export const UsedBy = Type.Object(
  {
    count: Type.Integer({
      description: `How many templates use it in the published or the newest version, at most ${MOST_USERS.counted}.`,
    }),
    templates: Type.Array(User, { description: `The newest ${MOST_USERS.named} of them.` }),
  },
  { title: 'TemplateUsers' },
);
export const Layers = Type.Array(
  Type.Object(
    { templateId: TemplateId, kind: Kind, version: Type.Integer({ minimum: 1 }) },
    { title: 'TemplateLayer' },
  ),
  {
    description:
      'The layouts and partials that this version was made of, with their versions; later versions of them do not change it.',
  },
);

/** The most templates that one request updates. */
export const MOST_UPDATED = 500;

/** The body of `POST /v1/templates/{id}/update-users`. */
export const UpdateUsersBody = Type.Object(
  {
    dryRun: Type.Optional(
      Type.Boolean({ description: 'True tells what would change, and changes nothing.' }),
    ),
  },
  { title: 'UpdateTemplateUsers' },
);

const PartChange = Type.Object(
  {
    part: literals(['subject', 'previewText', 'html', 'text'], { description: 'The part that changes.' }),
    language: Type.Union([
      Type.String({ description: 'The translation; null for the own content.' }),
      Type.Null(),
    ]),
    before: Type.String({ description: 'The stretch that differs, at most 500 characters, in Liquid.' }),
    after: Type.String({ description: 'What takes its place.' }),
  },
  { title: 'TemplatePartChange' },
);

/** The answer. */
export const UserUpdates = Type.Object(
  {
    templateId: TemplateId,
    version: Type.Integer({ description: 'Its published version, which the users get.' }),
    dryRun: Type.Boolean(),
    users: Type.Array(
      Type.Object(
        {
          id: TemplateId,
          name: Name,
          alias: Alias,
          kind: Kind,
          fromVersion: Type.Integer({ description: 'The version that was published before.' }),
          toVersion: Type.Union([
            Type.Integer({ description: 'The version that is published now; null where it cannot be made.' }),
            Type.Null(),
          ]),
          changes: Type.Array(PartChange),
          problem: Type.Union([
            Type.String({ description: 'Why its version cannot be made, in a dry run.' }),
            Type.Null(),
          ]),
        },
        { title: 'TemplateUserUpdate' },
      ),
      { description: 'Those that are not up to date, each after the layers that it uses.' },
    ),
  },
  { title: 'TemplateUserUpdates' },
);

export type UpdateUsersBody = Static<typeof UpdateUsersBody>;
export type UserUpdates = Static<typeof UserUpdates>;
export type PartChange = Static<typeof PartChange>;
export type UsedBy = Static<typeof UsedBy>;
