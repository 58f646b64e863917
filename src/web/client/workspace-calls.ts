import { type Body, type CallOptions, dataOf, type Query, type Send } from './call.ts';
import { listOf } from './pages.ts';

/** Webhook endpoints and their deliveries. */
export const webhooks = (send: Send) => ({
  /** Registers an endpoint; the answer has its secret, once. */
  create: (body: Body<'POST /webhooks'>, options?: CallOptions) =>
    dataOf(send('POST /webhooks', { body }, options)),
  /** All endpoints. */
  list: (query?: Query<'GET /webhooks'>, options?: CallOptions) =>
    dataOf(send('GET /webhooks', { query }, options)),
  /** One. */
  get: (id: string, options?: CallOptions) => dataOf(send('GET /webhooks/{id}', { path: { id } }, options)),
  /** Changes address, types or status. */
  update: (id: string, body: Body<'PATCH /webhooks/{id}'>, options?: CallOptions) =>
    dataOf(send('PATCH /webhooks/{id}', { path: { id }, body }, options)),
  /** Removes it; what is queued for it stops. */
  delete: (id: string, options?: CallOptions) =>
    dataOf(send('DELETE /webhooks/{id}', { path: { id } }, options)),
  /** A new secret, which holds at once. */
  rotateSecret: (id: string, options?: CallOptions) =>
    dataOf(send('POST /webhooks/{id}/rotate-secret', { path: { id } }, options)),
  /** Queues a test event. */
  test: (id: string, options?: CallOptions) =>
    dataOf(send('POST /webhooks/{id}/test', { path: { id } }, options)),
  /** Newest first. */
  deliveries: (id: string, query?: Query<'GET /webhooks/{id}/deliveries'>, options?: CallOptions) =>
    listOf(send, 'GET /webhooks/{id}/deliveries', { path: { id }, query }, options),
  /** Sends one again. */
  redeliver: (id: string, deliveryId: string, options?: CallOptions) =>
    dataOf(
      send('POST /webhooks/{id}/deliveries/{deliveryId}/redeliver', { path: { id, deliveryId } }, options),
    ),
  /** Sends the events of a range again. */
  replay: (id: string, body: Body<'POST /webhooks/{id}/replay'>, options?: CallOptions) =>
    dataOf(send('POST /webhooks/{id}/replay', { path: { id }, body }, options)),
});

/** API keys. */
export const apiKeys = (send: Send) => ({
  /** Creates a key; the answer shows it, once. */
  create: (body: Body<'POST /api-keys'>, options?: CallOptions) =>
    dataOf(send('POST /api-keys', { body }, options)),
  /** All keys, without their secrets. */
  list: (query?: Query<'GET /api-keys'>, options?: CallOptions) =>
    dataOf(send('GET /api-keys', { query }, options)),
  /** Replaces its permissions. */
  update: (id: string, body: Body<'PATCH /api-keys/{id}'>, options?: CallOptions) =>
    dataOf(send('PATCH /api-keys/{id}', { path: { id }, body }, options)),
  /** It is refused at once. */
  revoke: (id: string, options?: CallOptions) =>
    dataOf(send('DELETE /api-keys/{id}', { path: { id } }, options)),
});

/** The latest requests of API keys. */
export const requests = (send: Send) => ({
  /** Newest first. */
  list: (query?: Query<'GET /requests'>, options?: CallOptions) =>
    listOf(send, 'GET /requests', { query }, options),
  /** One, by the `x-request-id` of its answer. */
  get: (id: string, options?: CallOptions) => dataOf(send('GET /requests/{id}', { path: { id } }, options)),
});

/** The workspace: settings, members, plan. */
export const workspace = (send: Send) => ({
  /** Settings, plan, limits, usage. */
  get: (options?: CallOptions) => dataOf(send('GET /workspace', {}, options)),
  /** Changes settings. */
  update: (body: Body<'PATCH /workspace'>, options?: CallOptions) =>
    dataOf(send('PATCH /workspace', { body }, options)),
  /** A PNG or JPEG, as a Blob with its type. */
  setLogo: (content: Blob, options?: CallOptions) =>
    dataOf(send('PUT /workspace/logo', { body: content }, options)),
  /** Removes it. */
  removeLogo: (options?: CallOptions) => dataOf(send('DELETE /workspace/logo', {}, options)),
  /** The log of actions with their actors, newest first. */
  auditLog: (query?: Query<'GET /audit-log'>, options?: CallOptions) =>
    listOf(send, 'GET /audit-log', { query }, options),
  /** The plan and its payment. */
  billing: (options?: CallOptions) => dataOf(send('GET /billing', {}, options)),
  /** The page on which a plan is paid. */
  checkout: (body: Body<'POST /billing/checkout'>, options?: CallOptions) =>
    dataOf(send('POST /billing/checkout', { body }, options)),
  /** The page of cards and invoices. */
  billingPortal: (options?: CallOptions) => dataOf(send('POST /billing/portal', {}, options)),
});

/** The members of the workspace. */
export const members = (send: Send) => ({
  /** Lists all members. */
  list: (options?: CallOptions) => dataOf(send('GET /members', {}, options)),
  /** Changes a role. */
  update: (id: string, body: Body<'PATCH /members/{id}'>, options?: CallOptions) =>
    dataOf(send('PATCH /members/{id}', { path: { id }, body }, options)),
  /** Removes a member. */
  remove: (id: string, options?: CallOptions) =>
    dataOf(send('DELETE /members/{id}', { path: { id } }, options)),
  /** Creates an invitation; the answer has its link, once. */
  invite: (body: Body<'POST /members/invitations'>, options?: CallOptions) =>
    dataOf(send('POST /members/invitations', { body }, options)),
  /** Those that are open. */
  invitations: (options?: CallOptions) => dataOf(send('GET /members/invitations', {}, options)),
  /** Takes one back. */
  revokeInvitation: (id: string, options?: CallOptions) =>
    dataOf(send('DELETE /members/invitations/{id}', { path: { id } }, options)),
});
