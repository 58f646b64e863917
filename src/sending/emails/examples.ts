import type { SendBody } from './accept/request-model.ts';
import type { EmailDetail, EmailItem, EmailReceipt, Explanation } from './read/answer-model.ts';
import type { EmailEvent } from './read/event-model.ts';
import type { AwaitedEmail } from './wait/wait-model.ts';

// The examples of the documentation: a send that every test key can repeat, and its outcome. A contract test
// repeats it.

const ID = 'em_01m7xj1rwzprnwr10308attx';
const RECIPIENT = 'delivered@simulator.svc.test';
const TAGS = [{ name: 'order', value: '1842' }];
const AT = '2026-11-20T22:43:19.079Z';

/** The request. */
export const SEND_BODY: SendBody = {
  from: 'Acme <hello@acme.example>',
  to: RECIPIENT,
  subject: 'Your order is on its way',
  text: 'It left our warehouse this morning.',
  tags: TAGS,
};

/** The reply to it. */
export const RECEIPT: EmailReceipt = {
  id: ID,
  livemode: false,
  status: 'sending',
  scheduledAt: null,
  createdAt: '2026-11-20T22:43:19.071Z',
};

/** The reply when the email is scheduled. */
export const SCHEDULED: EmailReceipt = {
  ...RECEIPT,
  status: 'scheduled',
  scheduledAt: '2026-11-21T09:30:00.000Z',
};

/** Its events, oldest first. */
export const EVENTS: EmailEvent[] = [
  {
    id: 'evt_01m7xj1rx757g9bp0f4tggst',
    type: 'sent',
    emailId: ID,
    recipient: RECIPIENT,
    occurredAt: AT,
    data: {
      provider: 'simulator',
      messageId: `<${ID}@simulator>`,
      response: '250 2.0.0 Accepted by the simulator',
    },
    livemode: false,
  },
  {
    id: 'evt_01m7xj1rx7me7qmq3kx8akmz',
    type: 'delivered',
    emailId: ID,
    recipient: RECIPIENT,
    occurredAt: AT,
    data: { remoteMta: 'mx.simulator.svc.test', response: '250 2.0.0 Accepted by the simulator' },
    livemode: false,
  },
];

/** The email in a list, after those events. */
export const ITEM: EmailItem = {
  id: ID,
  livemode: false,
  from: 'Acme <hello@acme.example>',
  to: [RECIPIENT],
  cc: [],
  bcc: [],
  replyTo: [],
  subject: 'Your order is on its way',
  tags: TAGS,
  status: 'delivered',
  lastEvent: 'delivered',
  failureReason: null,
  messageId: `<${ID}@acme.example>`,
  domainId: null,
  templateId: null,
  campaignId: null,
  language: null,
  scheduledAt: null,
  createdAt: '2026-11-20T22:43:19.071Z',
  sentAt: AT,
  deliveredAt: AT,
};

/** The email with its content, recipients and events. */
export const DETAIL: EmailDetail = {
  ...ITEM,
  text: 'It left our warehouse this morning.',
  html: null,
  markdown: null,
  templateVersion: null,
  variables: null,
  testClockId: null,
  headers: {},
  attachments: [],
  calendar: null,
  recipients: [{ address: RECIPIENT, kind: 'to', status: 'delivered', lastEvent: 'delivered' }],
  events: EVENTS,
};

/** The explanation of its state. */
export const EXPLANATION: Explanation = {
  id: ID,
  status: 'delivered',
  summary: 'Delivered to its recipient with one attempt.',
  rule: 'Opens, clicks and complaints are recorded without changing the state.',
  evidence: [
    { at: '2026-11-20T22:43:19.071Z', text: 'Accepted, and at once sending.' },
    { at: AT, text: 'Attempt 1 ended; the email is sent.' },
    { at: AT, text: 'sent, delivered@simulator.svc.test: 250 2.0.0 Accepted by the simulator' },
    { at: AT, text: 'A report came in; the email is delivered.' },
    { at: AT, text: 'delivered, delivered@simulator.svc.test: 250 2.0.0 Accepted by the simulator' },
  ],
  next: { text: 'Nothing more happens by itself.', at: null },
};

/** An email that was waited for. */
export const AWAITED: AwaitedEmail = {
  ...DETAIL,
  subject: 'Your code is 481 516',
  text: 'Type in 481 516, or open https://acme.example/confirm?t=3vbqk0.',
  html: null,
  links: ['https://acme.example/confirm?t=3vbqk0'],
  codes: ['481516'],
};
