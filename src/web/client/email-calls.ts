import { type Body, type CallOptions, dataOf, type Query, type RenderReact, type Send } from './call.ts';
import { listOf } from './pages.ts';
import { type ReactEmail, renderEmail } from './react.ts';

type SendBody = Body<'POST /emails'>;
type BatchItem = Body<'POST /emails/batch'>['emails'][number];

/** Emails: send, schedule, follow. */
export const emails = (send: Send, render?: RenderReact) => ({
  /** Sends an email, or schedules it with `scheduledAt`. `react` is an element in place of html. */
  send: async (email: SendBody | ReactEmail<SendBody>, options?: CallOptions) =>
    dataOf(send('POST /emails', { body: await renderEmail(email, render) }, options)),
  /**
   * Sends up to 100 emails in one call. Each is accepted or refused separately: check every item of the
   * answer.
   */
  sendBatch: async (emails: readonly (BatchItem | ReactEmail<BatchItem>)[], options?: CallOptions) => {
    const rendered = await Promise.all(emails.map((email) => renderEmail(email, render)));
    return dataOf(send('POST /emails/batch', { body: { emails: rendered } }, options));
  },
  /** Sends a whole message (RFC 5322) as it is. */
  sendRaw: (message: string | Blob, query?: Query<'POST /emails/raw'>, options?: CallOptions) =>
    dataOf(
      send('POST /emails/raw', { body: new Blob([message], { type: 'message/rfc822' }), query }, options),
    ),
  /** Newest first. */
  list: (query?: Query<'GET /emails'>, options?: CallOptions) =>
    listOf(send, 'GET /emails', { query }, options),
  /** An email with its events. */
  get: (id: string, options?: CallOptions) => dataOf(send('GET /emails/{id}', { path: { id } }, options)),
  /** Waits for a test email to an address: its subject, text, links and codes. */
  wait: (query: Query<'GET /emails/wait'>, options?: CallOptions) =>
    dataOf(send('GET /emails/wait', { query }, options)),
  /** Its events, oldest first. */
  events: (id: string, options?: CallOptions) =>
    dataOf(send('GET /emails/{id}/events', { path: { id } }, options)),
  /** The status of an email, its reasons, and its next step. */
  explain: (id: string, options?: CallOptions) =>
    dataOf(send('GET /emails/{id}/explain', { path: { id } }, options)),
  /** The message as it left for one of its recipients. */
  raw: (id: string, query?: Query<'GET /emails/{id}/raw'>, options?: CallOptions) =>
    dataOf(send('GET /emails/{id}/raw', { path: { id }, query }, options)),
  /** One of its files, by its place in `attachments`. */
  attachment: (id: string, number: number, options?: CallOptions) =>
    dataOf(send('GET /emails/{id}/attachments/{number}', { path: { id, number } }, options)),
  /** Moves one that is scheduled. */
  reschedule: (id: string, body: Body<'PATCH /emails/{id}'>, options?: CallOptions) =>
    dataOf(send('PATCH /emails/{id}', { path: { id }, body }, options)),
  /** Cancels one that is scheduled. */
  cancel: (id: string, options?: CallOptions) =>
    dataOf(send('DELETE /emails/{id}', { path: { id } }, options)),
});

/** Live mail that the transport `capture` has stored instead of sending it. */
export const captured = (send: Send) => ({
  /** Newest first. */
  list: (query?: Query<'GET /captured'>, options?: CallOptions) =>
    listOf(send, 'GET /captured', { query }, options),
  /** Waits for a copy for an address: its subject, text, links and codes. */
  wait: (query: Query<'GET /captured/wait'>, options?: CallOptions) =>
    dataOf(send('GET /captured/wait', { query }, options)),
  /** One with headers and bodies. */
  get: (id: string, options?: CallOptions) => dataOf(send('GET /captured/{id}', { path: { id } }, options)),
  /** Finds mistakes in it. */
  check: (id: string, options?: CallOptions) =>
    dataOf(send('GET /captured/{id}/check', { path: { id } }, options)),
  /** Removes one. */
  delete: (id: string, options?: CallOptions) =>
    dataOf(send('DELETE /captured/{id}', { path: { id } }, options)),
  /** Removes all. */
  clear: (options?: CallOptions) => dataOf(send('DELETE /captured', {}, options)),
});

/** Clocks for test mail, which stay at their time until you advance them. */
export const testClocks = (send: Send) => ({
  /** Creates a test clock. */
  create: (body: Body<'POST /test-clocks'>, options?: CallOptions) =>
    dataOf(send('POST /test-clocks', { body }, options)),
  /** Newest first. */
  list: (query?: Query<'GET /test-clocks'>, options?: CallOptions) =>
    listOf(send, 'GET /test-clocks', { query }, options),
  /** One, with its time and whether it is ready. */
  get: (id: string, options?: CallOptions) =>
    dataOf(send('GET /test-clocks/{id}', { path: { id } }, options)),
  /** Sends it on its way; what is due until then happens meanwhile. */
  advance: (id: string, body: Body<'POST /test-clocks/{id}/advance'>, options?: CallOptions) =>
    dataOf(send('POST /test-clocks/{id}/advance', { path: { id }, body }, options)),
  /** Deletes it and cancels what it has scheduled. */
  delete: (id: string, options?: CallOptions) =>
    dataOf(send('DELETE /test-clocks/{id}', { path: { id } }, options)),
});

/** Numbers over time. */
export const analytics = (send: Send) => ({
  /** The series of a range. */
  get: (query?: Query<'GET /analytics'>, options?: CallOptions) =>
    dataOf(send('GET /analytics', { query }, options)),
});
