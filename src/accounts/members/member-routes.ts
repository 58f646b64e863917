import { Type } from '@sinclair/typebox';
import type { Principal } from '../../http/auth/principal.ts';
import { type Route, route } from '../../http/request/route.ts';
import { deleteInvitation, type InvitationDeps, invite, listInvitations } from './invitations.ts';
import { changeMember, listMembers, type RemovalDeps, removeMember } from './members.ts';
import {
  CreatedInvitation,
  CreateInvitation,
  Invitation,
  type InvitationView,
  Member,
  type MemberView,
  PatchMember,
  RemoveQuery,
} from './model.ts';

const MEMBER_ID = { prefix: 'mem', resource: 'member' } as const;
const INVITATION_ID = { prefix: 'inv', resource: 'invitation' } as const;

const MEMBER: MemberView = {
  id: 'mem_01m7xj1rwp4sersf8ggsa354',
  email: 'ada@acme.example',
  name: 'Ada Lovelace',
  role: 'admin',
  joinedAt: '2026-11-20T21:33:00.000Z',
  lastSeenAt: '2026-11-22T08:00:00.000Z',
  twoFactor: true,
  language: 'pt-BR',
  emailLanguage: 'pt',
};
const INVITATION: InvitationView = {
  id: 'inv_01m7xj1rwp4sersf8ggsa354',
  email: 'charles@acme.example',
  role: 'member',
  invitedBy: MEMBER.id,
  createdAt: '2026-11-20T21:33:00.000Z',
  expiresAt: '2026-11-27T21:33:00.000Z',
  acceptedAt: null,
  language: null,
  emailLanguage: 'en',
};

const changesIn = ({ body }: { readonly caller: Principal; readonly body: unknown }) => ({
  ...(body as object),
});

export const memberRoutes = (deps: InvitationDeps & RemovalDeps): readonly Route[] => [
  route('GET /v1/members', {
    name: 'listMembers',
    permission: 'any key',
    summary: 'List the members of the workspace',
    description: 'All members, in the order in which they joined.',
    response: Type.Array(Member),
    example: { response: [MEMBER] },
    handle: ({ caller }) => listMembers(deps.database, caller),
  }),
  route('PATCH /v1/members/:id', {
    name: 'updateMember',
    permission: 'members:write',
    summary: 'Change the role or the language of a member',
    description:
      'Takes effect on the next request. Members cannot grant a role higher than their own, nor change one who has it: a key with members:write counts as admin, one with * as owner. A test key cannot change members. The last owner keeps the role. Pending invitations that the member could no longer create are withdrawn. A person can also choose the language of their emails in the dashboard, for all their workspaces at once.',
    params: { id: MEMBER_ID },
    body: PatchMember,
    response: Member,
    failures: ['CONFLICT', 'FORBIDDEN'],
    audit: { action: 'member.changed', details: changesIn },
    example: { body: { role: 'admin' }, response: MEMBER },
    handle: ({ caller, params, body }) => changeMember(deps.database, caller, params.id, body),
  }),
  route('DELETE /v1/members/:id', {
    name: 'deleteMember',
    permission: 'members:write',
    summary: 'Remove a member',
    description:
      "The member's sessions in this workspace end at once and pending invitations are withdrawn; the account remains. API keys that the member created (`GET /v1/api-keys?createdBy=`) stay valid unless `revokeKeys` is true, because programs use them. The last owner cannot be removed.",
    params: { id: MEMBER_ID },
    query: RemoveQuery,
    failures: ['CONFLICT', 'FORBIDDEN'],
    audit: { action: 'member.removed' },
    handle: (call) => removeMember(deps, call),
  }),
  route('POST /v1/members/invitations', {
    name: 'createInvitation',
    permission: 'members:write',
    summary: 'Invite a person',
    description:
      'The link in the answer is for that address only, works once and expires after seven days. It is also mailed, where mail works, at most three times a day per address; otherwise, send it yourself. The mail is in `emailLanguage`; the page behind the link is in the language of the browser.',
    body: CreateInvitation,
    response: CreatedInvitation,
    status: 201,
    failures: ['CONFLICT', 'FORBIDDEN'],
    audit: { action: 'invitation.created', details: ({ body }) => ({ ...(body as object) }) },
    example: {
      body: { email: INVITATION.email, role: 'member' },
      response: {
        ...INVITATION,
        url: 'https://mail.example.com/app/invitation#token=jm5zJ3T0a0b1Jx7n0dT5o5b6e5R9mE3i3mZr2c0kqgA',
      },
    },
    handle: (call) => invite(deps, call),
  }),
  route('GET /v1/members/invitations', {
    name: 'listInvitations',
    permission: 'members:write',
    summary: 'List the invitations',
    description: 'The newest hundred, accepted and expired ones included.',
    response: Type.Array(Invitation),
    example: { response: [INVITATION] },
    handle: ({ caller }) => listInvitations(deps.database, caller),
  }),
  route('DELETE /v1/members/invitations/:id', {
    name: 'deleteInvitation',
    permission: 'members:write',
    summary: 'Withdraw an invitation',
    description: 'Its link becomes invalid. A person who has accepted it stays a member.',
    params: { id: INVITATION_ID },
    failures: ['FORBIDDEN'],
    audit: { action: 'invitation.deleted' },
    handle: ({ caller, params }) => deleteInvitation(deps.database, caller, params.id),
  }),
];
