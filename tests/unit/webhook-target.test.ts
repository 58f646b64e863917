import { describe, expect, test } from 'bun:test';
import { problemOfTarget, problemOfUrl } from '../../src/sending/webhooks/endpoints/target.ts';
import { createAddressGuard } from '../../src/sending/webhooks/http/address-guard.ts';

const guard = createAddressGuard({ allowPrivate: false, allowCidrs: [] });

/** A resolver that knows these names and counts what it is asked. */
function resolverOf(names: Record<string, readonly string[]>) {
  const asked: string[] = [];
  const resolve = (name: string): Promise<readonly string[]> => {
    asked.push(name);
    const addresses = names[name];
    return addresses ? Promise.resolve(addresses) : Promise.reject(new Error('ENOTFOUND'));
  };
  return { resolve, asked };
}

describe('the form of a URL', () => {
  const label = 'a'.repeat(63);
  test.each([
    'https://example.com',
    'http://example.com/hook?x=1',
    'https://example.com:8443/',
    'HTTPS://EXAMPLE.COM/x',
    'https://bücher.example/ü',
    'https://xn--bcher-kva.example/',
    'http://my_service:3000/hook',
    'http://8.8.8.8/',
    'http://[2606:4700::1111]:8080/x',
    'https://example.com/a@b',
    'https://example.com?a@b',
    'http://example.com:/empty-port-means-default',
    `https://${label}.${label}.${label}.${'a'.repeat(61)}/`,
    `https://example.com/${'a'.repeat(2028)}`,
    `https://example.com/${'😀'.repeat(2028)}`,
  ])('%s is fine', (url) => {
    expect(problemOfUrl(url)).toBeNull();
  });

  test.each([
    ['', /start with|absolute/],
    ['example.com/hook', /absolute/],
    ['ftp://example.com', /absolute/],
    ['file:///etc/passwd', /absolute/],
    ['javascript:alert(1)', /absolute/],
    ['//example.com', /absolute/],
    ['http:example.com', /absolute/],
    ['http:/example.com', /absolute/],
    ['http:///example.com', /absolute/],
    ['http://', /absolute/],
    ['http:\\\\127.0.0.1\\x', /absolute/],
    ['http://example.com\\@10.0.0.1/', /backslash/],
    [' http://example.com', /absolute/],
    ['http://example.com/a b', /spaces/],
    ['http://exa\tmple.com/', /spaces/],
    ['http://example.com/\r\nHost: evil', /spaces/],
    ['http://example.com/\u0000', /control/],
    ['http://example.com/#top', /fragment/],
    ['http://example.com/#', /fragment/],
    ['http://user:pass@example.com/', /user name/],
    ['http://user@example.com/', /user name/],
    ['http://@example.com/', /user name/],
    ['http://1.1.1.1%2f@10.0.0.1/', /user name/],
    ['http://example.com:0/', /port/],
    ['http://example.com:65536/', /valid URL/],
    ['http://example.com:x/', /valid URL/],
    ['http://[::1', /valid URL/],
    ['http://[fe80::1%25eth0]/', /valid URL/],
    ['http://256.256.256.256/', /valid URL/],
    ['http://1.2.3.4.5/', /valid URL/],
    ['http://ex%00ample.com/', /valid URL/],
    ['http://xn--a/', /valid URL/],
    ['http://./', /host name/],
    ['http://example.com./', /host name/],
    ['http://a..b/', /host name/],
    ['http://-a.example/', /host name/],
    ['http://a!b.example/', /host name/],
    [`http://${'a'.repeat(64)}.example/`, /host name/],
    [`http://${`${'a'.repeat(62)}.`.repeat(4)}aa/`, /host name/],
    [`https://example.com/${'a'.repeat(2029)}`, /2048/],
  ])('%j is refused', (url, problem) => {
    expect(problemOfUrl(url)).toMatch(problem);
  });
});

describe('where a URL leads', () => {
  const problem = (url: string, names: Record<string, readonly string[]> = {}): Promise<string | null> =>
    problemOfTarget(url, { guard, resolve: resolverOf(names).resolve, privateNames: false });

  test.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0x7f.1/',
    'http://017700000001/',
    'http://0300.0250.0.1/',
    'http://0/',
    'http://127.0.0.1./',
    'http://%31%32%37.0.0.1/',
    'http://１２７.0.0.1/',
    'http://①②⑦.⓪.⓪.①/',
    'http://127。0。0。1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[::1]/',
    'http://[::]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[::127.0.0.1]/',
    'http://[64:ff9b::10.0.0.1]/',
    'http://[2002:7f00:1::]/',
    'http://[2001:0:7f00:1::]/',
    'http://[fd00:ec2::254]/',
    'http://[fe80::1]/',
  ])('%s is a forbidden address, however it is written', async (url) => {
    expect(await problem(url)).toMatch(/public address/);
  });

  test('a public address or name is fine', async () => {
    expect(await problem('http://8.8.8.8/')).toBeNull();
    expect(
      await problem('https://hooks.example/', { 'hooks.example': ['93.184.216.34', '2606:4700::1'] }),
    ).toBeNull();
  });

  test('a name is refused when any one of its addresses is forbidden', async () => {
    const mixed = { 'mixed.example': ['93.184.216.34', '10.0.0.1'], 'six.example': ['2606:4700::1', '::1'] };
    expect(await problem('https://mixed.example/', mixed)).toMatch(/public address/);
    expect(await problem('https://six.example/', mixed)).toMatch(/public address/);
  });

  test('a name is asked for in lower-case ASCII, and a malformed URL asks for nothing', async () => {
    const { resolve, asked } = resolverOf({});
    await problemOfTarget('https://BÜCHER.Example/x', { guard, resolve, privateNames: false });
    await problemOfTarget('https://bad.example/#x', { guard, resolve, privateNames: false });
    await problemOfTarget('https://8.8.8.8/', { guard, resolve, privateNames: false });
    expect(asked).toEqual(['xn--bcher-kva.example']);
  });

  test('a name that does not resolve, or not in time, is accepted: each connection is checked again', async () => {
    expect(await problem('https://not-yet.example/')).toBeNull();
    const silent = (): Promise<readonly string[]> => new Promise(() => {});
    expect(
      await problemOfTarget('https://slow.example/', {
        guard,
        resolve: silent,
        privateNames: false,
        resolveTimeoutMs: 5,
      }),
    ).toBeNull();
  });

  test.each([
    'http://db/',
    'http://my_service:3000/hook',
    'http://a.local/',
    'https://A.LOCAL/',
    'http://hooks.corp.internal/',
    'http://metadata.google.internal/computeMetadata/v1/',
    'http://x.localhost:3000/',
  ])('%s can never be public: it is refused without asking for it', async (url) => {
    const { resolve, asked } = resolverOf({});
    expect(await problemOfTarget(url, { guard, resolve, privateNames: false })).toMatch(/public internet/);
    expect(asked).toEqual([]);
  });

  test('a name that only ends like a private one is a name as any other', async () => {
    for (const host of ['mylocal', 'a.notlocal', 'internal'])
      expect(await problem(`https://${host}.example/`)).toBeNull();
  });

  test('where private addresses may be reached, private names may be registered, but never the metadata service', async () => {
    const open = { guard: () => true, resolve: resolverOf({ db: ['10.0.0.5'] }).resolve, privateNames: true };
    expect(await problemOfTarget('http://db:3000/', open)).toBeNull();
    expect(await problemOfTarget('http://a.local/', open)).toBeNull();
    expect(await problemOfTarget('http://metadata.google.internal/', open)).toMatch(/public internet/);
  });
});
