import { afterAll, describe, expect, test } from 'bun:test';
import { checkRecords } from '../../../src/mail/dns/check-records.ts';
import { createResolver } from '../../../src/mail/dns/resolver.ts';
import { startNameServer, txt, type Zone } from './name-server.ts';

const dns = await startNameServer();
afterAll(() => dns[Symbol.asyncDispose]());
/** A busy machine may take long to answer. */
const patient = createResolver([dns.server], { timeoutMs: 60_000, rounds: 1 });

const dmarc = {
  purpose: 'dmarc',
  type: 'TXT',
  name: '_dmarc.shop.test',
  value: 'v=DMARC1; p=none',
  priority: null,
} as const;
const verified = { status: 'verified', error: null };
const failed = (words: string) => ({ status: 'failed', error: expect.stringContaining(words) });
const pending = (words: string) => ({ status: 'pending', error: expect.stringContaining(words) });

/** The result for the policy of a domain. */
const below = async (zone: Zone, domain = 'a.b.shop.test') => {
  dns.zone = zone;
  const [checked] = await checkRecords([dmarc], { resolver: patient, domain });
  return checked;
};
const policy = (...texts: string[]) => texts.map((text) => txt(text));

describe('a DMARC policy', () => {
  const at = (...texts: string[]) => below({ '_dmarc.shop.test TXT': policy(...texts) }, 'shop.test');
  test('is there, whichever the owner chose', async () => {
    expect(await at('v=DMARC1; p=reject; rua=mailto:x@in.shop.test')).toMatchObject(verified);
    expect(await at('v=DMARC1')).toMatchObject(failed('no valid p='));
    expect(await at('v=DMARC1; rua=mailto:x@shop.test')).toMatchObject({
      status: 'verified',
      error: 'The DMARC policy at _dmarc.shop.test has no p=, which receivers take for p=none.',
    });
    expect(await at('v=DMARC1; rua=x@shop.test')).toMatchObject(failed('no valid p='));
    expect(await at('v=DMARC1; p=reject; np=none; t=y; psd=n')).toMatchObject(verified);
  });
  test('is missing, twice there, or void', async () => {
    expect(await at()).toMatchObject(pending('no DMARC policy'));
    expect(await at('v=DMARC1; p=none', 'v=DMARC1; p=reject')).toMatchObject(failed('2 DMARC policies'));
    expect(await at('v=DMARC1; p=maybe')).toMatchObject(failed('no valid p='));
    expect(await at('v=DMARC1; p=none; sp=maybe')).toMatchObject(failed('no valid sp='));
    expect(await at('v=DMARC10; p=none', 'V=DMARC1; p=reject')).toMatchObject(verified);
  });

  test.each([
    'v=DMARC1 p=none',
    'v=dmarc1; p=none',
    'p=none; v=DMARC1',
    'v=DMARC2; p=none',
    'DMARC1; p=none',
    'p=reject',
    'v = Dmarc1;p=none',
    'v=DMARC1, p=none',
  ])('is there as %s, in which receivers see none', async (text) => {
    expect(await at('unrelated', text)).toMatchObject(failed('has to begin with v=DMARC1'));
    expect(await below({ '_dmarc.b.shop.test TXT': policy(text) }, 'b.shop.test')).toMatchObject(
      failed('The TXT record at _dmarc.b.shop.test is no DMARC policy'),
    );
  });
  test('is there in quotation marks', async () =>
    expect(await at('"v=DMARC1; p=none"')).toMatchObject(failed('has quotation marks in its text')));
  test.each([
    ['adkim=x', 'adkim=x'],
    ['aspf=strict', 'aspf=strict'],
    ['pct=200', 'pct=200'],
    ['pct=half', 'pct=half'],
    ['fo=2', 'fo=2'],
    ['t=x; psd=', 't=x, psd='],
    ['fo', 'fo'],
    ['rua=a@shop.test', 'rua=a@shop.test'],
    ['ruf=mailto:a@shop.test,https://shop.test/', 'ruf=https://shop.test/'],
    ['rua=', 'rua='],
  ])('counts without %s, which receivers ignore', async (tag, named) => {
    expect(await at(`v=DMARC1; p=none; ${tag}`)).toMatchObject({
      status: 'verified',
      error: expect.stringContaining(`Receivers ignore ${named} in the DMARC policy at _dmarc.shop.test`),
    });
  });
  test('has tags that receivers read, or were never meant to', async () => {
    const text =
      'v=DMARC1;; p=none; adkim=S; aspf=r; fo=1:d; pct=50; ri=86400; rf=afrf; psd=u; t=n; foo=bar;';
    expect(await at(text)).toMatchObject(verified);
  });

  test('of the domain itself comes first, then those of its parents, one label after the other', async () => {
    const org = policy('v=DMARC1; p=reject');
    expect(await below({ '_dmarc.a.b.shop.test TXT': policy('v=DMARC1; p=none') })).toMatchObject(verified);
    expect(await below({ '_dmarc.shop.test TXT': org })).toMatchObject({
      ...verified,
      found: ['v=DMARC1; p=reject'],
    });
    expect(
      await below({
        '_dmarc.a.b.shop.test TXT': policy('v=DMARC1; p=none', 'v=DMARC1; p=none'),
        '_dmarc.shop.test TXT': org,
      }),
    ).toMatchObject({ ...verified, found: ['v=DMARC1; p=reject'] });
    // The organization is at the psd=n, and has no record above.
    expect(
      await below({
        '_dmarc.b.shop.test TXT': policy('v=DMARC1; p=quarantine; psd=n'),
        '_dmarc.shop.test TXT': org,
      }),
    ).toMatchObject({ ...verified, found: ['v=DMARC1; p=quarantine; psd=n'] });
  });
  test('of a registry is none of the owner', async () => {
    expect(await below({ '_dmarc.test TXT': policy('v=DMARC1; p=reject; psd=y') })).toMatchObject(
      pending('no DMARC policy'),
    );
  });
  test('of the owner of a domain that many share is none of its customers', async () => {
    const shared = { '_dmarc.uk.com TXT': policy('v=DMARC1; p=reject') };
    expect(await below(shared, 'shop.uk.com')).toMatchObject(pending('no DMARC policy'));
    const own = { ...shared, '_dmarc.shop.uk.com TXT': policy('v=DMARC1; p=none') };
    expect(await below(own, 'shop.uk.com')).toMatchObject({ ...verified, found: ['v=DMARC1; p=none'] });
    expect(await below(shared, 'uk.com')).toMatchObject(verified);
  });
  test('stays as it was while a name server on the way gives no answer', async () => {
    expect(await below({ '_dmarc.b.shop.test TXT': 'servfail' })).toMatchObject({ status: 'unknown' });
    expect(
      await below({
        '_dmarc.a.b.shop.test TXT': policy('v=DMARC1; p=none'),
        '_dmarc.b.shop.test TXT': 'servfail',
      }),
    ).toMatchObject(verified);
  });
  test('needs the consent of another organization that its reports go to', async () => {
    const text = 'v=DMARC1; p=none; rua=mailto:a@shop.test, mailto:b@reports.test!10m';
    const refused = failed('shop.test._report._dmarc.reports.test to v=DMARC1');
    expect(await at(text)).toMatchObject(refused);
    const consent = (...texts: string[]): Zone => ({
      '_dmarc.shop.test TXT': policy(text),
      'shop.test._report._dmarc.reports.test TXT': policy(...texts),
    });
    expect(await below(consent('v=spf1 -all'), 'shop.test')).toMatchObject(refused);
    expect(await below(consent('v=DMARC1;'), 'shop.test')).toMatchObject(verified);
    expect(
      await below({ ...consent(), 'shop.test._report._dmarc.reports.test TXT': 'servfail' }, 'shop.test'),
    ).toMatchObject(verified);
  });
});
