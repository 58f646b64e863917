import { type Body, type CallOptions, dataOf } from './call.ts';
import type { Methods } from './methods.ts';

/** Campaigns. */
export const campaigns = ({
  withBody,
  list,
  byId,
  byIdWithQuery,
  byIdWithBody,
  listById,
  send,
}: Methods) => ({
  /** Creates a draft. */
  create: withBody('POST /campaigns'),
  /** Newest first. */
  list: list('GET /campaigns'),
  /** One with its content. */
  get: byId('GET /campaigns/{id}'),
  /** Changes a draft. */
  update: byIdWithBody('PATCH /campaigns/{id}'),
  /** Removes it. */
  delete: byId('DELETE /campaigns/{id}'),
  /** Creates a draft with the same content. */
  duplicate: byId('POST /campaigns/{id}/duplicate'),
  /** Starts, schedules or resumes it. */
  send: (id: string, body: Body<'POST /campaigns/{id}/send'> = {}, options?: CallOptions) =>
    dataOf(send('POST /campaigns/{id}/send', { path: { id }, body }, options)),
  /** Pauses it: no further email starts. */
  pause: byId('POST /campaigns/{id}/pause'),
  /** Turns a scheduled campaign into a draft again. */
  unschedule: byId('POST /campaigns/{id}/unschedule'),
  /** Ends it for good. */
  cancel: byId('POST /campaigns/{id}/cancel'),
  /** Its numbers. */
  stats: byId('GET /campaigns/{id}/stats'),
  /** Clicks by link. */
  links: byId('GET /campaigns/{id}/links'),
  /** Its frozen audience. */
  recipients: listById('GET /campaigns/{id}/recipients'),
  /** The message that a contact would get. */
  preview: byIdWithQuery('GET /campaigns/{id}/preview'),
  /** Finds mistakes in it before it is sent. */
  check: byIdWithQuery('GET /campaigns/{id}/check'),
  /** Sends it to up to five addresses. */
  testSend: byIdWithBody('POST /campaigns/{id}/test-send'),
});

/** Flows and their runs. */
export const flows = ({
  plain,
  withBody,
  list,
  byId,
  byIdWithQuery,
  byIdWithBody,
  listById,
  send,
}: Methods) => ({
  /** Creates a draft. */
  create: withBody('POST /flows'),
  /** Newest first. */
  list: list('GET /flows'),
  /** One with its steps. */
  get: byId('GET /flows/{id}'),
  /** Changes it; runs stay with their version. */
  update: byIdWithBody('PATCH /flows/{id}'),
  /** Removes it. */
  delete: byIdWithQuery('DELETE /flows/{id}'),
  /** Everything that is wrong with it, at once. */
  validate: byId('POST /flows/{id}/validate'),
  /** Starts it, or resumes what was held. */
  activate: byId('POST /flows/{id}/activate'),
  /** Stops it; `runs` says what becomes of those under way. */
  pause: (id: string, body: Body<'POST /flows/{id}/pause'> = {}, options?: CallOptions) =>
    dataOf(send('POST /flows/{id}/pause', { path: { id }, body }, options)),
  /** Simulates it for one contact in virtual time; nothing is sent. */
  simulate: byIdWithBody('POST /flows/{id}/simulate'),
  /** Its published versions. */
  versions: listById('GET /flows/{id}/versions'),
  /** One version. */
  version: (id: string, version: number, options?: CallOptions) =>
    dataOf(send('GET /flows/{id}/versions/{version}', { path: { id, version } }, options)),
  /** Its runs, newest first. */
  runs: listById('GET /flows/{id}/runs'),
  /** Starts a run for a contact. */
  start: byIdWithBody('POST /flows/{id}/runs'),
  /** A run with its log. */
  getRun: byId('GET /flows/runs/{id}'),
  /** Ends a run. */
  cancelRun: byId('DELETE /flows/runs/{id}'),
  /** The secret of webhook steps, shown once. */
  rotateWebhookSecret: plain('POST /flows/webhook-secret'),
});
