import { Type } from '@sinclair/typebox';
import { type Route, route } from '../../http/route.ts';
import {
  createWebhook,
  deleteWebhook,
  patchWebhook,
  rotateSecret,
  type WebhookCommands,
} from './commands.ts';
import { redeliver, replayEvents, testWebhook } from './deliveries/send-again.ts';
import {
  CreateWebhook,
  Delivery,
  DeliveryQuery,
  PatchWebhook,
  ReplayBody,
  ReplayQueued,
  TestQueued,
  Webhook,
  WebhookWithSecret,
} from './model.ts';
import { type DeliveryLister, listDeliveries, listWebhooks, webhookDetail } from './queries.ts';

const WEBHOOK_ID = { prefix: 'wh', resource: 'webhook endpoint' } as const;
const DELIVERY_ID = { prefix: 'dlv', resource: 'webhook delivery' } as const;

const WEBHOOK_EXAMPLE = {
  id: 'wh_01kahcd3vg8x2m7c1pzt4nwy',
  url: 'https://example.com/hooks/mail',
  events: ['delivered' as const, 'bounced' as const],
  status: 'active' as const,
  secretPrefix: 'whsec_k5cN…',
  failureCount: 0,
  lastFailures: [],
  disabledAt: null,
  disabledReason: null,
  createdAt: '2026-11-20T21:33:00.000Z',
};
const SECRET_EXAMPLE = {
  ...WEBHOOK_EXAMPLE,
  secret: 'whsec_k5cNwqVHr2ZtYb8XnGf3JpLs7DmTe0uAiQy4RoWh6Cg',
};
const DELIVERY_EXAMPLE = {
  id: 'dlv_01kahce1pq7d2k9x4v6b0n3m',
  webhookId: WEBHOOK_EXAMPLE.id,
  eventId: 'evt_01kahce1pq2h5t8w1y4z7c0f',
  eventType: 'delivered' as const,
  emailId: 'em_01kahce1m06g9s2v5x8a1d4k',
  status: 'success' as const,
  httpStatus: 200,
  responseBody: 'ok',
  retryCount: 0,
  attemptedAt: '2026-11-20T21:33:00.000Z',
  durationMs: 41,
  error: null,
  stopReason: null,
  nextAttemptAt: null,
};

/** The endpoints of webhooks. */
export const webhookRoutes = (deps: WebhookCommands & DeliveryLister): readonly Route[] => [
  route({
    method: 'POST',
    path: '/v1/webhooks',
    name: 'createWebhook',
    audit: { action: 'webhook.created' },
    permission: 'webhooks:write',
    summary: 'Register a webhook endpoint',
    description:
      'It belongs to the environment of the key; 20 of them at most. The secret is in this reply and nowhere else. The address is checked here, and again at every connection.',
    body: CreateWebhook,
    response: WebhookWithSecret,
    status: 201,
    failures: ['QUOTA_EXCEEDED'],
    example: {
      body: { url: WEBHOOK_EXAMPLE.url, events: ['delivered', 'bounced'] },
      response: SECRET_EXAMPLE,
    },
    handle: (call) => createWebhook(deps, call),
  }),
  route({
    method: 'GET',
    path: '/v1/webhooks',
    name: 'listWebhooks',
    permission: 'webhooks:read',
    summary: 'List webhook endpoints',
    description: "Newest first; those of the key's environment, at most 20.",
    response: Type.Array(Webhook),
    status: 200,
    example: { response: [WEBHOOK_EXAMPLE] },
    handle: (call) => listWebhooks(deps, call),
  }),
  route({
    method: 'GET',
    path: '/v1/webhooks/:id',
    name: 'getWebhook',
    permission: 'webhooks:read',
    summary: 'Get a webhook endpoint',
    description:
      'Its address, its events and whether it is enabled. The secret is told only when it is made or rotated.',
    params: { id: WEBHOOK_ID },
    response: Webhook,
    status: 200,
    example: { response: WEBHOOK_EXAMPLE },
    handle: (call) => webhookDetail(deps, call),
  }),
  route({
    method: 'PATCH',
    path: '/v1/webhooks/:id',
    name: 'updateWebhook',
    audit: { action: 'webhook.changed' },
    permission: 'webhooks:write',
    summary: 'Change a webhook endpoint',
    description:
      'What is left out stays. A new url holds for retries too. Disabling stops the deliveries that wait.',
    params: { id: WEBHOOK_ID },
    body: PatchWebhook,
    response: Webhook,
    status: 200,
    example: { body: { events: ['delivered', 'bounced', 'complained'] }, response: WEBHOOK_EXAMPLE },
    handle: (call) => patchWebhook(deps, call),
  }),
  route({
    method: 'DELETE',
    path: '/v1/webhooks/:id',
    name: 'deleteWebhook',
    audit: { action: 'webhook.deleted' },
    permission: 'webhooks:write',
    summary: 'Delete a webhook endpoint',
    description: 'At once and for good: deliveries that waited have stopped when this answers.',
    params: { id: WEBHOOK_ID },
    response: Type.Null(),
    status: 204,
    handle: (call) => deleteWebhook(deps, call),
  }),
  route({
    method: 'POST',
    path: '/v1/webhooks/:id/rotate-secret',
    name: 'rotateWebhookSecret',
    audit: { action: 'webhook.secretRotated' },
    permission: 'webhooks:write',
    summary: 'Give a webhook endpoint a new secret',
    description:
      'The old one ends at once; retries that wait are signed with the new one. A disabled endpoint is active again, and its failures are forgotten.',
    params: { id: WEBHOOK_ID },
    response: WebhookWithSecret,
    status: 200,
    example: { response: SECRET_EXAMPLE },
    handle: (call) => rotateSecret(deps, call),
  }),
  route({
    method: 'POST',
    path: '/v1/webhooks/:id/test',
    name: 'testWebhook',
    permission: 'webhooks:write',
    summary: 'Send a test event to a webhook endpoint',
    description:
      'Queues a `delivered` event whose `data` has `isTest` true and whose `livemode` is false. The reply says that it is queued, not that it was received.',
    params: { id: WEBHOOK_ID },
    response: TestQueued,
    status: 200,
    failures: ['CONFLICT'],
    example: { response: { queued: true } },
    handle: (call) => testWebhook(deps, call),
  }),
  route({
    method: 'GET',
    path: '/v1/webhooks/:id/deliveries',
    name: 'listWebhookDeliveries',
    permission: 'webhooks:read',
    summary: 'List the deliveries to a webhook endpoint',
    description:
      'Newest event first, each with what its last attempt came to. With a filter one request looks at 10,000 deliveries at most: a page may then hold fewer than asked for although more follow.',
    params: { id: WEBHOOK_ID },
    query: DeliveryQuery,
    response: Type.Array(Delivery),
    status: 200,
    example: { response: [DELIVERY_EXAMPLE] },
    handle: (call) => listDeliveries(deps, call),
  }),
  route({
    method: 'POST',
    path: '/v1/webhooks/:id/deliveries/:deliveryId/redeliver',
    name: 'redeliverWebhook',
    permission: 'webhooks:write',
    summary: 'Send one event again',
    description:
      'Whatever became of it: the same event with the same id, at once, and with all its retries before it again.',
    params: { id: WEBHOOK_ID, deliveryId: DELIVERY_ID },
    response: Delivery,
    status: 200,
    failures: ['CONFLICT'],
    example: {
      response: { ...DELIVERY_EXAMPLE, status: 'scheduled' },
    },
    handle: (call) => redeliver(deps, call),
  }),
  route({
    method: 'POST',
    path: '/v1/webhooks/:id/replay',
    name: 'replayWebhook',
    audit: { action: 'webhook.replayed' },
    permission: 'webhooks:write',
    summary: 'Send a range of events again',
    description:
      'Oldest first, 50 a second, the same events with the same ids; each gets a delivery of its own. One replay of an endpoint is under way at a time: another one is 409 until the last event of the first was sent. Events of before the endpoint was registered, or while it was disabled, are sent too.',
    params: { id: WEBHOOK_ID },
    body: ReplayBody,
    response: ReplayQueued,
    status: 200,
    failures: ['CONFLICT'],
    example: {
      body: { from: '2026-11-20T12:00:00.000Z', to: '2026-11-20T14:30:00.000Z', onlyFailed: true },
      response: { queued: 318, continueFrom: null },
    },
    handle: (call) => replayEvents(deps, call),
  }),
];
