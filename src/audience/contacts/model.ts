import { type Static, Type } from '@sinclair/typebox';
import { IfUpdatedAt } from '../../http/if-updated-at.ts';
import { createdQuery, sortQuery } from '../../http/lists/list.ts';
import { pageQuery } from '../../http/lists/pagination.ts';
import { ItemError } from '../../http/request/item-error.ts';
import { literals } from '../../http/request/schema.ts';
import { CONTACT_STATUSES } from '../../mail/list-files/consent-words.ts';
import type { Detail } from '../../platform/errors/failure.ts';
import { eachField } from '../../platform/text/contact-fields.ts';
import { GivenPropertiesSchema, Properties } from './properties.ts';

/** Characters (Unicode code points) of a name. */
export const LONGEST_NAME = 200;

const nullable = <T extends ReturnType<typeof Type.String>>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });
const Moment = Type.String({ format: 'date-time' });

const Status = literals(CONTACT_STATUSES, {
  description:
    'Only `subscribed` contacts get campaigns and flows. A permanent bounce of live mail, a complaint and an unsubscription change it; simulated ones never do.',
});

/** A person that a workspace writes to. */
export const Contact = Type.Object(
  {
    id: Type.String({ examples: ['con_01m7xj1rwzprnwr10308attx'] }),
    livemode: Type.Boolean({ description: 'False for a contact of the test environment.' }),
    email: Type.String({ description: 'The address as it was given.', examples: ['ada@example.com'] }),
    ...eachField(() => nullable(Type.String(), 'Null when unknown.')),
    properties: Properties,
    status: Status,
    audienceIds: Type.Array(Type.String(), {
      description: 'The static audiences of the contact. For a dynamic audience, list its contacts.',
    }),
    createdAt: Moment,
    updatedAt: Moment,
    unsubscribedAt: nullable(Moment, 'When the contact stopped being subscribed; null while it is.'),
    lastActivityAt: nullable(Moment, 'The newest entry of its activity; null without one.'),
  },
  { title: 'Contact' },
);

export type ContactView = Static<typeof Contact>;

const FieldText = Type.Optional(
  nullable(Type.String({ maxLength: LONGEST_NAME }), 'Null removes it. An empty text is null.'),
);

const details = {
  ...eachField(() => FieldText),
  properties: Type.Optional(GivenPropertiesSchema),
};

/** The body of POST /v1/contacts. */
export const NewContact = Type.Object(
  {
    email: Type.String({ maxLength: 320, description: 'The address, without a name.' }),
    ...details,
    status: Type.Optional(
      literals(['subscribed', 'unsubscribed'], {
        description:
          'Default: `subscribed`. It is no consent: a person who has left, or whose address is suppressed, stays unsubscribed.',
      }),
    ),
  },
  { title: 'CreateContact' },
);

export type NewContact = Static<typeof NewContact>;

/** The query of POST /v1/contacts. */
export const UpsertQuery = Type.Object({
  upsert: Type.Boolean({
    default: false,
    description: 'True updates the contact of a known address (200) instead of refusing it (409).',
  }),
});

/** A consent: the place and the time at which a person agreed. */
export const Consent = Type.Object(
  {
    source: Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'The place at which the person agreed.',
      examples: ['Form at example.com/news'],
    }),
    at: Type.String({ format: 'date-time', description: 'The time; not in the future, nor before 1970.' }),
  },
  { description: 'Proof that the person wants mail again; kept in the activity of the contact.' },
);

/** The most that a consent may lie in the future, or before the leaving that it follows: clocks differ. */
const CLOCKS_DIFFER_MS = 60_000;

/** The mistakes in the moment of a consent. */
export function momentProblems(consent: Static<typeof Consent>, now: number): readonly Detail[] {
  const at = Date.parse(consent.at);
  if (at > now + CLOCKS_DIFFER_MS)
    return [{ path: '/body/consent/at', message: 'Must not lie in the future.' }];
  return at < 0 ? [{ path: '/body/consent/at', message: 'Must not lie before 1970.' }] : [];
}

/**
 * The moment of a consent for a statement: PostgreSQL refuses offsets from 16 hours on, which RFC 3339
 * allows.
 */
export const agreedAt = (consent: Static<typeof Consent> | null): string | null =>
  consent && new Date(consent.at).toISOString();

/**
 * SQL that is true where a consent is older than the leaving that it would undo. Where that moment is not
 * known it counts as older. `isKnown` says that the consent was known before the leaving, whose moment may be
 * too early: the clock that gave it may have been behind.
 */
export const isStaleSql = ({
  agreedAt,
  leftAt,
  isKnown,
}: {
  readonly agreedAt: string;
  readonly leftAt: string;
  readonly isKnown: string;
}): string =>
  `(coalesce(${agreedAt} < ${leftAt} - interval '${CLOCKS_DIFFER_MS} milliseconds', true) or coalesce(${isKnown}, false))`;

/** The body of PATCH /v1/contacts/{contact}. */
export const PatchContact = Type.Object(
  {
    ...details,
    status: Type.Optional(
      literals(['subscribed', 'unsubscribed'], {
        description:
          'Back to `subscribed` only with a `consent`, which must be no older than an unsubscription by the person themself, and never after a complaint.',
      }),
    ),
    consent: Type.Optional(Consent),
    ifUpdatedAt: IfUpdatedAt,
  },
  { title: 'UpdateContact' },
);

export type PatchContact = Static<typeof PatchContact>;

/** The most contacts of one batch. */
export const MOST_CONTACTS = 1_000;

/** The body of POST /v1/contacts/batch: each contact is read by itself. */
export const ContactBatch = Type.Object(
  {
    contacts: Type.Array(Type.Unknown({ ...NewContact }), {
      minItems: 1,
      maxItems: MOST_CONTACTS,
      description: `1 to ${MOST_CONTACTS.toLocaleString('en')} contacts, each as \`POST /v1/contacts?upsert=true\` takes it. A repeated address is merged into its first place.`,
    }),
  },
  { title: 'ContactBatch' },
);

const Index = Type.Integer({ minimum: 0, description: 'The place in `contacts`, from 0.' });

/** The outcome for one contact of a batch. */
export const ContactBatchItem = Type.Union(
  [
    Type.Object({
      index: Index,
      id: Type.String(),
      created: Type.Boolean({ description: 'False for an existing contact.' }),
    }),
    Type.Object({ index: Index, error: ItemError('/body/contacts/1/email') }),
  ],
  { title: 'ContactBatchItem' },
);

export type ContactBatchItem = Static<typeof ContactBatchItem>;

/** The filters of the list. */
export const ContactQuery = Type.Object({
  ...pageQuery,
  email: Type.Optional(Type.String({ maxLength: 320, description: 'One address, ignoring case.' })),
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: LONGEST_NAME,
      description: 'The beginning of the address, the first, the last or the whole name, ignoring case.',
    }),
  ),
  status: Type.Optional(Status),
  audienceId: Type.Optional(Type.String({ maxLength: 40, description: 'Only contacts in this audience.' })),
  ...createdQuery,
  ...sortQuery('email'),
});

export type ContactQuery = Static<typeof ContactQuery>;
