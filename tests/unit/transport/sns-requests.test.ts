import { expect, test } from 'bun:test';
import { askSns } from '../../../src/mail/transport/ses/sns-requests.ts';

test('SNS certificates are requested from Amazon only', async () => {
  await using server = Bun.serve({ port: 0, fetch: () => new Response('secret') });
  expect(await askSns(`http://127.0.0.1:${server.port}/`).catch((error: Error) => error.message)).toBe(
    'Not an address of SNS.',
  );
});
