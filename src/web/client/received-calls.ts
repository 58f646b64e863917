import { type CallOptions, dataOf } from './call.ts';
import type { Methods } from './methods.ts';

/** Received mail: read, answered, posted again. */
export const received = ({ withBody, list, byId, byIdWithBody, send }: Methods) => ({
  /** Newest first; with `threadId` one conversation, with `emailId` the answers to an email. */
  list: list('GET /received'),
  /** A message with its content, its answers and the posts of its webhook. */
  get: byId('GET /received/{id}'),
  /** The message as it came. */
  raw: byId('GET /received/{id}/raw'),
  /** One of its files, by its `index` in `attachments`. */
  attachment: (id: string, index: number, options?: CallOptions) =>
    dataOf(send('GET /received/{id}/attachments/{index}', { path: { id, index: String(index) } }, options)),
  /** Answers it, in its thread. */
  reply: byIdWithBody('POST /received/{id}/reply'),
  /** Posts it to the webhook of its route again. */
  redeliver: byId('POST /received/{id}/redeliver'),
  /** Passes a message to the routes of the test environment. */
  simulate: withBody('POST /received/test'),
  /** Deletes it for good. */
  delete: byId('DELETE /received/{id}'),
});

/** Mailboxes at other servers, whose new messages go through the inbound routes. */
export const mailboxes = ({ withBody, list, byId, byIdWithBody }: Methods) => ({
  create: withBody('POST /mailboxes'),
  list: list('GET /mailboxes'),
  /** With `status` and, where it cannot be read, the reason. */
  get: byId('GET /mailboxes/{id}'),
  update: byIdWithBody('PATCH /mailboxes/{id}'),
  delete: byId('DELETE /mailboxes/{id}'),
});
