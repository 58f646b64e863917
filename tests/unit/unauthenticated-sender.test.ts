import { expect, test } from 'bun:test';
import { bounceOf } from '../../src/mail/inbound/diagnosis.ts';
import { readReply, reasonOf } from '../../src/mail/transport/smtp/reply.ts';

const WORDS = 'Access denied, sending domain SENDER.EXAMPLE does not meet the required authentication level.';

test('the bounce of Outlook for a sender that is not authenticated is no fault of the recipient', () => {
  for (const reply of [`550 5.7.515 ${WORDS}`, `550; 5.7.515 ${WORDS} [S=1 P=2]`, `550-5.7.515 ${WORDS}`]) {
    const bounce = bounceOf({ status: '5.7.515', diagnostic: reply, remoteMta: null });
    expect([reply, bounce.permanent, bounce.suppresses]).toEqual([reply, true, false]);
    const { fault } = reasonOf('DOT', readReply(reply));
    expect([reply, fault === 'recipient']).toEqual([reply, false]);
  }
});
