import { afterAll, describe, expect, test } from 'bun:test';
import { checkRecords } from '../../../src/mail/dns/check-records.ts';
import type { Resolver } from '../../../src/mail/dns/resolver.ts';
import { txt, type Zone } from './name-server.ts';
import { openRecordChecks, spf, verified } from './record-checks.ts';

const { check, dns, patient } = await openRecordChecks();
afterAll(() => dns[Symbol.asyncDispose]());

describe('an SPF record whose included records', () => {
  const included = (zone: Zone, policy = 'v=spf1 include:a.test ip4:192.0.2.1 -all') =>
    check(spf, { 'b.shop.test TXT': [txt(policy)], ...zone });
  const record = (text: string) => [txt(text)];
  const mechanisms = (number: number) =>
    Array.from({ length: number }, (_, index) => `a:h${index}.test`).join(' ');
  // Others may change them, for which no mail of ours may stop.
  const noted = (words: string) => ({ status: 'verified', error: expect.stringContaining(words) });

  test('have with its own no more than ten terms that are looked up', async () => {
    const chain = (number: number): Zone => ({
      'a.test TXT': record('v=spf1 include:b.test redirect=c.test'),
      'b.test TXT': record('v=spf1 mx ?all a:unread.test'),
      'c.test TXT': record(`v=spf1 ${mechanisms(number)} -all`),
    });
    expect(await included(chain(6))).toMatchObject(verified);
    const tooMany = 'receivers look up more than 10 terms, those of included records among them';
    expect(await included(chain(7))).toMatchObject(noted(tooMany));
    expect(await included({ 'a.test TXT': record('v=spf1 include:a.test -all') })).toMatchObject(
      noted(tooMany),
    );
  });

  test('cannot be read', async () => {
    expect(await included({})).toMatchObject(noted('include:a.test leads to no SPF record'));
    expect(await included({ 'a.test TXT': [txt('v=spf1 -all'), txt('v=spf1 mx -all')] })).toMatchObject(
      noted('include:a.test leads to 2 SPF records'),
    );
    expect(await included({ 'a.test TXT': record('v=spf1 ipv4:192.0.2.9 -all') })).toMatchObject(
      noted('include:a.test leads to a record with ipv4:192.0.2.9'),
    );
  });

  // Ten without an answer would take longer than the lease of a check, so that its outcome counts no more.
  test('are asked for up to the first without an answer', async () => {
    dns.zone = { 'b.shop.test TXT': record(`v=spf1 include:a.test include:b.test ip4:192.0.2.1 -all`) };
    const asked: string[] = [];
    const resolver: Resolver = {
      ...patient,
      async txt(name) {
        asked.push(name);
        return name === 'a.test' ? { status: 'failed', reason: 'no answer in time' } : patient.txt(name);
      },
    };
    expect(await checkRecords([spf], { resolver, domain: 'shop.test' })).toMatchObject([verified]);
    expect(asked).toEqual(['b.shop.test', 'a.test']);
  });

  test('are not known for now', async () => {
    expect(await included({ 'a.test TXT': 'silence' })).toMatchObject(verified);
    expect(await included({}, 'v=spf1 include:%{d}.a.test ip4:192.0.2.1 -all')).toMatchObject(verified);
  });
});
