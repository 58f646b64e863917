import { type Body, type CallOptions, dataOf, type Query } from './call.ts';
import type { Methods } from './methods.ts';
import { listOf } from './pages.ts';

/** Contacts, what they did, and imports of them. */
export const contacts = ({ plain, list, byId, send }: Methods) => ({
  /** Adds a contact; with `upsert` an existing one is changed. */
  create: (body: Body<'POST /contacts'>, query?: Query<'POST /contacts'>, options?: CallOptions) =>
    dataOf(send('POST /contacts', { body, query }, options)),
  /** Adds or changes many contacts in one call: check every item of the answer. */
  createBatch: (contacts: Body<'POST /contacts/batch'>['contacts'], options?: CallOptions) =>
    dataOf(send('POST /contacts/batch', { body: { contacts } }, options)),
  /** Newest first. */
  list: list('GET /contacts'),
  /** One by its id or address. */
  get: (contact: string, options?: CallOptions) =>
    dataOf(send('GET /contacts/{contact}', { path: { contact } }, options)),
  /** Changes one. */
  update: (contact: string, body: Body<'PATCH /contacts/{contact}'>, options?: CallOptions) =>
    dataOf(send('PATCH /contacts/{contact}', { path: { contact }, body }, options)),
  /** Removes one and forgets the person. */
  delete: (contact: string, options?: CallOptions) =>
    dataOf(send('DELETE /contacts/{contact}', { path: { contact } }, options)),
  /** The timeline of a contact. */
  activity: (contact: string, query?: Query<'GET /contacts/{contact}/activity'>, options?: CallOptions) =>
    listOf(send, 'GET /contacts/{contact}/activity', { path: { contact }, query }, options),
  /** Tells something that the person did, for flows and filters. */
  track: (contact: string, body: Body<'POST /contacts/{contact}/events'>, options?: CallOptions) =>
    dataOf(send('POST /contacts/{contact}/events', { path: { contact }, body }, options)),
  /** All contacts as CSV. */
  export: plain('GET /contacts/export'),
  /** Starts an import of CSV. */
  import: (content: Blob | string, query?: Query<'POST /contacts/import'>, options?: CallOptions) =>
    dataOf(send('POST /contacts/import', { body: content, query }, options)),
  /** Imports, newest first. */
  imports: list('GET /contacts/imports'),
  /** The progress of an import. */
  getImport: byId('GET /contacts/imports/{id}'),
  /** The refused lines of an import as CSV. */
  importErrors: byId('GET /contacts/imports/{id}/errors'),
  /** Stops an import. */
  cancelImport: byId('POST /contacts/imports/{id}/cancel'),
});

/** Audiences. */
export const audiences = ({ withBody, list, byId, byIdWithBody, listById, send }: Methods) => ({
  /** Creates an audience. */
  create: withBody('POST /audiences'),
  /** Newest first. */
  list: list('GET /audiences'),
  /** One with its size. */
  get: byId('GET /audiences/{id}'),
  /** Changes it. */
  update: byIdWithBody('PATCH /audiences/{id}'),
  /** Removes it; its contacts stay. */
  delete: byId('DELETE /audiences/{id}'),
  /** The contacts that match a filter. */
  preview: withBody('POST /audiences/preview'),
  /** The contacts of an audience. */
  contacts: listById('GET /audiences/{id}/contacts'),
  /** Adds contacts by id or address. */
  add: byIdWithBody('POST /audiences/{id}/contacts'),
  /** Takes a contact out. */
  remove: (id: string, contact: string, options?: CallOptions) =>
    dataOf(send('DELETE /audiences/{id}/contacts/{contact}', { path: { id, contact } }, options)),
});

/** Addresses that get no mail. */
export const suppressions = ({ plain, withBody, list, send }: Methods) => ({
  /** Newest first. */
  list: list('GET /suppressions'),
  /** Adds an address. */
  create: withBody('POST /suppressions'),
  /** Adds the addresses of a CSV. */
  import: (content: Blob | string, options?: CallOptions) =>
    dataOf(send('POST /suppressions/import', { body: content }, options)),
  /** All of them as CSV. */
  export: plain('GET /suppressions/export'),
  /** Lets an address get mail again. */
  delete: (address: string, options?: CallOptions) =>
    dataOf(send('DELETE /suppressions/{address}', { path: { address } }, options)),
});
