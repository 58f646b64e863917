import { expect, test } from 'bun:test';
import { RelayTransport } from '../../src/mail/transport/smtp/relay.ts';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { eventually } from '../support/eventually.ts';
import { type Email, type LiveService, startLiveService } from '../support/live-service.ts';
import { poolParts } from '../support/pool-parts.ts';

/** A service whose relay is the submission port of another one. */
const relaying = (submission: number, to: number, password: () => string): Promise<LiveService> =>
  startLiveService({
    environment: { SUBMISSION_PORT: String(submission) },
    transport: new RelayTransport(
      {
        host: '127.0.0.1',
        port: to,
        name: 'other.test',
        tls: 'none',
        verifyCertificate: true,
        ca: null,
        ehloName: 'posthorn.test',
        connectMs: 20_000,
        silenceMs: 20_000,
        credentials: {
          user: 'svc',
          get pass() {
            return password();
          },
        },
      },
      poolParts(),
    ),
  });

test('a message that two installations relay to each other ends after 51 of them have taken it', async () => {
  const [one, other] = [await freePort(), await freePort()];
  await using first = await relaying(one, other, () => second.keys.live);
  await using second = await relaying(other, one, () => first.keys.live);
  const message = 'From: shop@sender.example\r\nMessage-ID: <7@sender.example>\r\n\r\nRound and round.\r\n';
  const answer = await fetch(new URL('/v1/emails/raw?recipients=ada@example.com', first.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${first.keys.live}`, 'content-type': 'message/rfc822' },
    body: message,
  });
  expect(answer.status).toBe(202);
  const all = async (): Promise<readonly Email[]> =>
    (await Promise.all([first, second].map(({ live }) => live.get('/v1/emails?limit=100')))).flatMap(
      ({ body }) => body.data,
    );
  const failed = await eventually('the end of the circle', async () =>
    (await all()).find(({ status }) => status === 'failed'),
  );
  // The message that comes with 51 Received fields is refused: 51 were taken, the last one of them by the
  // first service.
  expect(await all()).toHaveLength(51);
  expect((await all()).filter(({ status }) => status === 'sent')).toHaveLength(50);
  const { events, messageId } = (await first.live.get(`/v1/emails/${failed.id}`)).body.data;
  expect(messageId).toBe('<7@sender.example>');
  expect(events.at(-1)).toMatchObject({
    type: 'bounced',
    data: { smtpCode: 554, enhancedCode: '5.4.6', message: expect.stringContaining('more than 50 Received') },
  });
});
