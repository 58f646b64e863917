import { Type } from '@sinclair/typebox';
import { withCsv } from '../../http/lists/list-csv.ts';
import { type Route, route } from '../../http/request/route.ts';
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
  updatedAt: '2026-11-20T21:33:00.000Z',
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

export const webhookRoutes = (deps: WebhookCommands & DeliveryLister): readonly Route[] => [
  route('POST /v1/webhooks', {
    name: 'createWebhook',
    audit: { action: 'webhook.created' },
    permission: 'webhooks:write',
    summary: 'Create a webhook endpoint',
    description:
      'It belongs to the environment of the key, which has at most 20. Only this reply shows the secret. The address is checked now, and again at every connection.',
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
  route('GET /v1/webhooks', {
    name: 'listWebhooks',
    permission: 'webhooks:read',
    summary: 'List webhook endpoints',
    description: "Newest first; those of the key's environment, at most 20.",
    response: Type.Array(Webhook),
    example: { response: [WEBHOOK_EXAMPLE] },
    handle: (call) => listWebhooks(deps, call),
  }),
  route('GET /v1/webhooks/:id', {
    name: 'getWebhook',
    permission: 'webhooks:read',
    summary: 'Get a webhook endpoint',
    description:
      'Its URL, its events and its status. Only the replies to creation and rotation show the secret.',
    params: { id: WEBHOOK_ID },
    response: Webhook,
    example: { response: WEBHOOK_EXAMPLE },
    handle: (call) => webhookDetail(deps, call),
  }),
  route('PATCH /v1/webhooks/:id', {
    name: 'updateWebhook',
    audit: { action: 'webhook.changed' },
    permission: 'webhooks:write',
    summary: 'Change a webhook endpoint',
    description:
      'Members that are left out stay as they are. Retries use a new URL as well. Disabling stops the waiting deliveries.',
    params: { id: WEBHOOK_ID },
    body: PatchWebhook,
    response: Webhook,
    failures: ['CONFLICT'],
    example: { body: { events: ['delivered', 'bounced', 'complained'] }, response: WEBHOOK_EXAMPLE },
    handle: (call) => patchWebhook(deps, call),
  }),
  route('DELETE /v1/webhooks/:id', {
    name: 'deleteWebhook',
    audit: { action: 'webhook.deleted' },
    permission: 'webhooks:write',
    summary: 'Delete a webhook endpoint',
    description:
      'Takes effect at once and cannot be undone: when the reply arrives, waiting deliveries have stopped.',
    params: { id: WEBHOOK_ID },
    handle: (call) => deleteWebhook(deps, call),
  }),
  route('POST /v1/webhooks/:id/rotate-secret', {
    name: 'rotateWebhookSecret',
    audit: { action: 'webhook.secretRotated' },
    permission: 'webhooks:write',
    summary: 'Rotate the secret of a webhook endpoint',
    description:
      'The old secret is invalid at once; waiting retries are signed with the new one. A disabled endpoint becomes active again, and its failures are reset.',
    params: { id: WEBHOOK_ID },
    response: WebhookWithSecret,
    example: { response: SECRET_EXAMPLE },
    handle: (call) => rotateSecret(deps, call),
  }),
  route('POST /v1/webhooks/:id/test', {
    name: 'testWebhook',
    permission: 'webhooks:write',
    summary: 'Send a test event to a webhook endpoint',
    description:
      'Queues a `delivered` event whose `data` has `isTest` true and whose `livemode` is false. The reply confirms that it is queued, not that it was received.',
    params: { id: WEBHOOK_ID },
    response: TestQueued,
    failures: ['CONFLICT'],
    example: { response: { queued: true } },
    handle: (call) => testWebhook(deps, call),
  }),
  ...withCsv(
    {
      name: 'exportWebhookDeliveries',
      file: 'deliveries.csv',
      summary: 'Download the deliveries to a webhook endpoint as CSV',
    },
    route('GET /v1/webhooks/:id/deliveries', {
      name: 'listWebhookDeliveries',
      permission: 'webhooks:read',
      summary: 'List the deliveries to a webhook endpoint',
      description:
        'Newest event first, unless `sort` says otherwise, each with the result of its last attempt. With a filter one request searches at most 10,000 deliveries: a page may then have fewer than `limit` although more follow.',
      params: { id: WEBHOOK_ID },
      query: DeliveryQuery,
      response: Type.Array(Delivery),
      example: { response: [DELIVERY_EXAMPLE] },
      handle: (call) => listDeliveries(deps, call),
    }),
  ),
  route('POST /v1/webhooks/:id/deliveries/:deliveryId/redeliver', {
    name: 'redeliverWebhook',
    permission: 'webhooks:write',
    summary: 'Redeliver an event',
    description:
      'Sends the same event with the same id again, at once, whatever the status of the delivery, and with all its retries.',
    params: { id: WEBHOOK_ID, deliveryId: DELIVERY_ID },
    response: Delivery,
    failures: ['CONFLICT'],
    example: {
      response: { ...DELIVERY_EXAMPLE, status: 'scheduled' },
    },
    handle: (call) => redeliver(deps, call),
  }),
  route('POST /v1/webhooks/:id/replay', {
    name: 'replayWebhook',
    audit: { action: 'webhook.replayed' },
    permission: 'webhooks:write',
    summary: 'Replay a range of events',
    description:
      'Sends the same events with the same ids again, oldest first, 50 a second; each gets a new delivery. An endpoint has one replay at a time: another one is 409 until the last event of the first was sent. Events from before the endpoint was created, or while it was disabled, are sent too.',
    params: { id: WEBHOOK_ID },
    body: ReplayBody,
    response: ReplayQueued,
    failures: ['CONFLICT'],
    example: {
      body: { from: '2026-11-20T12:00:00.000Z', to: '2026-11-20T14:30:00.000Z', onlyFailed: true },
      response: { queued: 318, continueFrom: null },
    },
    handle: (call) => replayEvents(deps, call),
  }),
];
