import { describe, expect, test } from 'bun:test';
import { dmarc } from 'mailauth/lib/dmarc/index.js';
import {
  applicableRecord,
  organizationalDomain,
  policyFor,
  walkOf,
  walkTree,
} from '../../src/mail/dns/dmarc.ts';
import type { Answer } from '../../src/mail/dns/exchange.ts';

type Zone = Readonly<Record<string, readonly string[]>>;

const resolverOf = (zone: Zone) => ({
  txt: async (name: string): Promise<Answer<string>> => {
    const records = zone[name];
    return records ? { status: 'found', records } : { status: 'nxdomain' };
  },
});

/** The same in the form of node:dns. */
const lookupIn = (zone: Zone, exists: boolean) => async (name: string, type: string) => {
  const texts = zone[name];
  if (type === 'TXT' && texts) return texts.map((text) => [text]);
  if (type === 'A' && exists) return ['192.0.2.1'];
  throw Object.assign(new Error('no record'), { code: 'ENOTFOUND' });
};

/** The organization, the publisher and the policy of a domain. */
async function resultOf(domain: string, zone: Zone, exists = true) {
  const { records } = await walkTree(domain, resolverOf(zone));
  const record = applicableRecord(domain, records);
  return {
    organization: organizationalDomain(domain, records),
    publisher: record?.domain ?? null,
    policy: record && policyFor(domain, record, exists),
  };
}

test('a walk asks at most eight names: after the domain itself those of seven labels and fewer', () => {
  expect(walkOf('a.example.com')).toEqual(['a.example.com', 'example.com', 'com']);
  expect(walkOf('a.b.c.d.e.f.g.h.i.example')).toEqual([
    'a.b.c.d.e.f.g.h.i.example',
    'd.e.f.g.h.i.example',
    'e.f.g.h.i.example',
    'f.g.h.i.example',
    'g.h.i.example',
    'h.i.example',
    'i.example',
    'example',
  ]);
  expect(walkOf('a.b.c.d.e.f.example')).toHaveLength(7);
});

describe('the policy of a domain', () => {
  const P = (tags: string) => [`v=DMARC1; ${tags}`];
  const applied = (policy: string, isTesting = false) => ({ policy, isTesting });
  const cases: readonly (readonly [string, string, Zone, object, boolean?])[] = [
    ['none', 'a.example.com', {}, { organization: 'a.example.com', publisher: null, policy: null }],
    [
      'is its own',
      'a.example.com',
      { '_dmarc.a.example.com': P('p=none'), '_dmarc.example.com': P('p=reject') },
      { organization: 'example.com', publisher: 'a.example.com', policy: applied('none') },
    ],
    [
      'is that of the organization for its subdomains',
      'a.b.example.com',
      { '_dmarc.b.example.com': P('p=none'), '_dmarc.example.com': P('p=reject; sp=quarantine') },
      { organization: 'example.com', publisher: 'example.com', policy: applied('quarantine') },
    ],
    [
      'is np where the domain does not exist',
      'a.example.com',
      { '_dmarc.example.com': P('p=none; sp=none; np=reject') },
      { publisher: 'example.com', policy: applied('reject') },
      false,
    ],
    [
      'ignores np where it exists',
      'a.example.com',
      { '_dmarc.example.com': P('p=none; np=reject') },
      { policy: applied('none') },
    ],
    [
      'ends at psd=n',
      'a.b.example.com',
      { '_dmarc.b.example.com': P('p=quarantine; psd=n'), '_dmarc.example.com': P('p=reject') },
      { organization: 'b.example.com', publisher: 'b.example.com', policy: applied('quarantine') },
    ],
    [
      'is that of the registry, one label above the organization',
      'a.shop.bank',
      { '_dmarc.bank': P('p=reject; psd=y') },
      { organization: 'shop.bank', publisher: 'bank', policy: applied('reject') },
    ],
    [
      'is one weaker while it is tested',
      'example.com',
      { '_dmarc.example.com': P('p=reject; t=y') },
      { policy: applied('quarantine', true) },
    ],
    [
      'is none at least while it is tested',
      'example.com',
      { '_dmarc.example.com': P('p=none; t=y') },
      { policy: applied('none', true) },
    ],
    [
      'without p is none where reports are asked for',
      'example.com',
      { '_dmarc.example.com': P('rua=mailto:a@example.com') },
      { policy: applied('none') },
    ],
    [
      'without p counts for nothing else',
      'example.com',
      { '_dmarc.example.com': P('adkim=s') },
      { policy: null },
    ],
    [
      'is none of two',
      'example.com',
      { '_dmarc.example.com': [...P('p=none'), ...P('p=reject')] },
      { publisher: null },
    ],
  ];
  for (const [name, domain, zone, result, exists] of cases)
    test(name, async () => {
      expect(await resultOf(domain, zone, exists)).toMatchObject(result);
      // mailauth, which checks the mail of others here, agrees.
      const other = await dmarc({ headerFrom: `a@${domain}`, resolver: lookupIn(zone, exists ?? true) });
      const own = await resultOf(domain, zone, exists);
      if (other === false) throw new Error('mailauth has no result.');
      if (own.policy === null) expect(other.status.result).toBe('none');
      else
        expect([other.domain, other.policyDomain, other.policy, other.testMode]).toEqual([
          own.organization,
          own.publisher ?? '',
          own.policy.policy,
          own.policy.isTesting,
        ]);
    });
});
