import { describe, expect, test } from 'bun:test';
import { type Session, SessionCookie } from '../../../src/auth/session-cookie.ts';
import { createSigner } from '../../../src/crypto/signer.ts';

const HOUR = 3_600_000;
const NOW = Date.parse('2026-11-20T12:00:00Z');
const SESSION: Session = {
  subject: { kind: 'key', id: 'key_1', workspaceId: 'ws_1', livemode: false },
  expiresAt: NOW + HOUR,
};

function cookies(secretKey = 'k'.repeat(32), secure = false) {
  const clock = { now: NOW };
  return { clock, cookie: new SessionCookie(createSigner(secretKey), () => clock.now, secure) };
}

const pair = (setCookie: string): string => setCookie.split(';')[0] ?? '';
const carrying = (cookie: string): Headers => new Headers({ cookie });

describe('the cookie of a session', () => {
  test('carries it there and back, among other cookies', () => {
    const { cookie } = cookies();
    const headers = carrying(`theme=dark; ${pair(cookie.write(SESSION))}; other=1`);
    expect(cookie.read(headers)).toEqual(SESSION);
  });

  test('is out of reach of scripts and other sites, and of http and other hosts where there is https', () => {
    const attributes = (setCookie: string) => setCookie.split('; ').slice(1).sort();
    const usual = ['HttpOnly', 'Max-Age=3600', 'Path=/', 'SameSite=Strict'];
    const plain = cookies().cookie.write(SESSION);
    expect(plain).toStartWith('posthorn_session=');
    expect(attributes(plain)).toEqual(usual);
    const secure = cookies('k'.repeat(32), true).cookie.write(SESSION);
    expect(secure).toStartWith('__Host-posthorn_session=');
    expect(attributes(secure)).toEqual([...usual, 'Secure']);
  });

  test('behind https the one that plain http could set is not read', () => {
    const { cookie } = cookies('k'.repeat(32), true);
    const [, value = ''] = pair(cookie.write(SESSION)).split('=');
    expect(cookie.read(carrying(`posthorn_session=${value}`))).toBeNull();
    expect(cookie.read(carrying(`__Host-posthorn_session=${value}`))).toEqual(SESSION);
  });

  test('ends when its session does', () => {
    const { cookie, clock } = cookies();
    const headers = carrying(pair(cookie.write(SESSION)));
    clock.now += HOUR - 1;
    expect(cookie.read(headers)).not.toBeNull();
    expect(cookie.write(SESSION)).toContain('; Max-Age=1');
    clock.now += 1;
    expect(cookie.read(headers)).toBeNull();
    expect(cookie.clear()).toContain('; Max-Age=0');
  });

  test('is refused when a single character of it was changed', () => {
    const { cookie } = cookies();
    const [name, value = ''] = pair(cookie.write(SESSION)).split('=');
    // Not the last one: of a signature of 32 bytes it holds two bits that mean nothing.
    for (let at = 0; at < value.length - 1; at++) {
      const other = value[at] === 'A' ? 'B' : 'A';
      const forged = value.slice(0, at) + other + value.slice(at + 1);
      expect(cookie.read(carrying(`${name}=${forged}`))).toBeNull();
    }
  });

  test('of another SECRET_KEY, an unsigned one and an empty one are none', () => {
    const { cookie } = cookies();
    const foreign = pair(cookies('z'.repeat(32)).cookie.write(SESSION));
    const [text] = pair(cookie.write(SESSION)).split('.');
    const odd = ['posthorn_session=', 'posthorn_session=.', 'posthorn_session=%', '', '=', ';;'];
    for (const sent of [foreign, text ?? '', `${text}.`, ...odd])
      expect([sent, cookie.read(carrying(sent))]).toEqual([sent, null]);
  });
});
