import { Type } from '@sinclair/typebox';
import { answeredOnce } from '../../http/request/idempotent.ts';
import { type Route, route } from '../../http/request/route.ts';
import { CONTACT_FIELD_NAMES } from '../../platform/text/contact-fields.ts';
import { Contact } from '../contacts/queries.ts';
import { type AudienceDeleter, createAudience, deleteAudience, patchAudience } from './commands.ts';
import { ADDED, AUDIENCE, PREVIEW } from './examples.ts';
import { addMembers, type MemberDeps, removeMember } from './members.ts';
import {
  Added,
  AddMembers,
  Audience,
  AudienceQuery,
  NewAudience,
  PatchAudience,
  Preview,
  PreviewBody,
} from './model.ts';
import { type AudienceLister, audienceDetail, listAudiences, listMembers, previewFilter } from './queries.ts';

const AUDIENCE_ID = { prefix: 'aud', resource: 'audience' } as const;

const TEXTS = ['email', ...CONTACT_FIELD_NAMES].map((name) => `\`${name}\``).join(', ');
const MADE_OF = `A filter asks of ${TEXTS}, \`status\`, \`createdAt\`, \`updatedAt\`, \`unsubscribedAt\`, \`lastActivityAt\`, \`properties.<key>\`, \`audiences\`, and of what people did last: \`activity.opened\`, \`activity.clicked\`, \`activity.delivered\` (by a period, or \`eq\` with the id of a campaign) and \`activity.event:<name>\`.`;

/** The endpoints of audiences. */
export const audienceRoutes = (deps: MemberDeps & AudienceDeleter & AudienceLister): readonly Route[] => [
  route({
    method: 'POST',
    path: '/v1/audiences',
    name: 'createAudience',
    audit: { action: 'audience.created' },
    permission: 'contacts:write',
    summary: 'Create an audience',
    description: `${MADE_OF} The dynamic audiences that it names take part by their own filters. Contacts are asked for the filters of dynamic audiences every 20 seconds, and where there are very many in turn, which takes a minute or a few for a million: who begins or ceases to match has \`joined\` or \`left\`, in the activity of the contact. Whom a new or changed filter matches to begin with has not joined. An environment has at most 100 dynamic audiences, and 1,000 in all.`,
    body: NewAudience,
    response: Audience,
    status: 201,
    failures: ['CONFLICT', 'NOT_FOUND'],
    example: {
      body: { name: 'News', public: true },
      response: AUDIENCE,
    },
    handle: (call) => createAudience(deps, call),
  }),
  route({
    method: 'GET',
    path: '/v1/audiences',
    name: 'listAudiences',
    permission: 'contacts:read',
    summary: 'List audiences',
    description:
      'Newest first, static and dynamic ones. How many contacts a dynamic one has is told by its detail.',
    query: AudienceQuery,
    response: Type.Array(Audience),
    status: 200,
    example: { response: [AUDIENCE] },
    handle: (call) => listAudiences(deps, call),
  }),
  route({
    method: 'POST',
    path: '/v1/audiences/preview',
    name: 'previewAudience',
    permission: 'contacts:write',
    summary: 'Count whom a filter matches, and show some of them',
    description: MADE_OF,
    body: PreviewBody,
    response: Preview,
    status: 200,
    example: {
      body: { filter: { field: 'properties.plan', operator: 'eq', value: 'pro' } },
      response: PREVIEW,
    },
    handle: (call) => answeredOnce(deps.database, call, () => previewFilter(deps, call)),
  }),
  route({
    method: 'GET',
    path: '/v1/audiences/:id',
    name: 'getAudience',
    permission: 'contacts:read',
    summary: 'Get an audience with the number of its contacts',
    description:
      'The number of contacts is counted at the request; that of a dynamic audience is what its filter finds now.',
    params: { id: AUDIENCE_ID },
    response: Audience,
    status: 200,
    example: { response: AUDIENCE },
    handle: (call) => audienceDetail(deps, call),
  }),
  route({
    method: 'PATCH',
    path: '/v1/audiences/:id',
    name: 'updateAudience',
    audit: { action: 'audience.changed' },
    permission: 'contacts:write',
    summary: 'Change an audience',
    description: 'Members that are left out stay as they are. Its type stays what it is.',
    params: { id: AUDIENCE_ID },
    body: PatchAudience,
    response: Audience,
    status: 200,
    failures: ['CONFLICT'],
    example: { body: { public: false }, response: { ...AUDIENCE, public: false } },
    handle: (call) => patchAudience(deps, call),
  }),
  route({
    method: 'DELETE',
    path: '/v1/audiences/:id',
    name: 'deleteAudience',
    audit: { action: 'audience.deleted' },
    permission: 'contacts:write',
    summary: 'Delete an audience',
    description:
      'Its contacts stay. One that a scheduled or running campaign is for, or leaves out, is kept (409): the rest of the campaign would reach nobody, or those who were to be left out. So is one that an active flow names. After a campaign was sent it takes mail from nobody: what a server has put off is still tried again.',
    params: { id: AUDIENCE_ID },
    response: Type.Null(),
    status: 204,
    failures: ['CONFLICT'],
    handle: (call) => deleteAudience(deps, call),
  }),
  route({
    method: 'GET',
    path: '/v1/audiences/:id/contacts',
    name: 'listAudienceContacts',
    permission: 'contacts:read',
    summary: 'List the contacts of an audience',
    description:
      'Newest contacts first; of a static audience those who have joined, and not those who still have to confirm.',
    params: { id: AUDIENCE_ID },
    query: AudienceQuery,
    response: Type.Array(Contact),
    status: 200,
    example: { response: PREVIEW.sample },
    handle: (call) => listMembers(deps, call),
  }),
  route({
    method: 'POST',
    path: '/v1/audiences/:id/contacts',
    name: 'updateAudienceContacts',
    permission: 'contacts:write',
    summary: 'Add contacts to a static audience',
    description:
      'Being in an audience is no consent: who has unsubscribed stays so. Where the audience asks for it, people get a mail first, at most three a day and address.',
    params: { id: AUDIENCE_ID },
    body: AddMembers,
    response: Added,
    status: 200,
    failures: ['CONFLICT'],
    example: { body: { emails: ['ada@example.com', 'nobody@example.com'] }, response: ADDED },
    handle: (call) => addMembers(deps, call),
  }),
  route({
    method: 'DELETE',
    path: '/v1/audiences/:id/contacts/:contact',
    name: 'deleteAudienceContact',
    permission: 'contacts:write',
    summary: 'Remove a contact from a static audience',
    description:
      'The contact itself stays. Out of a dynamic audience nobody can be removed but by its filter.',
    params: { id: AUDIENCE_ID, contact: { text: 'The id of the contact, or its address.' } },
    response: Type.Null(),
    status: 204,
    failures: ['CONFLICT'],
    handle: (call) => removeMember(deps, call),
  }),
];
