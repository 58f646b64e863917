import { expect, test } from 'bun:test';
import { finishMessage } from '../../../src/mail/compose/finish.ts';
import { type CapturedMessage, CaptureTransport } from '../../../src/mail/transport/capture.ts';
import { aMessage } from './a-message.ts';

const LIMITS = { signal: new AbortController().signal, deadlineMs: 1_000 };

test('a captured message is what would have left, with its envelope', async () => {
  const kept: CapturedMessage[] = [];
  const transport = new CaptureTransport(async (captured) => void kept.push(captured));
  const message = aMessage({ recipients: ['a@receiver.example', 'b@receiver.example'] });
  const outcomes = await transport.send(message, LIMITS);
  expect(outcomes.map(({ recipient, outcome }) => `${recipient} ${outcome}`)).toEqual([
    'a@receiver.example accepted',
    'b@receiver.example accepted',
  ]);
  expect(kept).toEqual([
    {
      emailId: message.emailId,
      attempt: 1,
      returnPath: message.returnPath,
      recipients: message.recipients,
      raw: await finishMessage(message),
    },
  ]);
});

test('a captured message whose store fails has no outcome', async () => {
  const transport = new CaptureTransport(() => Promise.reject(new Error('no database')));
  expect(await transport.send(aMessage(), LIMITS).catch((error: Error) => error.message)).toBe('no database');
});

test('the doctor of the capture transport reports that nothing leaves', async () => {
  const [finding] = await new CaptureTransport(async () => {}).verify();
  expect(finding).toMatchObject({ ok: true, advice: expect.stringContaining('TRANSPORT') });
});
