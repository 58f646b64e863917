import { expect, test } from 'bun:test';
import { leanContext } from '../../../src/engine/store/statements/lean-context.ts';
import { storedEnvelope, wholeEnvelope } from '../../../src/sending/emails/accept/message.ts';
import { emailKind } from '../../../src/sending/emails/kind.ts';

const { history } = emailKind;
if (!history) throw new Error('The history of emails is appended.');
const RECIPIENTS = [{ status: 'pending' }];
const BORN = {
  at: 5,
  livemode: false,
  scheduledAt: 9,
  attempt: 1,
  begunBy: 'me',
  recipients: RECIPIENTS,
  lastEvent: null,
  failureReason: null,
  sentAt: null,
  deliveredAt: null,
};

const actor = (revision: number, context: object) =>
  ({ revision, snapshot: { value: 'sent', context, status: 'active' } }) as never;
/** As it is stored: JSON leaves out what is undefined. */
const asJson = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value));
const lean = (after: never, before: never | null = null) => asJson(leanContext(history, { before, after }));

test('an insert keeps what no column of it has', () => {
  expect(lean(actor(1, BORN))).toEqual({
    livemode: false,
    attempt: 1,
    begunBy: 'me',
    recipients: RECIPIENTS,
  });
  expect(lean(actor(1, { ...BORN, begunBy: null, firstAttemptAt: null }))).toEqual({
    livemode: false,
    attempt: 1,
    recipients: RECIPIENTS,
  });
  // Its table has no column of the last event: only null can be told without one.
  expect(lean(actor(1, { ...BORN, lastEvent: 'bounced' }))).toMatchObject({ lastEvent: 'bounced' });
});

test('the turn after the insert keeps what differs from it, a later one all that may change', () => {
  const after = { ...BORN, at: 7, begunBy: null, lastEvent: 'sent', sentAt: 7 };
  expect(lean(actor(2, after), actor(1, BORN))).toEqual({ begunBy: null });
  expect(lean(actor(2, { ...after, recipients: [...RECIPIENTS] }), actor(1, BORN))).toEqual({
    begunBy: null,
    recipients: RECIPIENTS,
  });
  expect(lean(actor(3, after), actor(2, after))).toEqual({
    attempt: 1,
    begunBy: null,
    recipients: RECIPIENTS,
  });
});

test('a turn that was decided on a row that is not at hand has whatever can change', () => {
  expect(lean(actor(2, BORN))).toEqual({ attempt: 1, begunBy: 'me', recipients: RECIPIENTS });
});

test('what a column would cut off stays in the context', () => {
  expect(lean(actor(3, { at: 5.5, sentAt: Number.MAX_SAFE_INTEGER + 1, lastEvent: 7 }))).toEqual({
    at: 5.5,
    sentAt: Number.MAX_SAFE_INTEGER + 1,
    lastEvent: 7,
  });
});

test('an envelope is stored without what can be told, and read whole', () => {
  const envelope = {
    from: { name: 'Acme', address: 'a@acme.example' },
    to: [
      { name: null, address: 'b@x.example' },
      { name: 'C', address: 'c@x.example' },
    ],
    cc: [],
    bcc: [],
    replyTo: [{ name: null, address: 'r@acme.example' }],
    headers: [],
    tags: [],
    attachments: [],
    trackOpens: null,
    trackClicks: false,
    messageId: '<em_1@acme.example>',
    size: 7,
  };
  const stored = asJson(storedEnvelope('em_1', envelope));
  expect(stored).toEqual({
    from: { name: 'Acme', address: 'a@acme.example' },
    to: [{ address: 'b@x.example' }, { name: 'C', address: 'c@x.example' }],
    replyTo: [{ address: 'r@acme.example' }],
    trackClicks: false,
    size: 7,
  });
  expect(wholeEnvelope('em_1', stored)).toEqual(envelope);
  // Older rows store all of it.
  expect(wholeEnvelope('em_1', envelope)).toEqual(envelope);
});

test('a Message-ID that the address does not say is stored', () => {
  const envelope = {
    from: { name: null, address: 'a@bücher.example' },
    to: [],
    cc: [],
    bcc: [],
    replyTo: [],
    headers: [],
    tags: [],
    attachments: [],
    trackOpens: null,
    trackClicks: null,
    messageId: '<em_1@xn--bcher-kva.example>',
    size: 7,
  };
  const stored = asJson(storedEnvelope('em_1', envelope));
  expect(stored.messageId).toBe(envelope.messageId);
  expect(wholeEnvelope('em_1', stored)).toEqual(envelope);
});
