import { type Body, type CallOptions, dataOf, type Query, type Send } from './call.ts';
import { listOf } from './pages.ts';

/** Received mail: read, answered, posted again. */
export const received = (send: Send) => ({
  /** Newest first; with `threadId` one conversation, with `emailId` the answers to an email. */
  list: (query?: Query<'GET /received'>, options?: CallOptions) =>
    listOf(send, 'GET /received', { query }, options),
  /** A message with its content, its answers and the posts of its webhook. */
  get: (id: string, options?: CallOptions) => dataOf(send('GET /received/{id}', { path: { id } }, options)),
  /** The message as it came. */
  raw: (id: string, options?: CallOptions) =>
    dataOf(send('GET /received/{id}/raw', { path: { id } }, options)),
  /** One of its files, by its `index` in `attachments`. */
  attachment: (id: string, index: number, options?: CallOptions) =>
    dataOf(send('GET /received/{id}/attachments/{index}', { path: { id, index: String(index) } }, options)),
  /** Answers it, in its thread. */
  reply: (id: string, body: Body<'POST /received/{id}/reply'>, options?: CallOptions) =>
    dataOf(send('POST /received/{id}/reply', { path: { id }, body }, options)),
  /** Posts it to the webhook of its route again. */
  redeliver: (id: string, options?: CallOptions) =>
    dataOf(send('POST /received/{id}/redeliver', { path: { id } }, options)),
  /** Passes a message to the routes of the test environment. */
  simulate: (body: Body<'POST /received/test'>, options?: CallOptions) =>
    dataOf(send('POST /received/test', { body }, options)),
  /** Deletes it for good. */
  delete: (id: string, options?: CallOptions) =>
    dataOf(send('DELETE /received/{id}', { path: { id } }, options)),
});

/** Mailboxes at other servers, whose new messages go through the inbound routes. */
export const mailboxes = (send: Send) => ({
  create: (body: Body<'POST /mailboxes'>, options?: CallOptions) =>
    dataOf(send('POST /mailboxes', { body }, options)),
  list: (query?: Query<'GET /mailboxes'>, options?: CallOptions) =>
    listOf(send, 'GET /mailboxes', { query }, options),
  /** With `status` and, where it cannot be read, the reason. */
  get: (id: string, options?: CallOptions) => dataOf(send('GET /mailboxes/{id}', { path: { id } }, options)),
  update: (id: string, body: Body<'PATCH /mailboxes/{id}'>, options?: CallOptions) =>
    dataOf(send('PATCH /mailboxes/{id}', { path: { id }, body }, options)),
  delete: (id: string, options?: CallOptions) =>
    dataOf(send('DELETE /mailboxes/{id}', { path: { id } }, options)),
});
