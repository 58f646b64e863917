import { CONTACT_FIELDS, eachField } from '../../platform/text/contact-fields.ts';
import type { ActivityView } from './activity/activity.ts';
import type { ContactView } from './model.ts';

export const CONTACT: ContactView = {
  id: 'con_01m7xj1rwzprnwr10308attx',
  livemode: true,
  email: 'ada@example.com',
  ...eachField((name) => CONTACT_FIELDS[name].example),
  properties: { plan: 'pro', seats: 3, renewsOn: '2027-01-31' },
  status: 'subscribed',
  audienceIds: ['aud_01m7xj1rwzprnwr10308attx'],
  createdAt: '2026-11-20T22:43:19.079Z',
  updatedAt: '2026-11-21T08:12:00.000Z',
  unsubscribedAt: null,
  lastActivityAt: '2026-11-21T08:12:00.000Z',
};

/** An entry of its activity. */
export const ACTIVITY: ActivityView = {
  id: 'act_01m7xj1rwzprnwr10308attx',
  type: 'event',
  at: '2026-11-21T08:12:00.000Z',
  emailId: null,
  campaignId: null,
  audienceId: null,
  importId: null,
  flowId: null,
  runId: null,
  name: 'order.placed',
  byMachine: false,
  data: { total: 49.9 },
};

/** The answer to a custom event. */
export const CUSTOM_EVENT = {
  id: ACTIVITY.id,
  contactId: CONTACT.id,
  name: 'order.placed',
  occurredAt: ACTIVITY.at,
};
