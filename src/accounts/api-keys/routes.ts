import { Type } from '@sinclair/typebox';
import { type Route, route } from '../../http/request/route.ts';
import { type ApiKeyCommands, createApiKey, patchApiKey, revokeApiKey } from './commands.ts';
import { ApiKey, ApiKeyQuery, CreateApiKey, CreatedApiKey, MOST_KEYS, PatchApiKey } from './model.ts';
import { listApiKeys } from './queries.ts';

const KEY_ID = { prefix: 'key', resource: 'API key' } as const;

const KEY_EXAMPLE = {
  id: 'key_01m7xj1rwp4sersf8ggsa354',
  name: 'Checkout',
  prefix: 'svc_…4xQz',
  env: 'test' as const,
  permissions: ['emails:send', 'emails:read'],
  createdAt: '2026-11-20T21:33:00.000Z',
  lastUsedAt: null,
  revokedAt: null,
};

export const apiKeyRoutes = (deps: ApiKeyCommands): readonly Route[] => [
  route('POST /v1/api-keys', {
    name: 'createApiKey',
    audit: {
      action: 'apiKey.created',
      details: ({ body }) => ({ ...(body as object) }),
    },
    permission: 'api-keys:write',
    summary: 'Create an API key',
    description: `Only this reply contains the full key. A key cannot grant permissions that it lacks, and a test key cannot create a live one. An environment has ${MOST_KEYS.toLocaleString('en')} active keys at most.`,
    body: CreateApiKey,
    response: CreatedApiKey,
    status: 201,
    failures: ['FORBIDDEN', 'CONFLICT'],
    example: {
      body: { name: 'Checkout', env: 'test', permissions: ['emails:send', 'emails:read'] },
      response: { ...KEY_EXAMPLE, key: 'svc_test_7hJ2kQ9xV4mZ1cT8pN5wR3yB6dF04xQz' },
    },
    handle: (call) => createApiKey(deps, call),
  }),
  route('GET /v1/api-keys', {
    name: 'listApiKeys',
    permission: 'api-keys:read',
    summary: 'List API keys',
    description: `All active ones and the latest ${MOST_KEYS.toLocaleString('en')} of the revoked ones, newest first. A test key sees test keys only.`,
    query: ApiKeyQuery,
    response: Type.Array(ApiKey),
    example: { response: [KEY_EXAMPLE] },
    handle: (call) => listApiKeys(deps, call),
  }),
  route('PATCH /v1/api-keys/:id', {
    name: 'updateApiKey',
    audit: { action: 'apiKey.changed', details: ({ body }) => ({ ...(body as object) }) },
    permission: 'api-keys:write',
    summary: 'Replace the permissions of an API key',
    description:
      'The whole set is replaced, never merged. It takes effect on the next request. A key with * can be changed by another one with *, or by an owner.',
    params: { id: KEY_ID },
    body: PatchApiKey,
    response: ApiKey,
    failures: ['CONFLICT'],
    example: {
      body: { permissions: ['emails:send'] },
      response: { ...KEY_EXAMPLE, permissions: ['emails:send'] },
    },
    handle: (call) => patchApiKey(deps, call),
  }),
  route('DELETE /v1/api-keys/:id', {
    name: 'revokeApiKey',
    audit: { action: 'apiKey.revoked' },
    permission: 'api-keys:write',
    summary: 'Revoke an API key',
    description:
      "Takes effect at once and permanently; the key's pending invitations become invalid. Revoking a revoked key again is not an error. A key with * can be revoked by another one with *, or by an owner.",
    params: { id: KEY_ID },
    response: Type.Object({ id: Type.String() }, { title: 'RevokedApiKey' }),
    example: { response: { id: KEY_EXAMPLE.id } },
    handle: (call) => revokeApiKey(deps, call),
  }),
];
