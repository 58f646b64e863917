import { type Body, type CallOptions, dataOf, type Query, type Send } from './call.ts';
import { listOf } from './pages.ts';

/** Contacts, what they did, and imports of them. */
export const contacts = (send: Send) => ({
  /** Adds a contact; with `upsert` an existing one is changed. */
  create: (body: Body<'POST /contacts'>, query?: Query<'POST /contacts'>, options?: CallOptions) =>
    dataOf(send('POST /contacts', { body, query }, options)),
  /** Adds or changes many contacts in one call: check every item of the answer. */
  createBatch: (contacts: Body<'POST /contacts/batch'>['contacts'], options?: CallOptions) =>
    dataOf(send('POST /contacts/batch', { body: { contacts } }, options)),
  /** Newest first. */
  list: (query?: Query<'GET /contacts'>, options?: CallOptions) =>
    listOf(send, 'GET /contacts', { query }, options),
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
  export: (options?: CallOptions) => dataOf(send('GET /contacts/export', {}, options)),
  /** Starts an import of CSV. */
  import: (content: Blob | string, query?: Query<'POST /contacts/import'>, options?: CallOptions) =>
    dataOf(send('POST /contacts/import', { body: content, query }, options)),
  /** Imports, newest first. */
  imports: (query?: Query<'GET /contacts/imports'>, options?: CallOptions) =>
    listOf(send, 'GET /contacts/imports', { query }, options),
  /** The progress of an import. */
  getImport: (id: string, options?: CallOptions) =>
    dataOf(send('GET /contacts/imports/{id}', { path: { id } }, options)),
  /** The refused lines of an import as CSV. */
  importErrors: (id: string, options?: CallOptions) =>
    dataOf(send('GET /contacts/imports/{id}/errors', { path: { id } }, options)),
  /** Stops an import. */
  cancelImport: (id: string, options?: CallOptions) =>
    dataOf(send('POST /contacts/imports/{id}/cancel', { path: { id } }, options)),
});

/** Audiences. */
export const audiences = (send: Send) => ({
  /** Creates an audience. */
  create: (body: Body<'POST /audiences'>, options?: CallOptions) =>
    dataOf(send('POST /audiences', { body }, options)),
  /** Newest first. */
  list: (query?: Query<'GET /audiences'>, options?: CallOptions) =>
    listOf(send, 'GET /audiences', { query }, options),
  /** One with its size. */
  get: (id: string, options?: CallOptions) => dataOf(send('GET /audiences/{id}', { path: { id } }, options)),
  /** Changes it. */
  update: (id: string, body: Body<'PATCH /audiences/{id}'>, options?: CallOptions) =>
    dataOf(send('PATCH /audiences/{id}', { path: { id }, body }, options)),
  /** Removes it; its contacts stay. */
  delete: (id: string, options?: CallOptions) =>
    dataOf(send('DELETE /audiences/{id}', { path: { id } }, options)),
  /** The contacts that match a filter. */
  preview: (body: Body<'POST /audiences/preview'>, options?: CallOptions) =>
    dataOf(send('POST /audiences/preview', { body }, options)),
  /** The contacts of an audience. */
  contacts: (id: string, query?: Query<'GET /audiences/{id}/contacts'>, options?: CallOptions) =>
    listOf(send, 'GET /audiences/{id}/contacts', { path: { id }, query }, options),
  /** Adds contacts by id or address. */
  add: (id: string, body: Body<'POST /audiences/{id}/contacts'>, options?: CallOptions) =>
    dataOf(send('POST /audiences/{id}/contacts', { path: { id }, body }, options)),
  /** Takes a contact out. */
  remove: (id: string, contact: string, options?: CallOptions) =>
    dataOf(send('DELETE /audiences/{id}/contacts/{contact}', { path: { id, contact } }, options)),
});

/** Addresses that get no mail. */
export const suppressions = (send: Send) => ({
  /** Newest first. */
  list: (query?: Query<'GET /suppressions'>, options?: CallOptions) =>
    listOf(send, 'GET /suppressions', { query }, options),
  /** Adds an address. */
  create: (body: Body<'POST /suppressions'>, options?: CallOptions) =>
    dataOf(send('POST /suppressions', { body }, options)),
  /** Adds the addresses of a CSV. */
  import: (content: Blob | string, options?: CallOptions) =>
    dataOf(send('POST /suppressions/import', { body: content }, options)),
  /** All of them as CSV. */
  export: (options?: CallOptions) => dataOf(send('GET /suppressions/export', {}, options)),
  /** Lets an address get mail again. */
  delete: (address: string, options?: CallOptions) =>
    dataOf(send('DELETE /suppressions/{address}', { path: { address } }, options)),
});
