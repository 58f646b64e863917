import { describe, expect, test } from 'bun:test';
import { visitorOf } from '../../src/audience/visits/visitors.ts';
import { createSigner } from '../../src/platform/crypto/signer.ts';
import { forwardToken, readReturnToken, returnToken } from '../../src/sending/emails/send/return-token.ts';
import { leaveAddress, linkToken, readLeaveAddress, readLinkToken } from '../../src/sending/tracking/api.ts';

const signer = createSigner('a secret of thirty-two characters');
const stranger = createSigner('another secret of 32 characters..');
const ID = 'em_01m7xj1rwzprnwr10308attx';
const link = { emailId: ID, recipient: 7, target: 'https://a.example/ü?x=1&y=.2' };

describe('the token of a tracked link', () => {
  const token = linkToken('click', link, signer);

  test('says what was put into it', () => {
    expect(readLinkToken('click', token, signer)).toEqual(link);
    const oneOfTwo = { ...link, links: 2 };
    expect(readLinkToken('click', linkToken('click', oneOfTwo, signer), signer)).toEqual(oneOfTwo);
  });

  test('is worth nothing for another purpose, to another service, or changed', () => {
    expect(readLinkToken('unsubscribe', token, signer)).toBeNull();
    expect(readLinkToken('open', token, signer)).toBeNull();
    expect(readLinkToken('click', token, stranger)).toBeNull();
    for (let at = 0; at < token.length; at++) {
      const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
      const read = readLinkToken('click', changed, signer);
      // The last character of the signature carries four bits that mean nothing.
      if (at < token.length - 1) expect(read).toBeNull();
      else if (read) expect(read).toEqual(link);
    }
    for (const nonsense of ['', '.', 'a.b', token.slice(1), `${token}x`, `${token}.${token}`])
      expect(readLinkToken('click', nonsense, signer)).toBeNull();
  });
});

describe('the token of a return path', () => {
  const destination = { emailId: ID, recipient: 49 };
  const token = returnToken(destination, signer);

  test('fits into a local part, and survives a change of case', () => {
    expect(`b+${token}`.length).toBeLessThanOrEqual(64);
    expect(readReturnToken(token, signer, Date.now())).toEqual(destination);
    expect(readReturnToken(token.toUpperCase(), signer, Date.now())).toEqual(destination);
  });

  test('cannot be made by anybody else', () => {
    expect(readReturnToken(token, stranger, Date.now())).toBeNull();
    for (let at = 0; at < token.length; at++) {
      const changed = token.slice(0, at) + (token[at] === '7' ? '8' : '7') + token.slice(at + 1);
      expect(readReturnToken(changed, signer, Date.now())).toBeNull();
    }
  });
});

describe('the address to unsubscribe', () => {
  const named = { emailId: ID, recipient: 49 };
  const address = leaveAddress(named, 'bounces.sender.example', signer);

  test('fits a local part, survives a change of case, and names a recipient', () => {
    expect(address).toMatch(/^u\+[0-9a-z]{24}\.49\.[0-9a-z]{16}@bounces\.sender\.example$/);
    expect(address.indexOf('@')).toBeLessThanOrEqual(64);
    for (const seen of [address, address.toUpperCase()])
      expect(readLeaveAddress(seen, signer)).toEqual(named);
  });

  test('cannot be made of a return path, nor by anybody else', () => {
    expect(readLeaveAddress(address, stranger)).toBeNull();
    for (const token of [returnToken(named, signer), forwardToken(named, signer)])
      expect(readLeaveAddress(`u+${token}@bounces.sender.example`, signer)).toBeNull();
    for (let at = 2; at < address.indexOf('@'); at++) {
      const changed = address.slice(0, at) + (address[at] === '7' ? '8' : '7') + address.slice(at + 1);
      expect(readLeaveAddress(changed, signer)).toBeNull();
    }
  });
});

test('automated visitors are recognised by their user agent', () => {
  const visitor = (headers: Record<string, string>) => visitorOf(new Headers(headers));
  const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0';
  expect(visitor({ 'user-agent': firefox })).toBeNull();
  expect(visitor({ 'user-agent': firefox, 'sec-purpose': 'prefetch;prerender' })).toBe('prefetch');
  expect(visitor({ 'user-agent': `${firefox} (via ggpht.com GoogleImageProxy)` })).toBe('imageProxy');
  expect(visitor({ 'user-agent': 'Mozilla/5.0' })).toBe('imageProxy');
  expect(visitor({ 'user-agent': 'Barracuda Sentinel (EE)' })).toBe('scanner');
  expect(visitor({ 'user-agent': 'curl/8.0' })).toBe('scanner');
  expect(visitor({})).toBe('scanner');
});
