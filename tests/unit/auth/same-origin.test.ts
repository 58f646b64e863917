import { describe, expect, test } from 'bun:test';
import { isForeignHandshake, isFromOwnPage } from '../../../src/http/auth/sessions/same-origin.ts';

const PUBLIC_URL = 'https://mail.example.com/posthorn';
const OWN = 'https://mail.example.com';

describe('what changes something comes from an own page', () => {
  test.each<[Record<string, string>, boolean]>([
    [{ 'sec-fetch-site': 'same-origin' }, true],
    [{ 'sec-fetch-site': 'same-origin', origin: 'http://127.0.0.1:3000' }, true],
    [{ origin: OWN }, true],
    [{}, false],
    [{ 'sec-fetch-site': 'cross-site' }, false],
    [{ 'sec-fetch-site': 'same-site' }, false],
    [{ 'sec-fetch-site': 'none' }, false],
    [{ 'sec-fetch-site': 'cross-site', origin: OWN }, false],
    [{ origin: 'null' }, false],
    [{ origin: 'http://mail.example.com' }, false],
    [{ origin: 'https://mail.example.com:8443' }, false],
    [{ origin: 'https://mail.example.com.evil.example' }, false],
    [{ origin: 'https://evil.example', host: 'evil.example' }, false],
    [{ referer: `${OWN}/inspector` }, false],
  ])('%p: %p', (headers, expected) => expect(isFromOwnPage(new Headers(headers), PUBLIC_URL)).toBe(expected));
});

describe('the handshake of a WebSocket', () => {
  test.each<[string, Record<string, string>, boolean]>([
    ['of a tool that is no browser', {}, false],
    ['of an own page', { origin: OWN }, false],
    ['of an own page under another name', { origin: 'https://10.0.0.7', host: '10.0.0.7' }, false],
    ['of another site', { origin: 'https://evil.example', host: 'mail.example.com' }, true],
    ['of a page without an origin', { origin: 'null', host: 'mail.example.com' }, true],
    ['of another port', { origin: 'https://10.0.0.7:81', host: '10.0.0.7' }, true],
    [
      'of a page that http could have forged',
      { origin: 'http://mail.example.com', host: 'mail.example.com' },
      true,
    ],
  ])('%s', (_, headers, expected) =>
    expect(isForeignHandshake(new Headers(headers), PUBLIC_URL)).toBe(expected),
  );
});
