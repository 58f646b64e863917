import { expect, test } from 'bun:test';
import { readRelayUrl } from '../../../src/platform/config/relay-url.ts';

test('SMTP_URL decides port and TLS by its scheme', () => {
  expect(readRelayUrl('smtp://relay.test')).toMatchObject({
    host: 'relay.test',
    port: 587,
    tls: 'opportunistic',
    credentials: null,
  });
  expect(readRelayUrl('smtps://relay.test')).toMatchObject({ port: 465, tls: 'implicit' });
  expect(readRelayUrl('smtp://relay.test:2525')).toMatchObject({ port: 2525 });
  expect(readRelayUrl('smtp://[::1]:25')).toMatchObject({ host: '::1', port: 25 });
});

test('SMTP_URL with a password needs TLS, unless the relay is this machine', () => {
  expect(readRelayUrl('smtp://u:p@relay.test')).toMatchObject({
    tls: 'required',
    credentials: { user: 'u', pass: 'p' },
  });
  expect(readRelayUrl('smtp://u:p@127.0.0.1')).toMatchObject({ tls: 'opportunistic' });
  expect(readRelayUrl('smtp://u:p@relay.test?tls=none')).toMatchObject({ tls: 'none' });
});

test('SMTP_URL decodes user name and password', () => {
  expect(readRelayUrl('smtps://user%40x.example:p%3Aw%2F@relay.test')).toMatchObject({
    credentials: { user: 'user@x.example', pass: 'p:w/' },
  });
});

for (const text of [
  '',
  'relay.test',
  'http://relay.test',
  'smtp://',
  'smtp://relay.test?tls=maybe',
  'smtps://relay.test?tls=none',
])
  test(`${JSON.stringify(text)} is refused`, () => expect(readRelayUrl(text)).toBeNull());
