import { expect, test } from 'bun:test';
import { isReachable, recordsOf } from '../../src/sending/domains/records/records.ts';
import { type SetupSource, setupOf } from '../../src/sending/domains/records/setup.ts';

test.each([
  'mail.acme.com',
  'MAIL.acme.co.uk.',
  '93.184.215.14',
  '2606:2800:21f:cb07::1',
  'xn--bcher-kva.com',
])('%s is found by other mail servers', (host) => expect(isReachable(host)).toBe(true));
test.each([
  'localhost',
  'mail',
  'a.localhost',
  'nas.local',
  'x.internal',
  'box.home.arpa',
  'server.lan',
  'LOCALHOST.',
  '127.0.0.1',
  '0.0.0.0',
  '10.1.2.3',
  '172.20.0.5',
  '192.168.1.2',
  '169.254.1.1',
  '100.64.0.1',
  '::1',
  'fd00::1',
  'fe80::1',
  '::ffff:10.0.0.1',
])('%s is not', (host) => expect(isReachable(host)).toBe(false));

const DOMAIN = {
  name: 'acme.com',
  returnPath: 'send.acme.com',
  trackingDomain: 'track.acme.com',
  provider: null,
  fallbacks: [],
  keySets: [],
  receives: false,
};
const NONE: SetupSource = {
  transport: ['direct'],
  publicUrl: 'http://localhost:3000',
  ehloName: null,
  smtpUrl: null,
  smtpFallbackUrl: null,
  returnPathDomain: null,
  inboundSmtpPort: null,
};
/** The records that each record needs first. */
const unset = (source: Partial<SetupSource>) =>
  Object.fromEntries(
    recordsOf(DOMAIN, setupOf({ ...NONE, ...source })).map((record) => [
      record.slot,
      /Set (\w+) to/.exec(record.unset ?? '')?.[1] ?? null,
    ]),
  );

test.each([
  ['nothing', {}, { spf: 'PUBLIC_URL', mx: 'PUBLIC_URL', tracking: 'PUBLIC_URL', dmarc: null }],
  [
    'an address of the local network',
    { publicUrl: 'http://192.168.1.5:3000' },
    { spf: 'PUBLIC_URL', mx: 'PUBLIC_URL' },
  ],
  ['PUBLIC_URL', { publicUrl: 'https://mail.acme.com' }, { spf: null, mx: null, tracking: null }],
  ['EHLO_NAME alone', { ehloName: 'mx.acme.com' }, { spf: null, mx: null, tracking: 'PUBLIC_URL' }],
  [
    'an EHLO_NAME that is no public name',
    { publicUrl: 'https://mail.acme.com', ehloName: 'mailer' },
    { spf: 'EHLO_NAME', mx: 'EHLO_NAME', tracking: null },
  ],
  [
    'a relay in the local network',
    { transport: ['smtp'], smtpUrl: 'smtp://relay.internal:25', publicUrl: 'https://mail.acme.com' },
    { spf: 'SMTP_URL', mx: null },
  ],
  [
    'RETURN_PATH_DOMAIN',
    { returnPathDomain: 'bounces.acme.com' },
    { returnPath: null, tracking: 'PUBLIC_URL' },
  ],
] as readonly (readonly [string, Partial<SetupSource>, object])[])(
  'with %s set, the records that would name a host that nothing finds say what to set',
  (_what, source, expected) => expect(unset(source)).toMatchObject(expected),
);

test.each([
  ['mail.acme.com', '_dmarc.acme.com'],
  ['mail.acme.co.uk', '_dmarc.acme.co.uk'],
  // Customers of a domain with another owner have their policies at their own names.
  ['acme.uk.com', '_dmarc.acme.uk.com'],
  ['mail.acme.github.io', '_dmarc.acme.github.io'],
  ['github.io', '_dmarc.github.io'],
])('the policy of %s is asked for at %s', (name, at) => {
  const asked = recordsOf({ ...DOMAIN, name }, setupOf(NONE)).find(({ slot }) => slot === 'dmarc');
  expect(asked?.name).toBe(at);
});
