import { describe, expect, test } from 'bun:test';
import { Sessions } from '../../../src/modules/inspector/session.ts';

const SCOPE = { workspaceId: 'ws_1', livemode: false, keyId: 'key_1' };
const HOUR = 3_600_000;

function sessions(secretKey = 'k'.repeat(32), secure = false) {
  const clock = { now: Date.parse('2026-11-20T12:00:00Z') };
  const taken = new Set<string>();
  const take = async ({ id }: { readonly id: string }) => !taken.has(id) && taken.add(id).has(id);
  const another = () => new Sessions(secretKey, () => clock.now, secure, take);
  return { clock, sessions: another(), another };
}

const pair = (setCookie: string): string => setCookie.split(';')[0] ?? '';
const carrying = (cookie: string): Headers => new Headers({ cookie });

describe('a session cookie', () => {
  test('carries its scope there and back, among other cookies', () => {
    const { sessions: own, clock } = sessions();
    const headers = carrying(`theme=dark; ${pair(own.open(SCOPE))}; other=1`);
    expect(own.read(headers)).toEqual({ ...SCOPE, expiresAt: clock.now + HOUR });
  });

  test('is out of reach of scripts and other sites, and of http where there is https', () => {
    expect(sessions().sessions.open(SCOPE)).toMatch(/; Path=\/; Max-Age=3600; HttpOnly; SameSite=Strict$/);
    expect(sessions('k'.repeat(32), true).sessions.open(SCOPE)).toEndWith('; Secure');
  });

  test('ends after an hour', () => {
    const { sessions: own, clock } = sessions();
    const headers = carrying(pair(own.open(SCOPE)));
    clock.now += HOUR - 1;
    expect(own.read(headers)).not.toBeNull();
    clock.now += 1;
    expect(own.read(headers)).toBeNull();
  });

  test('is refused when a single character of it was changed', () => {
    const { sessions: own } = sessions();
    const [name, value = ''] = pair(own.open(SCOPE)).split('=');
    // Not the last one: of a signature of 32 bytes it holds two bits that mean nothing.
    for (let at = 0; at < value.length - 1; at++) {
      const other = value[at] === 'A' ? 'B' : 'A';
      const forged = value.slice(0, at) + other + value.slice(at + 1);
      expect(own.read(carrying(`${name}=${forged}`))).toBeNull();
    }
  });

  test('of another SECRET_KEY, an unsigned one and an empty one are none', () => {
    const { sessions: own } = sessions();
    const foreign = pair(sessions('z'.repeat(32)).sessions.open({ ...SCOPE, livemode: true }));
    const [text] = pair(own.open(SCOPE)).split('.');
    for (const cookie of [foreign, text ?? '', `${text}.`, 'posthorn_session=', 'posthorn_session=.', ''])
      expect(own.read(carrying(cookie))).toBeNull();
  });
});

describe('a ticket', () => {
  test('opens once, whichever process is asked', async () => {
    const { sessions: own, another } = sessions();
    const tickets = [own.ticket({ ...SCOPE, keyId: null }), own.ticket({ ...SCOPE, keyId: null })] as const;
    for (const [ticket, first, second] of [
      [tickets[0], own, another()],
      [tickets[1], another(), own],
    ] as const) {
      expect(ticket).toMatch(/^[\w-]+$/);
      expect(await first.redeem(ticket)).toMatchObject({ workspaceId: 'ws_1', livemode: false, keyId: null });
      expect(await second.redeem(ticket)).toBeNull();
      expect(await first.redeem(ticket)).toBeNull();
    }
  });

  test('is too old after an hour, and unknown where the SECRET_KEY is another', async () => {
    const { sessions: own, clock } = sessions();
    const ticket = own.ticket(SCOPE);
    expect(await sessions('z'.repeat(32)).sessions.redeem(ticket)).toBeNull();
    clock.now += HOUR;
    expect(await own.redeem(ticket)).toBeNull();
  });

  test('is refused when it was changed, is no cookie, and no cookie is one', async () => {
    const { sessions: own } = sessions();
    const ticket = own.ticket(SCOPE);
    const octets = Buffer.from(ticket, 'base64url');
    for (let at = 0; at < octets.length; at++) {
      const forged = Buffer.from(octets);
      forged[at] = (octets[at] ?? 0) ^ 1;
      expect(await own.redeem(forged.toString('base64url'))).toBeNull();
    }
    const [text = '', signature = ''] = pair(own.open(SCOPE)).split('=')[1]?.split('.') ?? [];
    const asTicket = Buffer.concat([Buffer.from(signature, 'base64url'), Buffer.from(text)]);
    for (const other of ['', 'x', asTicket.toString('base64url')]) expect(await own.redeem(other)).toBeNull();
    const asCookie = [octets.subarray(32), octets.subarray(0, 32)].map((part) => part.toString('base64url'));
    expect(own.read(carrying(`posthorn_session=${asCookie.join('.')}`))).toBeNull();
    expect(await own.redeem(ticket)).not.toBeNull();
  });

  test('opens nothing that lasts longer than the session that asked for it; a printed link opens a whole hour', async () => {
    const { sessions: own, clock } = sessions();
    const end = clock.now + HOUR;
    const [renewing, printed, late] = [own.ticket(SCOPE, end), own.ticket(SCOPE), own.ticket(SCOPE, end - 1)];
    clock.now += HOUR - 1;
    expect((await own.redeem(renewing))?.expiresAt).toBe(end);
    expect((await own.redeem(printed))?.expiresAt).toBe(clock.now + HOUR);
    expect(await own.redeem(late)).toBeNull();
    const cookie = own.open(SCOPE, end);
    expect(cookie).toContain('; Max-Age=1;');
    expect(own.read(carrying(pair(cookie)))?.expiresAt).toBe(end);
  });
});
