import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type LiveService, relayTo, startLiveService } from '../support/live-service.ts';
import { type Sink, startSink } from './transport/smtp-sink.ts';

let sink: Sink;
let service: LiveService;

beforeAll(async () => {
  sink = await startSink();
  service = await startLiveService({ transport: relayTo(sink.port) });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});

test('an email leaves, signed, with a return path of its own, and is sent', async () => {
  const id = await service.send({ html: '<p>It is on its way.</p>' });
  const email = await service.until(id, ({ status }) => status === 'sent');
  const received = sink.received.find(({ raw }) => raw.includes(id));
  expect(received?.to).toEqual(['ada@example.com']);
  expect(received?.from).toMatch(new RegExp(`^b\\+${id.slice(3)}\\.0\\.[0-9a-z]{16}@send\\.sender\\.example$`));
  expect(received?.raw.toString()).toMatch(/^DKIM-Signature: /m);
  expect(received?.raw.toString()).toContain(`Message-ID: <${id}@sender.example>`);
  expect(email.events).toMatchObject([
    {
      type: 'sent',
      recipient: 'ada@example.com',
      livemode: true,
      data: { provider: 'smtp', messageId: `<${id}@sender.example>`, response: expect.stringMatching(/^250 /) },
    },
  ]);
  expect(email.recipients).toEqual([{ address: 'ada@example.com', kind: 'to', status: 'sent', lastEvent: 'sent' }]);
});
