import { describe, expect, test } from 'bun:test';
import { SessionCookie } from '../../../src/http/auth/sessions/session-cookie.ts';

const HOUR = 3_600_000;
const NOW = Date.parse('2026-11-20T12:00:00Z');
const TOKEN = 'Zm9yIHRlc3RzIG9ubHksIG5vIHNlc3Npb24gYXQgYWw';

const cookies = (secure = false) => new SessionCookie(() => NOW, secure);
const pair = (setCookie: string): string => setCookie.split(';')[0] ?? '';
const carrying = (cookie: string): Headers => new Headers({ cookie });

describe('the cookie of a session', () => {
  test('carries its token there and back, among other cookies', () => {
    const cookie = cookies();
    const sent = `theme=dark; ${pair(cookie.write(TOKEN, NOW + HOUR))}; other=1`;
    expect(cookie.read(carrying(sent))).toBe(TOKEN);
  });

  test('is out of reach of scripts and forms of other sites, and of http and other hosts where there is https', () => {
    const attributes = (setCookie: string) => setCookie.split('; ').slice(1).sort();
    const usual = ['HttpOnly', 'Max-Age=3600', 'Path=/', 'SameSite=Lax'];
    const plain = cookies().write(TOKEN, NOW + HOUR);
    expect(plain).toStartWith('posthorn_session=');
    expect(attributes(plain)).toEqual(usual);
    const secure = cookies(true).write(TOKEN, NOW + HOUR);
    expect(secure).toStartWith('__Host-posthorn_session=');
    expect(attributes(secure)).toEqual([...usual, 'Secure']);
  });

  test('behind https the one that plain http could set is not read', () => {
    const cookie = cookies(true);
    expect(cookie.read(carrying(`posthorn_session=${TOKEN}`))).toBeNull();
    expect(cookie.read(carrying(`__Host-posthorn_session=${TOKEN}`))).toBe(TOKEN);
  });

  test('ends with its session', () => {
    const cookie = cookies();
    expect(cookie.write(TOKEN, NOW + 1)).toContain('; Max-Age=1');
    expect(cookie.clear()).toContain('; Max-Age=0');
  });

  test('is none when it has another form', () => {
    for (const sent of ['', TOKEN.slice(1), `${TOKEN}A`, `${TOKEN.slice(1)}%`, `${TOKEN.slice(1)}'`])
      expect([sent, cookies().read(carrying(`posthorn_session=${sent}`))]).toEqual([sent, null]);
    for (const sent of ['posthorn_session', '=', ';;', '']) expect(cookies().read(carrying(sent))).toBeNull();
  });
});
