import { expect, test } from 'bun:test';
import { inputRow } from '../../../src/engine/draft.ts';
import { emailKind } from '../../../src/modules/emails/kind.ts';

const RECIPIENTS = [{ status: 'pending' }];
const BIRTH = {
  ...{
    at: 5,
    livemode: false,
    acceptedAt: 5,
    scheduledAt: null,
    attempt: 1,
    begunBy: 'me',
    recipients: RECIPIENTS,
  },
  ...{ lastEvent: null, failureReason: null, sentAt: null, deliveredAt: null },
};

const actor = (revision: number, context: object) => ({
  ...{ id: 'em_1', workspaceId: 'ws', livemode: false, timers: {}, revision },
  snapshot: { value: 'sent', status: 'active' as const, context },
});

const contextOf = (revision: number, after: object, before: object | null) =>
  inputRow(emailKind, {
    before: before && actor(revision - 1, before),
    after: actor(revision, after),
    ...{ steps: [], effects: [], outbox: [], claim: null },
  }).context as object;

test('a birth has all of its context', () => {
  expect(contextOf(1, BIRTH, null)).toEqual(BIRTH);
});

test('the turn after the birth has what has changed, and lies upon the birth', () => {
  const after = { ...BIRTH, at: 7, begunBy: null, lastEvent: 'sent', sentAt: 7, recipients: [...RECIPIENTS] };
  const stored = contextOf(2, after, BIRTH);
  expect(stored).toEqual({ at: 7, begunBy: null, lastEvent: 'sent', sentAt: 7, recipients: RECIPIENTS });
  expect({ ...BIRTH, ...stored } as object).toEqual(after);
});

test('a later turn has whatever can change, also what is as in the turn before, or in the birth again', () => {
  const { livemode: _, acceptedAt: __, ...changing } = BIRTH;
  expect(contextOf(3, BIRTH, { ...BIRTH, begunBy: null })).toEqual(changing);
});

test('a turn that was decided on a row that is not at hand has whatever can change', () => {
  const { livemode: _, acceptedAt: __, ...changing } = BIRTH;
  expect(contextOf(2, BIRTH, null)).toEqual(changing);
});
