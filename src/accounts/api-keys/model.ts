import { type Static, Type } from '@sinclair/typebox';
import { PERMISSION_NAMES } from '../../http/auth/permissions.ts';

const Permissions = Type.Array(Type.Union(PERMISSION_NAMES.map((name) => Type.Literal(name))), {
  minItems: 1,
  maxItems: PERMISSION_NAMES.length,
  uniqueItems: true,
  description:
    'The permissions of the key. `*` grants everything, future permissions included, and is stored alone.',
});

/** The most active keys of one environment, and the most revoked ones that a list shows. */
export const MOST_KEYS = 1_000;

/** The body of POST /v1/api-keys. */
export const CreateApiKey = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 100,
      pattern: '\\S',
      description: 'The name of the key.',
    }),
    env: Type.Union([Type.Literal('live'), Type.Literal('test')], {
      description: 'Fixed for the life of the key. A test key can do everything except send real email.',
    }),
    permissions: Permissions,
  },
  { title: 'CreateApiKey' },
);

/** The body of PATCH /v1/api-keys/{id}. */
export const PatchApiKey = Type.Object({ permissions: Permissions }, { title: 'UpdateApiKey' });

/** The query of GET /v1/api-keys. */
export const ApiKeyQuery = Type.Object({
  createdBy: Type.Optional(
    Type.String({
      maxLength: 60,
      description: 'Only keys created by this member or key, by its id.',
    }),
  ),
});

export type ApiKeyQuery = Static<typeof ApiKeyQuery>;

const NullableTime = Type.Union([Type.String({ format: 'date-time' }), Type.Null()]);

const members = {
  id: Type.String(),
  name: Type.String(),
  prefix: Type.String({ description: 'First and last four characters of the key.' }),
  env: Type.Union([Type.Literal('live'), Type.Literal('test')]),
  permissions: Type.Array(Type.String()),
  createdAt: Type.String({ format: 'date-time' }),
  lastUsedAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description:
      'Approximate: refreshed at most every 15 minutes. Null until the key first authenticates a request.',
  }),
  revokedAt: NullableTime,
};

/** The schema of a listed API key, without the key itself. */
export const ApiKey = Type.Object(members, { title: 'ApiKey' });

/** The schema of a created API key, the only answer that shows the key itself. */
export const CreatedApiKey = Type.Object(
  {
    ...members,
    key: Type.String({
      description: 'The API key. It is shown only this once and cannot be retrieved again.',
    }),
  },
  { title: 'CreatedApiKey' },
);

export type NewApiKey = Static<typeof CreateApiKey>;
export type ApiKeyView = Static<typeof ApiKey>;
