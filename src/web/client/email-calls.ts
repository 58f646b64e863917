import { type Body, type CallOptions, dataOf, type Query, type RenderReact } from './call.ts';
import type { Methods } from './methods.ts';
import { type ReactEmail, renderEmail } from './react.ts';

type SendBody = Body<'POST /emails'>;
type BatchItem = Body<'POST /emails/batch'>['emails'][number];

/** Emails: send, schedule, follow. */
export const emails = ({ list, byId, byIdWithQuery, byIdWithBody, send }: Methods, render?: RenderReact) => ({
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
  list: list('GET /emails'),
  /** An email with its events. */
  get: byId('GET /emails/{id}'),
  /** Waits for a test email to an address: its subject, text, links and codes. */
  wait: (query: Query<'GET /emails/wait'>, options?: CallOptions) =>
    dataOf(send('GET /emails/wait', { query }, options)),
  /** Its events, oldest first. */
  events: byId('GET /emails/{id}/events'),
  /** The status of an email, its reasons, and its next step. */
  explain: byId('GET /emails/{id}/explain'),
  /** The message as it left for one of its recipients. */
  raw: byIdWithQuery('GET /emails/{id}/raw'),
  /** One of its files, by its place in `attachments`. */
  attachment: (id: string, number: number, options?: CallOptions) =>
    dataOf(send('GET /emails/{id}/attachments/{number}', { path: { id, number } }, options)),
  /** Moves one that is scheduled. */
  reschedule: byIdWithBody('PATCH /emails/{id}'),
  /** Cancels one that is scheduled. */
  cancel: byId('DELETE /emails/{id}'),
});

/** Live mail that the transport `capture` has stored instead of sending it. */
export const captured = ({ plain, list, byId, send }: Methods) => ({
  /** Newest first. */
  list: list('GET /captured'),
  /** Waits for a copy for an address: its subject, text, links and codes. */
  wait: (query: Query<'GET /captured/wait'>, options?: CallOptions) =>
    dataOf(send('GET /captured/wait', { query }, options)),
  /** One with headers and bodies. */
  get: byId('GET /captured/{id}'),
  /** Finds mistakes in it. */
  check: byId('GET /captured/{id}/check'),
  /** Removes one. */
  delete: byId('DELETE /captured/{id}'),
  /** Removes all. */
  clear: plain('DELETE /captured'),
});

/** Clocks for test mail, which stay at their time until you advance them. */
export const testClocks = ({ withBody, list, byId, byIdWithBody }: Methods) => ({
  /** Creates a test clock. */
  create: withBody('POST /test-clocks'),
  /** Newest first. */
  list: list('GET /test-clocks'),
  /** One, with its time and whether it is ready. */
  get: byId('GET /test-clocks/{id}'),
  /** Sends it on its way; what is due until then happens meanwhile. */
  advance: byIdWithBody('POST /test-clocks/{id}/advance'),
  /** Deletes it and cancels what it has scheduled. */
  delete: byId('DELETE /test-clocks/{id}'),
});

/** Numbers over time. */
export const analytics = ({ withQuery }: Methods) => ({
  /** The series of a range. */
  get: withQuery('GET /analytics'),
});
