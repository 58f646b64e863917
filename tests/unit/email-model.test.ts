import { expect, test } from 'bun:test';
import { emailMachine } from '../../machines/email.ts';
import { EmailStatus } from '../../src/modules/emails/answer-model.ts';

test('the statuses of the interface are the states in which an email can rest', () => {
  const resting = Object.entries(emailMachine.config.states ?? {})
    .filter(([, { always }]) => always === undefined)
    .map(([name]) => name);
  expect(EmailStatus.anyOf.map((literal) => String(literal.const)).sort()).toEqual(resting.sort());
});
