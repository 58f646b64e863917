import { expect, test } from 'bun:test';
import { ReceivedObjects } from '../../../src/mail/transport/ses/received-objects.ts';
import { UnavailableError } from '../../../src/platform/errors/unavailable.ts';

const objectsAt = (endpoint: string, limits = {}): ReceivedObjects =>
  new ReceivedObjects({
    address: { bucket: 'mail', prefix: 'in/' },
    endpoint,
    limits,
    accessKeyId: 'AK',
    secretAccessKey: 'SK',
    ca: null,
    now: Date.now,
  });

const serverOf = (answer: (request: Request) => Response | Promise<Response>) =>
  Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer });

test('a message is asked for at its own region, with a signature, and is null above the limit', async () => {
  const asked: string[] = [];
  using server = serverOf(({ url, headers }) => {
    asked.push(
      `${new URL(url).pathname} ${/Credential=[^,]+/.exec(headers.get('authorization') ?? '')?.[0]}`,
    );
    return new Response('x'.repeat(url.endsWith('11') ? 11 : 10));
  });
  const objects = objectsAt(server.url.origin, { octets: 10 });
  const length = (key: string) => objects.use('eu-west-1', key, async (octets) => octets?.length ?? null);
  expect([await length('in/a!b-10'), await length('in/11')]).toEqual([10, null]);
  expect(asked[0]).toMatch(/^\/mail\/in\/a!b-10 Credential=AK\/\d{8}\/eu-west-1\/s3\/aws4_request$/);
});

test('a server that is silent, that refuses, and a message that is missing are asked for again', async () => {
  const missing = '<Error><Code>NoSuchKey</Code></Error>';
  using server = serverOf(({ url }) =>
    url.endsWith('silent')
      ? new Promise<Response>(() => {})
      : url.endsWith('missing')
        ? new Response(missing, { status: 404 })
        : new Response('<Error><Code>AccessDenied</Code></Error>', { status: 403 }),
  );
  const objects = objectsAt(server.url.origin, { readMs: 50 });
  for (const key of ['in/silent', 'in/missing', 'in/denied']) {
    const used = objects.use('eu-west-1', key, async () => 'used');
    expect(await used.catch((error: unknown) => error)).toBeInstanceOf(UnavailableError);
  }
});

test('a message without a stated size has the room of the largest', async () => {
  const asked: string[] = [];
  using server = serverOf(({ method }) => {
    asked.push(method);
    return method === 'HEAD' ? new Response(new ReadableStream()) : new Response('x'.repeat(10));
  });
  const objects = objectsAt(server.url.origin, { octets: 10 });
  expect(await objects.use('eu-west-1', 'in/x', async (octets) => octets?.length)).toBe(10);
  expect(asked).toEqual(['HEAD', 'GET']);
});

test('a message that grows while it is read is asked for again', async () => {
  using server = serverOf(({ method }) => new Response('x'.repeat(method === 'HEAD' ? 2 : 3)));
  const objects = objectsAt(server.url.origin, { octets: 10 });
  const used = objects.use('eu-west-1', 'in/x', async () => 'used');
  expect(await used.catch((error: unknown) => error)).toBeInstanceOf(UnavailableError);
});

test.each([
  ['three of the largest messages', 3, 32 * 1_048_576],
  ['four times as many of a quarter of that', 12, 8 * 1_048_576],
  ['96 small messages', 96, 1],
])('%s are in memory at once, until they were used', async (_, count, size) => {
  using server = serverOf(
    ({ method }) =>
      new Response(method === 'HEAD' ? null : 'x', {
        headers: { 'content-length': String(method === 'HEAD' ? size : 1) },
      }),
  );
  const objects = objectsAt(server.url.origin, { waitMs: 1 });
  const { promise, resolve } = Promise.withResolvers<void>();
  const began = Array.from({ length: count }, () => Promise.withResolvers<void>());
  const using = began.map((one) =>
    objects.use('eu-west-1', 'in/x', () => {
      one.resolve();
      return promise;
    }),
  );
  await Promise.all(began.map((one) => one.promise));
  const another = await objects.use('eu-west-1', 'in/x', async () => 'used').catch((error: unknown) => error);
  expect(another).toBeInstanceOf(UnavailableError);
  resolve();
  await Promise.all(using);
  expect(await objects.use('eu-west-1', 'in/x', async () => 'used')).toBe('used');
});
