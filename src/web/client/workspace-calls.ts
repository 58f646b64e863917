import { type CallOptions, dataOf } from './call.ts';
import type { Methods } from './methods.ts';

/** Webhook endpoints and their deliveries. */
export const webhooks = ({ withQuery, withBody, byId, byIdWithBody, listById, send }: Methods) => ({
  /** Registers an endpoint; the answer has its secret, once. */
  create: withBody('POST /webhooks'),
  /** All endpoints. */
  list: withQuery('GET /webhooks'),
  /** One. */
  get: byId('GET /webhooks/{id}'),
  /** Changes address, types or status. */
  update: byIdWithBody('PATCH /webhooks/{id}'),
  /** Removes it; what is queued for it stops. */
  delete: byId('DELETE /webhooks/{id}'),
  /** A new secret, which holds at once. */
  rotateSecret: byId('POST /webhooks/{id}/rotate-secret'),
  /** Queues a test event. */
  test: byId('POST /webhooks/{id}/test'),
  /** Newest first. */
  deliveries: listById('GET /webhooks/{id}/deliveries'),
  /** Sends one again. */
  redeliver: (id: string, deliveryId: string, options?: CallOptions) =>
    dataOf(
      send('POST /webhooks/{id}/deliveries/{deliveryId}/redeliver', { path: { id, deliveryId } }, options),
    ),
  /** Sends the events of a range again. */
  replay: byIdWithBody('POST /webhooks/{id}/replay'),
});

/** API keys. */
export const apiKeys = ({ withQuery, withBody, byId, byIdWithBody }: Methods) => ({
  /** Creates a key; the answer shows it, once. */
  create: withBody('POST /api-keys'),
  /** All keys, without their secrets. */
  list: withQuery('GET /api-keys'),
  /** Replaces its permissions. */
  update: byIdWithBody('PATCH /api-keys/{id}'),
  /** It is refused at once. */
  revoke: byId('DELETE /api-keys/{id}'),
});

/** The latest requests of API keys. */
export const requests = ({ list, byId }: Methods) => ({
  /** Newest first. */
  list: list('GET /requests'),
  /** One, by the `x-request-id` of its answer. */
  get: byId('GET /requests/{id}'),
});

/** The workspace: settings, members, plan. */
export const workspace = ({ plain, withBody, list, send }: Methods) => ({
  /** Settings, plan, limits, usage. */
  get: plain('GET /workspace'),
  /** Changes settings. */
  update: withBody('PATCH /workspace'),
  /** A PNG or JPEG, as a Blob with its type. */
  setLogo: (content: Blob, options?: CallOptions) =>
    dataOf(send('PUT /workspace/logo', { body: content }, options)),
  /** Removes it. */
  removeLogo: plain('DELETE /workspace/logo'),
  /** The log of actions with their actors, newest first. */
  auditLog: list('GET /audit-log'),
  /** The plan and its payment. */
  billing: plain('GET /billing'),
  /** The page on which a plan is paid. */
  checkout: withBody('POST /billing/checkout'),
  /** The page of cards and invoices. */
  billingPortal: plain('POST /billing/portal'),
});

/** The members of the workspace. */
export const members = ({ plain, withBody, byId, byIdWithBody }: Methods) => ({
  /** Lists all members. */
  list: plain('GET /members'),
  /** Changes a role. */
  update: byIdWithBody('PATCH /members/{id}'),
  /** Removes a member. */
  remove: byId('DELETE /members/{id}'),
  /** Creates an invitation; the answer has its link, once. */
  invite: withBody('POST /members/invitations'),
  /** Those that are open. */
  invitations: plain('GET /members/invitations'),
  /** Takes one back. */
  revokeInvitation: byId('DELETE /members/invitations/{id}'),
});
