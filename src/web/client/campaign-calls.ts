import { type Body, type CallOptions, dataOf, type Query, type Send } from './call.ts';
import { listOf } from './pages.ts';

/** Campaigns. */
export const campaigns = (send: Send) => ({
  /** Creates a draft. */
  create: (body: Body<'POST /campaigns'>, options?: CallOptions) =>
    dataOf(send('POST /campaigns', { body }, options)),
  /** Newest first. */
  list: (query?: Query<'GET /campaigns'>, options?: CallOptions) =>
    listOf(send, 'GET /campaigns', { query }, options),
  /** One with its content. */
  get: (id: string, options?: CallOptions) => dataOf(send('GET /campaigns/{id}', { path: { id } }, options)),
  /** Changes a draft. */
  update: (id: string, body: Body<'PATCH /campaigns/{id}'>, options?: CallOptions) =>
    dataOf(send('PATCH /campaigns/{id}', { path: { id }, body }, options)),
  /** Removes it. */
  delete: (id: string, options?: CallOptions) =>
    dataOf(send('DELETE /campaigns/{id}', { path: { id } }, options)),
  /** Creates a draft with the same content. */
  duplicate: (id: string, options?: CallOptions) =>
    dataOf(send('POST /campaigns/{id}/duplicate', { path: { id } }, options)),
  /** Starts, schedules or resumes it. */
  send: (id: string, body: Body<'POST /campaigns/{id}/send'> = {}, options?: CallOptions) =>
    dataOf(send('POST /campaigns/{id}/send', { path: { id }, body }, options)),
  /** Pauses it: no further email starts. */
  pause: (id: string, options?: CallOptions) =>
    dataOf(send('POST /campaigns/{id}/pause', { path: { id } }, options)),
  /** Turns a scheduled campaign into a draft again. */
  unschedule: (id: string, options?: CallOptions) =>
    dataOf(send('POST /campaigns/{id}/unschedule', { path: { id } }, options)),
  /** Ends it for good. */
  cancel: (id: string, options?: CallOptions) =>
    dataOf(send('POST /campaigns/{id}/cancel', { path: { id } }, options)),
  /** Its numbers. */
  stats: (id: string, options?: CallOptions) =>
    dataOf(send('GET /campaigns/{id}/stats', { path: { id } }, options)),
  /** Clicks by link. */
  links: (id: string, options?: CallOptions) =>
    dataOf(send('GET /campaigns/{id}/links', { path: { id } }, options)),
  /** Its frozen audience. */
  recipients: (id: string, query?: Query<'GET /campaigns/{id}/recipients'>, options?: CallOptions) =>
    listOf(send, 'GET /campaigns/{id}/recipients', { path: { id }, query }, options),
  /** The message that a contact would get. */
  preview: (id: string, query?: Query<'GET /campaigns/{id}/preview'>, options?: CallOptions) =>
    dataOf(send('GET /campaigns/{id}/preview', { path: { id }, query }, options)),
  /** Finds mistakes in it before it is sent. */
  check: (id: string, query?: Query<'GET /campaigns/{id}/check'>, options?: CallOptions) =>
    dataOf(send('GET /campaigns/{id}/check', { path: { id }, query }, options)),
  /** Sends it to up to five addresses. */
  testSend: (id: string, body: Body<'POST /campaigns/{id}/test-send'>, options?: CallOptions) =>
    dataOf(send('POST /campaigns/{id}/test-send', { path: { id }, body }, options)),
});

/** Flows and their runs. */
export const flows = (send: Send) => ({
  /** Creates a draft. */
  create: (body: Body<'POST /flows'>, options?: CallOptions) =>
    dataOf(send('POST /flows', { body }, options)),
  /** Newest first. */
  list: (query?: Query<'GET /flows'>, options?: CallOptions) =>
    listOf(send, 'GET /flows', { query }, options),
  /** One with its steps. */
  get: (id: string, options?: CallOptions) => dataOf(send('GET /flows/{id}', { path: { id } }, options)),
  /** Changes it; runs stay with their version. */
  update: (id: string, body: Body<'PATCH /flows/{id}'>, options?: CallOptions) =>
    dataOf(send('PATCH /flows/{id}', { path: { id }, body }, options)),
  /** Removes it. */
  delete: (id: string, query?: Query<'DELETE /flows/{id}'>, options?: CallOptions) =>
    dataOf(send('DELETE /flows/{id}', { path: { id }, query }, options)),
  /** Everything that is wrong with it, at once. */
  validate: (id: string, options?: CallOptions) =>
    dataOf(send('POST /flows/{id}/validate', { path: { id } }, options)),
  /** Starts it, or resumes what was held. */
  activate: (id: string, options?: CallOptions) =>
    dataOf(send('POST /flows/{id}/activate', { path: { id } }, options)),
  /** Stops it; `runs` says what becomes of those under way. */
  pause: (id: string, body: Body<'POST /flows/{id}/pause'> = {}, options?: CallOptions) =>
    dataOf(send('POST /flows/{id}/pause', { path: { id }, body }, options)),
  /** Simulates it for one contact in virtual time; nothing is sent. */
  simulate: (id: string, body: Body<'POST /flows/{id}/simulate'>, options?: CallOptions) =>
    dataOf(send('POST /flows/{id}/simulate', { path: { id }, body }, options)),
  /** Its published versions. */
  versions: (id: string, query?: Query<'GET /flows/{id}/versions'>, options?: CallOptions) =>
    listOf(send, 'GET /flows/{id}/versions', { path: { id }, query }, options),
  /** One version. */
  version: (id: string, version: number, options?: CallOptions) =>
    dataOf(send('GET /flows/{id}/versions/{version}', { path: { id, version } }, options)),
  /** Its runs, newest first. */
  runs: (id: string, query?: Query<'GET /flows/{id}/runs'>, options?: CallOptions) =>
    listOf(send, 'GET /flows/{id}/runs', { path: { id }, query }, options),
  /** Starts a run for a contact. */
  start: (id: string, body: Body<'POST /flows/{id}/runs'>, options?: CallOptions) =>
    dataOf(send('POST /flows/{id}/runs', { path: { id }, body }, options)),
  /** A run with its log. */
  getRun: (id: string, options?: CallOptions) =>
    dataOf(send('GET /flows/runs/{id}', { path: { id } }, options)),
  /** Ends a run. */
  cancelRun: (id: string, options?: CallOptions) =>
    dataOf(send('DELETE /flows/runs/{id}', { path: { id } }, options)),
  /** The secret of webhook steps, shown once. */
  rotateWebhookSecret: (options?: CallOptions) => dataOf(send('POST /flows/webhook-secret', {}, options)),
});
