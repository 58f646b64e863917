import { expect, test } from 'bun:test';
import { askSns, createCertificateStore } from '../../../src/transport/ses/sns-requests.ts';

test('a certificate is fetched once, and the oldest of many forgotten', async () => {
  const asked: string[] = [];
  const fetchCertificate = createCertificateStore(async (url) => {
    asked.push(url);
    return `certificate at ${url}`;
  });
  expect(await fetchCertificate('a')).toBe('certificate at a');
  expect(await fetchCertificate('a')).toBe('certificate at a');
  expect(asked).toEqual(['a']);
  for (let n = 0; n < 20; n++) await fetchCertificate(`${n}`);
  await fetchCertificate('a');
  expect(asked.filter((url) => url === 'a').length).toBe(2);
});

test('what could not be fetched is asked for again', async () => {
  let answers = 0;
  const fetchCertificate = createCertificateStore(async () => {
    answers += 1;
    if (answers === 1) throw new Error('no network');
    return 'certificate';
  });
  expect(await fetchCertificate('a').catch((error: Error) => error.message)).toBe('no network');
  expect(await fetchCertificate('a')).toBe('certificate');
});

test('nobody but Amazon is asked', async () => {
  await using server = Bun.serve({ port: 0, fetch: () => new Response('secret') });
  expect(await askSns(`http://127.0.0.1:${server.port}/`).catch((error: Error) => error.message)).toBe(
    'Not an address of SNS.',
  );
});
