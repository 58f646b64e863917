import { describe, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { zipSync } from 'fflate';
import { readAggregate } from '../../../src/mail/inbound/aggregate/read-aggregate.ts';
import { UNPACK_LIMITS, unpack } from '../../../src/mail/inbound/aggregate/unpack.ts';
import { dmarcXml, mailWith, NOW, record, tlsJson } from './forms.ts';

const read = (file: Uint8Array | string, type?: string) => readAggregate(mailWith(file, type), NOW);

const ROW = {
  source: '192.0.2.25',
  messages: 3,
  disposition: 'none',
  isDkimAligned: true,
  isSpfAligned: false,
  from: 'shop.example',
};
const DMARC = {
  kind: 'dmarc',
  id: '1717',
  organization: 'reader.example',
  day: '2026-11-24',
  policy: { domain: 'shop.example', p: 'none', isTesting: false },
  rows: [ROW],
};

describe('a DMARC report is read', () => {
  const XML = dmarcXml();
  const zip = (files: Record<string, string>) =>
    zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, Buffer.from(text)])));
  const packed: readonly (readonly [string, Uint8Array | string, string?])[] = [
    ['from a zip archive', zip({ 'a!b!1!2.xml': XML }), 'application/zip'],
    [
      'from a zip archive with a folder',
      zip({ 'reports/': '', 'reports/a.xml': XML }),
      'application/x-zip-compressed',
    ],
    ['from a gzip file', gzipSync(XML), 'application/gzip'],
    [
      'from two gzip members',
      Buffer.concat([gzipSync(XML.slice(0, 300)), gzipSync(XML.slice(300))]),
      'application/gzip',
    ],
    ['from a gzip file with a line end behind it', Buffer.concat([gzipSync(XML), Buffer.from('\r\n')])],
    ['from a gzip file with a line feed behind it', Buffer.concat([gzipSync(XML), Buffer.from('\n')])],
    ['from a gzip file that calls itself a zip archive', gzipSync(XML), 'application/zip'],
    ['from plain XML', XML, 'text/xml'],
    ['with a byte order mark', `\ufeff${XML}`, 'text/xml'],
    ['in UTF-16', Buffer.from(`\ufeff${XML.replace('UTF-8', 'UTF-16')}`, 'utf16le'), 'text/xml'],
  ];
  for (const [name, file, type] of packed)
    test(name, async () => expect(await read(file, type)).toEqual(DMARC as never));

  const NAMESPACE = '<feedback xmlns="urn:ietf:params:xml:ns:dmarc-2.0">';
  const forms: readonly (readonly [string, string, object])[] = [
    [
      'in the form of RFC 9990',
      dmarcXml([record({ disposition: 'pass' })], {
        open: NAMESPACE,
        policy:
          '<p>reject</p><np>reject</np><testing>y</testing><discovery_method>treewalk</discovery_method>',
      }),
      { policy: { domain: 'shop.example', p: 'reject', isTesting: true }, rows: [ROW] },
    ],
    [
      'with a prefix',
      dmarcXml([record()], { open: '<d:feedback xmlns:d="urn:x">', close: '</d:feedback>' }),
      DMARC,
    ],
    ['in upper case', dmarcXml([record({ dkim: 'Pass', spf: 'FAIL', disposition: 'None' })]), DMARC],
    ['with white space', dmarcXml([record({ count: ' 3 ', from: ' Shop.Example. ' })]), DMARC],
    ['below a tag that is never closed', dmarcXml([record()], { open: '<xs:schema><feedback>' }), DMARC],
    ['with text between elements', dmarcXml([record()], { policy: '<p>none</p>11<sp>none</sp>' }), DMARC],
    [
      'with an address in angle brackets',
      dmarcXml().replace('dmarc@reader', '<bad@reader').replace('example</email>', 'example></email>'),
      DMARC,
    ],
    ['without its last tag', dmarcXml().replace('</feedback>', ''), DMARC],
    ['with times in milliseconds', dmarcXml().replace(/<(begin|end)>(\d+)</g, '<$1>$2000<'), DMARC],
    [
      'without results',
      dmarcXml([record({ dkim: '', spf: '', disposition: '' })]),
      { rows: [{ ...ROW, isDkimAligned: false }] },
    ],
    [
      'with quarantine, IPv6 and another domain',
      dmarcXml([
        record({ source: '2001:DB8::1', disposition: 'quarantine', dkim: 'fail', from: 'a.shop.example' }),
      ]),
      {
        rows: [
          {
            ...ROW,
            source: '2001:db8::1',
            disposition: 'quarantine',
            isDkimAligned: false,
            from: 'a.shop.example',
          },
        ],
      },
    ],
  ];
  for (const [name, xml, report] of forms)
    test(name, async () => expect(await read(xml)).toMatchObject(report));

  test('without the records that say nothing', async () => {
    const bad = [{ source: 'unknown' }, { count: '-1' }, { count: '0' }, { count: '1e99' }, { from: '' }];
    expect(await read(dmarcXml([...bad.map(record), record()]))).toMatchObject({ rows: [ROW] });
  });
});

describe('a TLS report is read', () => {
  const TLS = {
    kind: 'tls',
    id: '2026-11-24@reader.example',
    organization: 'Reader',
    day: '2026-11-24',
    policies: [
      {
        domain: 'shop.example',
        successful: 40,
        failed: 5,
        failures: [
          { type: 'certificate-expired', sessions: 3 },
          { type: 'other', sessions: 2 },
        ],
      },
    ],
  };
  test('from JSON and from gzip', async () => {
    expect(await read(tlsJson(), 'application/tlsrpt+json')).toEqual(TLS as never);
    expect(await read(gzipSync(tlsJson()), 'application/tlsrpt+gzip')).toEqual(TLS as never);
  });
  test('without details', async () => {
    const policies = [
      {
        policy: { 'policy-domain': 'shop.example', 'policy-string': 'v' },
        summary: {},
        'failure-details': null,
      },
    ];
    expect(await read(tlsJson({ policies }))).toMatchObject({
      policies: [{ domain: 'shop.example', successful: 0, failed: 0, failures: [] }],
    });
  });
});

const MIB = 1_048_576;

function withWrongSum(file: Buffer): Buffer {
  const sum = file.length - 8;
  file[sum] = 255 - (file[sum] ?? 0);
  return Buffer.concat([file, Buffer.from('\r\n')]);
}

describe('nothing is read from', () => {
  const nested = zipSync({ 'a.zip': zipSync({ 'a.xml': Buffer.from(dmarcXml()) }) });
  const many = zipSync(
    Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`${at}.xml`, Buffer.from(dmarcXml())])),
  );
  const entity = dmarcXml().replace(
    '<feedback>',
    '<!DOCTYPE feedback [<!ENTITY a "shop.example"><!ENTITY b "&a;&a;">]><feedback>',
  );
  const cases: readonly (readonly [string, Uint8Array | string])[] = [
    ['a gzip file that becomes too large', gzipSync(`${dmarcXml()}${' '.repeat(21 * MIB)}`)],
    [
      'a zip archive that becomes too large',
      zipSync({ a: Buffer.from(`${dmarcXml()}${' '.repeat(21 * MIB)}`) }),
    ],
    ['a file that grows too much for its size', gzipSync(`${dmarcXml()}${' '.repeat(2 * MIB)}`)],
    ['an archive within an archive', nested],
    ['an archive of many files', many],
    ['a damaged gzip file', gzipSync(dmarcXml()).subarray(0, 200)],
    ['a gzip file with a wrong check sum and a line end behind it', withWrongSum(gzipSync(dmarcXml()))],
    [
      'a gzip file that becomes too large and has a line end behind it',
      Buffer.concat([gzipSync(`${dmarcXml()}${' '.repeat(2 * MIB)}`), Buffer.from('\r\n')]),
    ],
    ['a damaged zip archive', zipSync({ a: Buffer.from(dmarcXml()) }).subarray(0, 200)],
    ['XML with a DTD', entity],
    ['XML that is nested deeply', dmarcXml(['<a>'.repeat(30)])],
    ['more rows than a report has', dmarcXml(Array.from({ length: 20_001 }, () => record()))],
    ['a report from the future', dmarcXml([record()], { begin: NOW / 1_000 + 5 * 86_400 })],
    ['a report of last year', dmarcXml([record()], { begin: NOW / 1_000 - 365 * 86_400 })],
    ['a report without an id', dmarcXml([record()], { id: ' ' })],
    ['a report about an address', dmarcXml([record()], { domain: 'a@b' })],
    ['JSON that is no report', '{"policies": [{}]}'],
    ['JSON that is nested deeply', `{"policies":${'['.repeat(100_000)}`],
    ['text', 'Dear sir or madam'],
    ['an empty file', ''],
  ];
  for (const [name, file] of cases) test(name, async () => expect(await read(file)).toBeNull());

  test('a mail without a file', async () => {
    expect(await readAggregate(Buffer.from('From: a@b.example\r\n\r\nHello\r\n'), NOW)).toBeNull();
  });
});

test('entities that XML does not define stay as they are', async () => {
  expect(await read(dmarcXml([record()], { id: '&xxe;1&amp;2&#51;' }))).toMatchObject({ id: '&xxe;1&23' });
});

test('a file is unpacked up to its limits, and no further', () => {
  const exact = new Uint8Array(UNPACK_LIMITS.octets).fill(0x61);
  for (let at = 0; at < exact.length; at += 97) exact[at] = at % 251;
  expect(unpack(gzipSync(exact))?.byteLength).toBe(UNPACK_LIMITS.octets);
  expect(unpack(gzipSync(Buffer.concat([exact, Buffer.from('a')])))).toBeNull();
  expect(unpack(exact)?.byteLength).toBe(UNPACK_LIMITS.octets);
  expect(unpack(Buffer.concat([exact, Buffer.from('a')]))).toBeNull();
});

test('a zip archive that states too small a size gives no more than that size', () => {
  const archive = Buffer.from(zipSync({ a: Buffer.from('a'.repeat(10_000)) }));
  const directory = archive.indexOf('PK\x01\x02', 0, 'latin1');
  archive.writeUInt32LE(100, directory + 24);
  expect(unpack(archive)?.byteLength ?? 0).toBeLessThanOrEqual(100);
});
