import { describe, expect, test } from 'bun:test';
import type { Answer } from '../../src/mail/dns/exchange.ts';
import { addressesIn } from '../../src/sending/webhooks/http/hosts-file.ts';
import { resolveBy } from '../../src/sending/webhooks/http/lookup.ts';

const HOSTS = `127.0.0.1 localhost
# 10.0.0.1 commented.example.com
10.0.0.2\tHooks.Example.com hooks # 10.0.0.3 hidden.example.com
2001:db8::2 hooks.example.com\r
not-an-address odd.example.com
`;

describe('the hosts file', () => {
  test.each([
    ['hooks.example.com', ['10.0.0.2', '2001:db8::2']],
    ['hooks', ['10.0.0.2']],
    ['commented.example.com', []],
    ['hidden.example.com', []],
    ['odd.example.com', []],
    ['example.com', []],
  ])('gives %s %j', (name, addresses) => {
    expect(addressesIn(HOSTS, name)).toEqual(addresses);
  });
});

describe('the lookup of a webhook host by DNS_SERVERS', () => {
  const servers = (ipv4: Answer<string>, ipv6: Answer<string>) => {
    const asked: string[] = [];
    const answer = (of: Answer<string>) => async (name: string) => {
      asked.push(name);
      return of;
    };
    return { asked, resolve: resolveBy({ ipv4: answer(ipv4), ipv6: answer(ipv6) }) };
  };
  const found = (...records: string[]): Answer<string> => ({ status: 'found', records });
  const failed: Answer<string> = { status: 'failed', reason: 'SERVFAIL' };

  test.each([
    ['both families', found('192.0.2.1'), found('2001:db8::1'), ['192.0.2.1', '2001:db8::1']],
    ['one family', found('192.0.2.1', '192.0.2.2'), { status: 'nodata' }, ['192.0.2.1', '192.0.2.2']],
    ['one family where the other fails', failed, found('2001:db8::1'), ['2001:db8::1']],
    ['nothing', { status: 'nxdomain' }, { status: 'nxdomain' }, []],
    ['nothing where both fail', failed, failed, []],
  ] as const)('answers %s', async (_what, ipv4, ipv6, addresses) => {
    const { asked, resolve } = servers(ipv4 as Answer<string>, ipv6 as Answer<string>);
    expect(await resolve('hooks.posthorn-test.example')).toEqual([...addresses]);
    expect(asked).toEqual(['hooks.posthorn-test.example', 'hooks.posthorn-test.example']);
  });

  test('leaves loopback names to the machine', async () => {
    const { asked, resolve } = servers(found('192.0.2.1'), failed);
    expect((await resolve('localhost')).every((each) => each === '127.0.0.1' || each === '::1')).toBe(true);
    expect(asked).toEqual([]);
  });
});
