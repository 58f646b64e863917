import { type Body, type CallOptions, dataOf, type Query } from './call.ts';
import type { Methods } from './methods.ts';

/** Sending domains. */
export const domains = ({ withBody, list, byId, byIdWithBody }: Methods) => ({
  /** Adds a domain; the answer has the DNS records to set. */
  create: withBody('POST /domains'),
  /** Newest first. */
  list: list('GET /domains'),
  /** One with its DNS records. */
  get: byId('GET /domains/{id}'),
  /** Changes tracking or the transport. */
  update: byIdWithBody('PATCH /domains/{id}'),
  /** Removes it. */
  delete: byId('DELETE /domains/{id}'),
  /** Checks the DNS records now. */
  verify: byId('POST /domains/{id}/verify'),
  /** Creates new DKIM keys. */
  rotateDkim: byId('POST /domains/{id}/rotate-dkim'),
});

/** Templates and their versions. */
export const templates = ({
  withBody,
  list,
  byId,
  byIdWithQuery,
  byIdWithBody,
  listById,
  send,
}: Methods) => ({
  /** Creates a template. */
  create: withBody('POST /templates'),
  /** Newest first, without bodies. */
  list: list('GET /templates'),
  /** One by its id or alias. */
  get: byId('GET /templates/{id}'),
  /** Changes a template; new content creates a version. */
  update: byIdWithBody('PATCH /templates/{id}'),
  /** Removes it. */
  delete: byId('DELETE /templates/{id}'),
  /** Its versions, newest first. */
  versions: listById('GET /templates/{id}/versions'),
  /** One version. */
  version: (id: string, version: number, options?: CallOptions) =>
    dataOf(send('GET /templates/{id}/versions/{version}', { path: { id, version } }, options)),
  /** Publishes a draft version. */
  publish: byIdWithBody('POST /templates/{id}/publish'),
  /** Creates a new version from an earlier one. */
  restore: byIdWithBody('POST /templates/{id}/restore'),
  /**
   * Gives everything that uses a layout or partial its published version, or with `dryRun` tells what would
   * change.
   */
  updateUsers: (id: string, body: Body<'POST /templates/{id}/update-users'> = {}, options?: CallOptions) =>
    dataOf(send('POST /templates/{id}/update-users', { path: { id }, body }, options)),
  /** Renders without sending. */
  preview: withBody('POST /templates/render-preview'),
  /** Finds mistakes in one before it is sent. */
  check: byIdWithQuery('GET /templates/{id}/check'),
  /** Sends it to members or to addresses at verified domains. */
  testSend: byIdWithBody('POST /templates/{id}/test-send'),
});

/** Images of emails. */
export const assets = ({ list, byId, byIdWithQuery, send }: Methods) => ({
  /** Uploads an image; the answer has its address for `src`. The same content is the same image. */
  create: (image: Blob, query?: Query<'POST /assets'>, options?: CallOptions) =>
    dataOf(send('POST /assets', { body: image, query }, options)),
  /** Newest first. */
  list: list('GET /assets'),
  /** One. */
  get: byId('GET /assets/{id}'),
  /** Deletes it, unless something shows it. */
  delete: byIdWithQuery('DELETE /assets/{id}'),
});
