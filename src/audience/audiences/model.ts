import { type Static, Type } from '@sinclair/typebox';
import { IfUpdatedAt } from '../../http/if-updated-at.ts';
import { sortQuery } from '../../http/lists/list.ts';
import { pageQuery } from '../../http/lists/pagination.ts';
import { literals } from '../../http/request/schema.ts';
import { nameSchema } from '../../platform/errors/text-length.ts';
import { filterMember } from '../../platform/filters/schema.ts';
import { Consent, Contact } from '../contacts/queries.ts';

const Moment = Type.String({ format: 'date-time' });
const Name = nameSchema({ examples: ['News'] });
const Description = Type.Union([Type.String({ maxLength: 1_000 }), Type.Null()], {
  description: 'The purpose of the audience; the preference page shows it. Null for none.',
});
const Public = Type.Boolean({
  description: 'True when the preference page shows it, where people leave and join it.',
});
const Confirm = Type.Boolean({
  description:
    'Double opt-in: an added person gets a mail from the default sender of the workspace, and joins by its link.',
});

/** A group of contacts. */
export const Audience = Type.Object(
  {
    id: Type.String({ examples: ['aud_01m7xj1rwzprnwr10308attx'] }),
    livemode: Type.Boolean({ description: 'False in the test environment.' }),
    name: Name,
    description: Description,
    type: literals(['static', 'dynamic'], {
      description:
        '`static`: you add and remove contacts. `dynamic`: it holds the contacts that match its filter.',
    }),
    filter: Type.Union([filterMember(), Type.Null()], {
      description: 'The filter of a dynamic audience; null for a static one.',
    }),
    public: Public,
    confirm: Confirm,
    contactCount: Type.Union([Type.Integer(), Type.Null()], {
      description:
        'The number of its contacts. Null for a dynamic audience in a list: get the audience by itself to count it.',
    }),
    createdAt: Moment,
    updatedAt: Moment,
  },
  { title: 'Audience' },
);

export type AudienceView = Static<typeof Audience>;

const filter = Type.Optional(filterMember({ description: 'Required for a dynamic audience.' }));

/** The body of POST /v1/audiences. */
export const NewAudience = Type.Object(
  {
    name: Name,
    description: Type.Optional(Description),
    type: Type.Optional(literals(['static', 'dynamic'], { description: 'Default: `static`.' })),
    filter,
    public: Type.Optional(Public),
    confirm: Type.Optional(Confirm),
  },
  { title: 'CreateAudience' },
);

export type NewAudience = Static<typeof NewAudience>;

/** The body of PATCH /v1/audiences/{id}. */
export const PatchAudience = Type.Object(
  {
    name: Type.Optional(Name),
    description: Type.Optional(Description),
    filter,
    public: Type.Optional(Public),
    confirm: Type.Optional(Confirm),
    ifUpdatedAt: IfUpdatedAt,
  },
  { title: 'UpdateAudience' },
);

export type PatchAudience = Static<typeof PatchAudience>;

export const AudienceQuery = Type.Object({ ...pageQuery, ...sortQuery() });

export type AudienceQuery = Static<typeof AudienceQuery>;

/** The most contacts that one request adds. */
export const MOST_ADDED = 1_000;

const some = (schema: ReturnType<typeof Type.String>, description: string) =>
  Type.Optional(Type.Array(schema, { maxItems: MOST_ADDED, description }));

/** The body of POST /v1/audiences/{id}/contacts. */
export const AddMembers = Type.Object(
  {
    contactIds: some(Type.String({ maxLength: 40 }), 'Contacts by their ids.'),
    emails: some(Type.String({ maxLength: 320 }), 'Contacts by their addresses.'),
    consent: Type.Optional(Consent),
  },
  { title: 'AddToAudience', description: `1 to ${MOST_ADDED.toLocaleString('en')} contacts together.` },
);

export type AddMembers = Static<typeof AddMembers>;

/** The outcome for each contact of the request. */
export const Added = Type.Object(
  {
    added: Type.Integer({ description: 'Contacts that are in it now, or will be once they confirm.' }),
    alreadyIn: Type.Integer({
      description: 'Contacts that were in it already, or had been asked to confirm.',
    }),
    notFound: Type.Array(Type.String(), { description: 'IDs and addresses without a contact.' }),
    left: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'IDs and addresses of people who left this audience themselves, or who left everything and would be asked to confirm. They are added only with a `consent` that is no older than their leaving, which says where and when they agreed to join again. Absent when empty.',
      }),
    ),
  },
  { title: 'AddedToAudience' },
);

export type AddedView = Static<typeof Added>;

/** The body of POST /v1/audiences/preview. */
export const PreviewBody = Type.Object({ filter: filterMember() }, { title: 'PreviewAudience' });

/** The contacts that a filter matches. */
export const Preview = Type.Object(
  {
    count: Type.Integer({ description: 'The number of matching contacts.' }),
    isExact: Type.Boolean({
      description: 'False when the count is an estimate, because too many contacts would have to be read.',
    }),
    sample: Type.Array(Contact, { description: 'Up to ten matching contacts.' }),
  },
  { title: 'AudiencePreview' },
);

export type PreviewView = Static<typeof Preview>;
