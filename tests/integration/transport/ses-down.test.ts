import { afterAll, expect, test } from 'bun:test';
import { createServer } from 'node:net';
import { SesTransport } from '../../../src/mail/transport/ses/ses.ts';
import { freePort } from '../../../src/ops/torture/free-port.ts';
import { startSes } from '../../support/ses.ts';
import { aMessage } from '../../unit/transport/a-message.ts';

// Which errors of SES let another transport take a message: those after which it was surely not taken, and
// that are of the account.

const ses = startSes();
afterAll(() => ses.stop());

async function outcomeAt(endpoint: string) {
  const transport = new SesTransport({
    region: 'eu-west-1',
    accessKeyId: 'AK',
    secretAccessKey: 'SK',
    endpoint,
    configurationSet: null,
    topicArn: null,
    now: Date.now,
  });
  const limits = { signal: new AbortController().signal, deadlineMs: 30_000 };
  return (await transport.send(aMessage(), limits))[0];
}

test.each<[number, string, true | undefined]>([
  [429, 'TooManyRequestsException', true],
  [400, 'ThrottlingException', true],
  [400, 'LimitExceededException', true],
  [400, 'SendingPausedException', true],
  [403, 'InvalidSignatureException', true],
  [503, 'ServiceUnavailable', true],
  // It is unknown what was done before a 500; the rest is about the message, or about one domain.
  [500, 'InternalFailure', undefined],
  [504, 'GatewayTimeout', undefined],
  [400, 'MessageRejected', undefined],
  [404, 'NotFoundException', undefined],
])('%i %s: down is %p', async (status, type, isServerDown) => {
  ses.fail([status, type]);
  expect((await outcomeAt(ses.endpoint))?.isServerDown).toBe(isServerDown);
});

test('nothing listens: down; one that hangs up after the request has perhaps taken it', async () => {
  expect(await outcomeAt(`http://127.0.0.1:${await freePort()}`)).toMatchObject({
    outcome: 'deferred',
    isServerDown: true,
  });
  await using hangsUp = createServer((socket) => socket.once('data', () => socket.destroy()));
  await new Promise<void>((resolve) => hangsUp.listen(0, '127.0.0.1', resolve));
  const { port } = hangsUp.address() as { readonly port: number };
  const told = await outcomeAt(`http://127.0.0.1:${port}`);
  expect(told).toMatchObject({ outcome: 'unknown' });
  expect(told).not.toHaveProperty('isServerDown');
});
