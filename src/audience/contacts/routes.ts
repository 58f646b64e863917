import { Type } from '@sinclair/typebox';
import { withCount } from '../../http/lists/count.ts';
import { filtersOf } from '../../http/lists/list-csv.ts';
import { type Call, type Route, route } from '../../http/request/route.ts';
import { Activity, ActivityQuery, listActivity } from './activity/activity.ts';
import {
  CustomEvent,
  type EventCommands,
  MOST_EVENTS_A_SECOND,
  NewCustomEvent,
  recordCustomEvent,
} from './activity/custom-events.ts';
import { type BatchCommands, writeContactBatch } from './batch.ts';
import { type ChangeDeps, patchContact } from './change.ts';
import { createContact } from './commands.ts';
import { ACTIVITY, CONTACT, CUSTOM_EVENT } from './examples.ts';
import { FIELD_COLUMNS } from './field-columns.ts';
import { type ForgetDeps, forgetContact } from './forgetting/forget.ts';
import { exportContacts } from './lists/export.ts';
import { KnownProperty, knownProperties, LOOKED_THROUGH, MOST_KNOWN } from './lists/known-properties.ts';
import { type ContactFilter, type ContactLister, countContacts, listContacts } from './lists/list.ts';
import {
  Contact,
  ContactBatch,
  ContactBatchItem,
  ContactQuery,
  NewContact,
  PatchContact,
  UpsertQuery,
} from './model.ts';
import { contactDetail } from './queries.ts';

/** The services that the endpoints of contacts call. */
export interface ContactDeps extends ForgetDeps, ChangeDeps, ContactLister, EventCommands, BatchCommands {}

const CONTACT_PARAM = {
  text: 'The id of the contact, or its address with the @ written as %40 or as it is.',
};

export const contactRoutes = (deps: ContactDeps): readonly Route[] => [
  route('POST /v1/contacts', {
    name: 'createContact',
    headers: ['x-svc-test-clock'],
    permission: 'contacts:write',
    summary: 'Add a contact',
    description:
      'An address is unique per environment, ignoring case. A person who has unsubscribed, bounced or complained before begins with that status, also after being forgotten: adding a contact is no consent.',
    query: UpsertQuery,
    body: NewContact,
    response: Contact,
    status: 201,
    otherwise: 200,
    failures: ['FORBIDDEN', 'CONFLICT', 'NOT_FOUND'],
    example: {
      body: { email: 'ada@example.com', firstName: 'Ada', properties: { plan: 'pro', seats: 3 } },
      response: CONTACT,
    },
    handle: (call) => createContact(deps, call),
  }),
  ...withCount(
    { name: 'countContacts', summary: 'Count contacts' },
    (call: Call<unknown, ContactFilter>) => countContacts(deps, call),
    [
      route('GET /v1/contacts', {
        name: 'listContacts',
        permission: 'contacts:read',
        summary: 'List and search contacts',
        description:
          'Newest first. With a filter that matches few contacts, a page may have fewer than `limit` although more follow.',
        query: ContactQuery,
        response: Type.Array(Contact),
        example: { response: [CONTACT] },
        handle: (call) => listContacts(deps, call),
      }),
    ],
  ),
  route('POST /v1/contacts/batch', {
    name: 'createContactBatch',
    headers: ['x-svc-test-clock'],
    permission: 'contacts:write',
    summary: 'Add and merge up to a thousand contacts',
    description: 'Every contact has its own result; an invalid one does not stop the others.',
    body: ContactBatch,
    response: Type.Array(ContactBatchItem),
    example: {
      body: { contacts: [{ email: 'ada@example.com', firstName: 'Ada' }] },
      response: [{ index: 0, id: CONTACT.id, created: true }],
    },
    handle: (call) => writeContactBatch(deps, call),
  }),
  route('GET /v1/contacts/export', {
    name: 'exportContacts',
    audit: { action: 'contacts.exported' },
    permission: 'contacts:read',
    summary: 'Download contacts as CSV',
    description:
      'All contacts, or those that the filters of the list leave. UTF-8 with a byte order mark and CRLF, newest first, one column for each property. `left_audiences` is a JSON object: the audiences that the person has left by themselves, each with the time. A cell that a spreadsheet would run as a formula begins with an apostrophe.',
    query: filtersOf(ContactQuery),
    response: Type.String({ description: 'The file.' }),
    responseType: 'text/csv',
    example: {
      response: `id,email,${FIELD_COLUMNS.join()},status,created_at,unsubscribed_at,properties\r\n`,
    },
    handle: (call) => exportContacts(deps, call),
  }),
  route('GET /v1/contacts/properties', {
    name: 'listContactProperties',
    permission: 'contacts:read',
    summary: 'List the properties that contacts have',
    description: `The names, types and most frequent values of the properties of the ${LOOKED_THROUGH.toLocaleString('en')} newest contacts: at most ${MOST_KNOWN} properties, the most frequent first. A filter may name others as well.`,
    response: Type.Array(KnownProperty),
    example: { response: [{ key: 'plan', types: ['string'], contacts: 640, values: ['pro', 'free'] }] },
    handle: (call) => knownProperties(deps, call),
  }),
  route('GET /v1/contacts/:contact', {
    name: 'getContact',
    permission: 'contacts:read',
    summary: 'Get a contact',
    description: 'By ID or address, with its properties, its consent and its audiences.',
    params: { contact: CONTACT_PARAM },
    response: Contact,
    example: { response: CONTACT },
    handle: (call) => contactDetail(deps, call),
  }),
  route('PATCH /v1/contacts/:contact', {
    name: 'updateContact',
    permission: 'contacts:write',
    summary: 'Change a contact',
    description:
      'Properties are merged; null removes one. `unsubscribed` suppresses the address for campaigns, flows and mail that offers a way to unsubscribe. A change back to `subscribed` needs `consent`, which also lifts a suppression for an unsubscription or a bounce; after a complaint it is refused.',
    params: { contact: CONTACT_PARAM },
    body: PatchContact,
    response: Contact,
    failures: ['CONFLICT'],
    example: { body: { properties: { plan: 'team', seats: null } }, response: CONTACT },
    handle: (call) => patchContact(deps, call),
  }),
  route('DELETE /v1/contacts/:contact', {
    name: 'deleteContact',
    audit: { action: 'contact.deleted' },
    permission: 'contacts:write',
    summary: 'Forget a contact',
    description:
      'Deletes the contact, its properties and its activity. Soon afterwards its address is replaced in the recipient lists of stored emails, for waiting emails after they are sent; the texts of emails stay. An address that had unsubscribed or bounced, or was suppressed, stays so by a keyed hash, also when it is added again. So it is for a complaint, a bounce or an unsubscription that comes later, as long as the email is stored; a person who had left audiences stays out of them without a later consent.',
    params: { contact: CONTACT_PARAM },
    handle: (call) => forgetContact(deps, call),
  }),
  route('GET /v1/contacts/:contact/activity', {
    name: 'listContactActivity',
    permission: 'contacts:read',
    summary: 'List what happened to a contact',
    description:
      'One timeline, newest first: emails with their opens and clicks, imports, audiences that the contact joined, left or was asked to confirm, custom events, runs of flows. Entries about emails are deleted with the emails, except unsubscriptions and complaints, and those about runs with the runs.',
    params: { contact: CONTACT_PARAM },
    query: ActivityQuery,
    response: Type.Array(Activity),
    example: { response: [ACTIVITY] },
    handle: (call) => listActivity(deps, call),
  }),
  route('POST /v1/contacts/:contact/events', {
    name: 'createCustomEvent',
    headers: ['x-svc-test-clock'],
    permission: 'contacts:write',
    summary: 'Record what a contact did elsewhere',
    description: `A custom event appears in the activity of the contact, can be used in filters, and wakes flows. An instance accepts ${MOST_EVENTS_A_SECOND} a second for one contact; more are refused with 429 RATE_LIMITED.`,
    params: { contact: CONTACT_PARAM },
    body: NewCustomEvent,
    response: CustomEvent,
    status: 202,
    example: { body: { name: 'order.placed', properties: { total: 49.9 } }, response: CUSTOM_EVENT },
    handle: (call) => recordCustomEvent(deps, call),
  }),
];
