import { CONTACT_FIELDS, eachField } from '../../platform/text/contact-fields.ts';
import type { AddedView, AudienceView, PreviewView } from './model.ts';

export const AUDIENCE: AudienceView = {
  id: 'aud_01m7xj1rwzprnwr10308attx',
  livemode: true,
  name: 'News',
  description: 'What is new, once a month.',
  type: 'static',
  filter: null,
  public: true,
  confirm: false,
  contactCount: 1_204,
  createdAt: '2026-11-20T22:43:19.079Z',
  updatedAt: '2026-11-20T22:43:19.079Z',
};

/** The answer to those who were to be added. */
export const ADDED: AddedView = { added: 1, alreadyIn: 0, notFound: ['nobody@example.com'] };

/** The contacts that a filter matches. */
export const PREVIEW: PreviewView = {
  count: 1,
  isExact: true,
  sample: [
    {
      id: 'con_01m7xj1rwzprnwr10308attx',
      livemode: true,
      email: 'ada@example.com',
      ...eachField((name) => CONTACT_FIELDS[name].example),
      properties: { plan: 'pro' },
      status: 'subscribed',
      audienceIds: ['aud_01m7xj1rwzprnwr10308attx'],
      createdAt: '2026-11-20T22:43:19.079Z',
      updatedAt: '2026-11-20T22:43:19.079Z',
      unsubscribedAt: null,
      lastActivityAt: null,
    },
  ],
};
