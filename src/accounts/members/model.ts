import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { ROLE_NAMES } from '../../http/auth/roles.ts';
import { literals } from '../../http/request/schema.ts';
import { ChosenLanguage, EmailLanguage } from '../member-language.ts';

const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const Time = Type.String({ format: 'date-time' });
const Role = literals(ROLE_NAMES, {
  description:
    'owner: everything. admin: everything except granting and changing owners. member: content and sending. viewer: read-only.',
});

const MemberLanguage = ChosenLanguage(
  'The language (BCP 47) that the member has chosen for emails of the service in this workspace; null leaves it to the workspace.',
);
const InvitationLanguage = ChosenLanguage(
  'The language (BCP 47) of the mailed invitation, in which the member gets later emails too; null leaves it to the workspace.',
);

export const Member = Type.Object(
  {
    id: Type.String(),
    email: Type.String(),
    name: Type.String(),
    role: Role,
    joinedAt: Time,
    lastSeenAt: nullable(Time),
    twoFactor: Type.Boolean({ description: 'True when the person signs in with a second factor.' }),
    language: MemberLanguage,
    emailLanguage: EmailLanguage,
  },
  { title: 'Member' },
);

/** The body of PATCH /v1/members/{id}. */
export const PatchMember = Type.Object(
  { role: Type.Optional(Role), language: Type.Optional(MemberLanguage) },
  { title: 'UpdateMember', minProperties: 1 },
);

/** The body by which a person chooses the language of their emails, in all their workspaces. */
export const PatchAccount = Type.Object({ language: MemberLanguage });

/** The query of DELETE /v1/members/{id}. */
export const RemoveQuery = Type.Object({
  revokeKeys: Type.Boolean({
    default: false,
    description:
      'True to revoke the API keys that the member created as well, and those that these keys created; needs `api-keys:write`, and for a key with * an owner.',
  }),
});

export const Invitation = Type.Object(
  {
    id: Type.String(),
    email: Type.String(),
    role: Role,
    invitedBy: Type.String({ description: 'The id of the member or the API key.' }),
    createdAt: Time,
    expiresAt: Time,
    acceptedAt: nullable(Time),
    language: InvitationLanguage,
    emailLanguage: EmailLanguage,
  },
  { title: 'Invitation' },
);

/** The schema of a created invitation, the only answer that shows its link. */
export const CreatedInvitation = Type.Object(
  {
    ...Invitation.properties,
    url: Type.String({ description: 'The link for that person. It works once, and is shown only here.' }),
  },
  { title: 'CreatedInvitation' },
);

/** The body of POST /v1/members/invitations. */
export const CreateInvitation = Type.Object(
  {
    email: Type.String({ maxLength: 254, description: 'The address of the person.' }),
    role: Role,
    language: Type.Optional(InvitationLanguage),
  },
  { title: 'CreateInvitation' },
);

export type MemberView = Static<typeof Member>;
export type InvitationView = Static<typeof Invitation>;
export type NewInvitation = Static<typeof CreateInvitation>;
export type MemberPatch = Static<typeof PatchMember>;

/** Fields of the dashboard's forms. Code checks their rules, so that each message suggests a fix. */
export const Email = Type.String({ maxLength: 254 });
export const Password = Type.String({ maxLength: 1_000 });
export const PersonName = Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' });
export const Token = Type.String({ maxLength: 200 });
export const Code = Type.String({ maxLength: 40 });
