import { expect, test } from 'bun:test';
import { type ReceivedMail, unreadMail } from '../../../src/mail/received/received-mail.ts';
import { LARGEST_SUMMARY, summaryOf } from '../../../src/sending/received/summary.ts';

const mail = (more: Partial<ReceivedMail>): ReceivedMail => ({
  ...unreadMail(Buffer.from('')),
  ...more,
});
const boxes = (name: string, address: string) => Array.from({ length: 100 }, () => ({ name, address }));

test('a usual summary is kept as it is', () => {
  const { whole, kept, isCut } = summaryOf(
    mail({ subject: 'Hello', to: [{ name: null, address: 'a@b.example' }] }),
  );
  expect(isCut).toBe(false);
  expect(kept).toEqual(whole);
});

test.each([
  ['N', 'a@b.example', 'S'],
  ['\\', 'ä'.repeat(310), '"'],
  ['語', `${'a'.repeat(300)}@b.example`, '語'],
  ['"', '"'.repeat(320), '😀'],
])('a large one of %p has at most 8 KiB and the first addresses', (name, address, subject) => {
  const lists = boxes(name.repeat(250), address);
  const { whole, kept, isCut } = summaryOf(
    mail({
      from: lists[0] ?? null,
      to: lists,
      cc: lists,
      replyTo: lists,
      subject: subject.repeat(990 / subject.length),
      messageId: `<${'é'.repeat(996)}>`,
      inReplyTo: `<${'é'.repeat(996)}>`,
    }),
  );
  expect(isCut).toBe(true);
  expect(Buffer.byteLength(JSON.stringify(kept))).toBeLessThanOrEqual(LARGEST_SUMMARY);
  expect([whole.to.length, whole.cc.length, whole.replyTo.length]).toEqual([100, 100, 100]);
  expect(whole.replyTo.slice(0, kept.replyTo.length)).toEqual([...kept.replyTo]);
});
