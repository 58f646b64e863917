import { type Body, type CallOptions, dataOf, type Query, type Send } from './call.ts';
import { listOf } from './pages.ts';

/** Sending domains. */
export const domains = (send: Send) => ({
  /** Adds a domain; the answer has the DNS records to set. */
  create: (body: Body<'POST /domains'>, options?: CallOptions) =>
    dataOf(send('POST /domains', { body }, options)),
  /** Newest first. */
  list: (query?: Query<'GET /domains'>, options?: CallOptions) =>
    listOf(send, 'GET /domains', { query }, options),
  /** One with its DNS records. */
  get: (id: string, options?: CallOptions) => dataOf(send('GET /domains/{id}', { path: { id } }, options)),
  /** Changes tracking or the transport. */
  update: (id: string, body: Body<'PATCH /domains/{id}'>, options?: CallOptions) =>
    dataOf(send('PATCH /domains/{id}', { path: { id }, body }, options)),
  /** Removes it. */
  delete: (id: string, options?: CallOptions) =>
    dataOf(send('DELETE /domains/{id}', { path: { id } }, options)),
  /** Checks the DNS records now. */
  verify: (id: string, options?: CallOptions) =>
    dataOf(send('POST /domains/{id}/verify', { path: { id } }, options)),
  /** Creates new DKIM keys. */
  rotateDkim: (id: string, options?: CallOptions) =>
    dataOf(send('POST /domains/{id}/rotate-dkim', { path: { id } }, options)),
});

/** Templates and their versions. */
export const templates = (send: Send) => ({
  /** Creates a template. */
  create: (body: Body<'POST /templates'>, options?: CallOptions) =>
    dataOf(send('POST /templates', { body }, options)),
  /** Newest first, without bodies. */
  list: (query?: Query<'GET /templates'>, options?: CallOptions) =>
    listOf(send, 'GET /templates', { query }, options),
  /** One by its id or alias. */
  get: (id: string, options?: CallOptions) => dataOf(send('GET /templates/{id}', { path: { id } }, options)),
  /** Changes a template; new content creates a version. */
  update: (id: string, body: Body<'PATCH /templates/{id}'>, options?: CallOptions) =>
    dataOf(send('PATCH /templates/{id}', { path: { id }, body }, options)),
  /** Removes it. */
  delete: (id: string, options?: CallOptions) =>
    dataOf(send('DELETE /templates/{id}', { path: { id } }, options)),
  /** Its versions, newest first. */
  versions: (id: string, query?: Query<'GET /templates/{id}/versions'>, options?: CallOptions) =>
    listOf(send, 'GET /templates/{id}/versions', { path: { id }, query }, options),
  /** One version. */
  version: (id: string, version: number, options?: CallOptions) =>
    dataOf(send('GET /templates/{id}/versions/{version}', { path: { id, version } }, options)),
  /** Publishes a draft version. */
  publish: (id: string, body: Body<'POST /templates/{id}/publish'>, options?: CallOptions) =>
    dataOf(send('POST /templates/{id}/publish', { path: { id }, body }, options)),
  /** Creates a new version from an earlier one. */
  restore: (id: string, body: Body<'POST /templates/{id}/restore'>, options?: CallOptions) =>
    dataOf(send('POST /templates/{id}/restore', { path: { id }, body }, options)),
  /**
   * Gives everything that uses a layout or partial its published version, or with `dryRun` tells what would
   * change.
   */
  updateUsers: (id: string, body: Body<'POST /templates/{id}/update-users'> = {}, options?: CallOptions) =>
    dataOf(send('POST /templates/{id}/update-users', { path: { id }, body }, options)),
  /** Renders without sending. */
  preview: (body: Body<'POST /templates/render-preview'>, options?: CallOptions) =>
    dataOf(send('POST /templates/render-preview', { body }, options)),
  /** Finds mistakes in one before it is sent. */
  check: (id: string, query?: Query<'GET /templates/{id}/check'>, options?: CallOptions) =>
    dataOf(send('GET /templates/{id}/check', { path: { id }, query }, options)),
  /** Sends it to members or to addresses at verified domains. */
  testSend: (id: string, body: Body<'POST /templates/{id}/test-send'>, options?: CallOptions) =>
    dataOf(send('POST /templates/{id}/test-send', { path: { id }, body }, options)),
});

/** Images of emails. */
export const assets = (send: Send) => ({
  /** Uploads an image; the answer has its address for `src`. The same content is the same image. */
  create: (image: Blob, query?: Query<'POST /assets'>, options?: CallOptions) =>
    dataOf(send('POST /assets', { body: image, query }, options)),
  /** Newest first. */
  list: (query?: Query<'GET /assets'>, options?: CallOptions) =>
    listOf(send, 'GET /assets', { query }, options),
  /** One. */
  get: (id: string, options?: CallOptions) => dataOf(send('GET /assets/{id}', { path: { id } }, options)),
  /** Deletes it, unless something shows it. */
  delete: (id: string, query?: Query<'DELETE /assets/{id}'>, options?: CallOptions) =>
    dataOf(send('DELETE /assets/{id}', { path: { id }, query }, options)),
});
