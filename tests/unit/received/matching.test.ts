import { describe, expect, test } from 'bun:test';
import { type RouteMatch, readRecipient, routeFor } from '../../../src/sending/inbound-routes/matching.ts';

const route = (id: string, more: Partial<RouteMatch> = {}): RouteMatch => ({
  id,
  matchType: 'catchAll',
  localPart: null,
  priority: 100,
  ...more,
});
const exact = (id: string, localPart: string, priority = 100) =>
  route(id, { matchType: 'exact', localPart, priority });
const prefix = (id: string, localPart: string, priority = 100) =>
  route(id, { matchType: 'prefix', localPart, priority });

const taker = (routes: readonly RouteMatch[], address: string): string | null => {
  const recipient = readRecipient(address);
  return recipient && (routeFor(routes, recipient)?.id ?? null);
};

describe('the recipient of RCPT', () => {
  test.each([
    ['support@Acme.Example', 'support', null, 'acme.example'],
    ['Support+order-1842@acme.example', 'support', 'order-1842', 'acme.example'],
    ['support+@acme.example', 'support', '', 'acme.example'],
    ['support+a+b@acme.example', 'support', 'a+b', 'acme.example'],
    ['+support@acme.example', '+support', null, 'acme.example'],
    ['"support"@acme.example', 'support', null, 'acme.example'],
    ['"a@b"@acme.example', 'a@b', null, 'acme.example'],
    ['grüße@bücher.example', 'grüße', null, 'xn--bcher-kva.example'],
    ['Gru\u0308\u00dfe@acme.example', 'grüße', null, 'acme.example'],
  ])('%s', (address, name, tag, domain) => {
    expect(readRecipient(address)).toEqual({ address, name, tag, domain });
  });

  test.each([
    'support',
    '@acme.example',
    'support@',
    'support@localhost',
    'support@[127.0.0.1]',
    `${'a'.repeat(65)}@acme.example`,
    `a@${'b'.repeat(300)}.example`,
    '""@acme.example',
    'a\0b@acme.example',
    '"a\r\nb"@acme.example',
  ])('%s is none that a route can take', (address) => {
    expect(readRecipient(address)).toBeNull();
  });

  test('a local part has at most 64 octets', () => {
    expect(readRecipient(`${'a'.repeat(64)}@acme.example`)?.name).toHaveLength(64);
  });
});

describe('the route of a recipient', () => {
  test('no route takes what none matches', () => {
    expect(taker([exact('inr_1', 'support')], 'sales@acme.example')).toBeNull();
    expect(taker([prefix('inr_1', 'support-')], 'support@acme.example')).toBeNull();
    expect(taker([], 'support@acme.example')).toBeNull();
  });

  test('exact takes the name with any tag and in any case', () => {
    for (const address of ['support@a.example', 'SUPPORT@a.example', 'support+x@a.example'])
      expect(taker([exact('inr_1', 'support')], address)).toBe('inr_1');
    expect(taker([exact('inr_1', 'support')], 'supporter@a.example')).toBeNull();
  });

  test('the lowest priority wins, whatever the kind of match', () => {
    const routes = [exact('inr_1', 'support', 20), route('inr_2', { priority: 10 })];
    expect(taker(routes, 'support@a.example')).toBe('inr_2');
  });

  test('where priorities are equal, exact comes before prefix, and that before catchAll', () => {
    const all = [route('inr_1'), prefix('inr_2', 'sup'), exact('inr_3', 'support')];
    expect(taker(all, 'support@a.example')).toBe('inr_3');
    expect(taker(all, 'supply@a.example')).toBe('inr_2');
    expect(taker(all, 'sales@a.example')).toBe('inr_1');
  });

  test('of two prefixes the longer one wins, and of two equal routes the older one', () => {
    expect(taker([prefix('inr_1', 's'), prefix('inr_2', 'su')], 'support@a.example')).toBe('inr_2');
    expect(taker([route('inr_2'), route('inr_1')], 'support@a.example')).toBe('inr_1');
  });

  test('the order in which routes are read does not matter', () => {
    const routes = [route('inr_1'), prefix('inr_2', 'su', 5), exact('inr_3', 'support', 5), route('inr_4')];
    for (let turn = 0; turn < routes.length; turn++) {
      routes.push(routes.shift() as RouteMatch);
      expect(taker(routes, 'support@a.example')).toBe('inr_3');
      expect(taker(routes.toReversed(), 'sun@a.example')).toBe('inr_2');
    }
  });
});
