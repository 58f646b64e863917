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
const MADE_OF = `A filter can use ${TEXTS}, \`status\`, \`createdAt\`, \`updatedAt\`, \`unsubscribedAt\`, \`lastActivityAt\`, \`properties.<key>\`, \`audiences\`, and the last activity: \`activity.opened\`, \`activity.clicked\`, \`activity.replied\`, \`activity.delivered\` (by a period, or \`eq\` with the id of a campaign) and \`activity.event:<name>\`.`;

export const audienceRoutes = (deps: MemberDeps & AudienceDeleter & AudienceLister): readonly Route[] => [
  route('POST /v1/audiences', {
    name: 'createAudience',
    audit: { action: 'audience.created' },
    permission: 'contacts:write',
    summary: 'Create an audience',
    description: `${MADE_OF} A named dynamic audience counts by its own filter. Filters of dynamic audiences are evaluated every 20 seconds; with a million contacts, a round takes a few minutes. A contact that begins or ceases to match gets \`joined\` or \`left\` in its activity, but for the first matches of a new or changed filter. An environment has at most 1,000 audiences, 100 of them dynamic.`,
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
  route('GET /v1/audiences', {
    name: 'listAudiences',
    permission: 'contacts:read',
    summary: 'List audiences',
    description:
      'Newest first. The list has no counts of dynamic audiences; get one by itself for its count.',
    query: AudienceQuery,
    response: Type.Array(Audience),
    example: { response: [AUDIENCE] },
    handle: (call) => listAudiences(deps, call),
  }),
  route('POST /v1/audiences/preview', {
    name: 'previewAudience',
    permission: 'contacts:write',
    summary: 'Count the contacts that match a filter, and show some of them',
    description: MADE_OF,
    body: PreviewBody,
    response: Preview,
    example: {
      body: { filter: { field: 'properties.plan', operator: 'eq', value: 'pro' } },
      response: PREVIEW,
    },
    handle: (call) => answeredOnce(deps.database, call, () => previewFilter(deps, call)),
  }),
  route('GET /v1/audiences/:id', {
    name: 'getAudience',
    permission: 'contacts:read',
    summary: 'Get an audience with the number of its contacts',
    description: 'Contacts are counted at the request; those of a dynamic audience by its filter.',
    params: { id: AUDIENCE_ID },
    response: Audience,
    example: { response: AUDIENCE },
    handle: (call) => audienceDetail(deps, call),
  }),
  route('PATCH /v1/audiences/:id', {
    name: 'updateAudience',
    audit: { action: 'audience.changed' },
    permission: 'contacts:write',
    summary: 'Change an audience',
    description: 'Omitted members stay unchanged. The type cannot be changed.',
    params: { id: AUDIENCE_ID },
    body: PatchAudience,
    response: Audience,
    failures: ['CONFLICT'],
    example: { body: { public: false }, response: { ...AUDIENCE, public: false } },
    handle: (call) => patchAudience(deps, call),
  }),
  route('DELETE /v1/audiences/:id', {
    name: 'deleteAudience',
    audit: { action: 'audience.deleted' },
    permission: 'contacts:write',
    summary: 'Delete an audience',
    description:
      'Its contacts stay. 409 while a scheduled or running campaign sends to it or excludes it, or an active flow names it, or a run of one under way, or the filter of another audience. Deleting the audience of a sent campaign stops no mail: deferred emails are still retried. Who has left it has left no other: a new audience of the same name takes them again, so rename and keep the one that people know.',
    params: { id: AUDIENCE_ID },
    failures: ['CONFLICT'],
    handle: (call) => deleteAudience(deps, call),
  }),
  route('GET /v1/audiences/:id/contacts', {
    name: 'listAudienceContacts',
    permission: 'contacts:read',
    summary: 'List the contacts of an audience',
    description: 'Newest contacts first, without those that still have to confirm.',
    params: { id: AUDIENCE_ID },
    query: AudienceQuery,
    response: Type.Array(Contact),
    example: { response: PREVIEW.sample },
    handle: (call) => listMembers(deps, call),
  }),
  route('POST /v1/audiences/:id/contacts', {
    name: 'updateAudienceContacts',
    permission: 'contacts:write',
    summary: 'Add contacts to a static audience',
    description:
      'Membership is no consent: unsubscribed contacts stay unsubscribed. With double opt-in, people first get a mail to confirm, at most three a day for each address.',
    params: { id: AUDIENCE_ID },
    body: AddMembers,
    response: Added,
    failures: ['CONFLICT'],
    example: { body: { emails: ['ada@example.com', 'nobody@example.com'] }, response: ADDED },
    handle: (call) => addMembers(deps, call),
  }),
  route('DELETE /v1/audiences/:id/contacts/:contact', {
    name: 'deleteAudienceContact',
    permission: 'contacts:write',
    summary: 'Remove a contact from a static audience',
    description: 'The contact itself stays. A dynamic audience has no members to remove: change its filter.',
    params: { id: AUDIENCE_ID, contact: { text: 'The id of the contact, or its address.' } },
    failures: ['CONFLICT'],
    handle: (call) => removeMember(deps, call),
  }),
];
