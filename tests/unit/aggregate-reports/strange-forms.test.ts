import { describe, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { readAggregate } from '../../../src/mail/inbound/aggregate/read-aggregate.ts';
import { dmarcXml, mailWith, NOW, record, tlsJson } from './forms.ts';

// Forms that are against the standards, in which servers send reports all the same.

const read = (raw: Buffer) => readAggregate(raw, NOW);
const ROW = { messages: 3, from: 'shop.example', isDkimAligned: true, isSpfAligned: false };
const DMARC = { kind: 'dmarc', id: '1717', day: '2026-11-24', rows: [ROW] };
const XML = dmarcXml();

describe('a DMARC report is read', () => {
  const signs: Readonly<Record<string, string>> = {
    'a sign in an address': 'a<b@reader.example',
    'two signs in an address': 'a<<b@reader.example',
    'a sign at its end': 'dmarc@reader.example<',
    'a sign and a space': 'a < b',
    'a sign, a letter and a space': 'a <b c',
    'an address in brackets': 'Reader <dmarc@reader.example>',
    'a closing sign': 'a>b',
    'an ampersand in a link': 'https://reader.example/?a=1&b=2',
    'a sign in a link': 'https://reader.example/?a=1&b=2<3',
  };
  for (const [name, text] of Object.entries(signs)) {
    test(`with ${name} of the reporter`, async () => {
      const contact = `<email>${text}</email><extra_contact_info>${text}</extra_contact_info>`;
      const xml = XML.replace('<email>dmarc@reader.example</email>', contact);
      expect(await read(mailWith(xml))).toMatchObject({ ...DMARC, organization: 'reader.example' });
    });
    test(`with ${name} of a record`, async () => {
      const reason = `</spf><reason><type>other</type><comment>${text}</comment></reason></policy_evaluated>`;
      const odd = record()
        .replace('</spf></policy_evaluated>', reason)
        .replace('>reader.example<', `>${text}<`);
      expect(await read(mailWith(dmarcXml([odd, record()])))).toMatchObject({ rows: [ROW, ROW] });
    });
  }

  const froms: Readonly<Record<string, readonly [written: string, from: string]>> = {
    'with a From domain in Unicode': ['a.müller.example', 'a.xn--mller-kva.example'],
    'with a From domain that is none': ['no name', 'shop.example'],
    'with a sign in a From domain': ['a<b.shop.example', 'shop.example'],
  };
  for (const [name, [written, from]] of Object.entries(froms))
    test(name, async () => {
      expect(await read(mailWith(dmarcXml([record({ from: written })])))).toMatchObject({
        rows: [{ ...ROW, from }],
      });
    });

  test('with a hundred thousand signs of no tag, and no more', async () => {
    const contact = (signs: number) =>
      XML.replace('</email>', `</email><extra_contact_info>${'<'.repeat(signs)}</extra_contact_info>`);
    expect(await read(mailWith(contact(100_000)))).toMatchObject(DMARC);
    expect(await read(mailWith(contact(100_001)))).toBeNull();
  });

  const octets = (xml: string) => Buffer.from(xml, 'latin1');
  const files: Readonly<Record<string, string | Buffer>> = {
    'with an invalid octet in a name': octets(XML.replace('<org_name>', '<org_name>\x91')),
    'with an invalid octet in a From domain': octets(dmarcXml([record({ from: 'shop\x91.example' })])),
    'with one line for all': XML.replaceAll('\n', ''),
    'below empty lines': `${'\r\n'.repeat(400)}${XML}`,
    'over four days': XML.replace(/<(begin|end)>(\d+)/g, (_, name: string, at: string) => {
      return `<${name}>${Number(at) + (name === 'end' ? 129_600 : -129_600)}`;
    }),
    'without a domain of SPF': dmarcXml([
      record().replace('<domain>bounce.elsewhere.example</domain><scope>mfrom', '<scope>helo'),
    ]),
    'with no identifier but From': dmarcXml([
      record().replace('<envelope_to>reader.example</envelope_to>', ''),
    ]),
    'below a schema that is never closed': dmarcXml([record()], {
      open: '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:x">\n<feedback>',
    }),
  };
  for (const [name, file] of Object.entries(files))
    test(name, async () => expect(await read(mailWith(file))).toMatchObject(DMARC));
});

const base64 = (octets: Uint8Array | string) =>
  Buffer.from(octets).toString('base64').replace(/.{76}/g, '$&\n');
const WORDS = 'Content-Type: text/plain\n\nThis is a report.';
const PACKED = `Content-Type: application/x-gzip\nContent-Transfer-Encoding: base64\n\n${base64(gzipSync(XML))}`;
const mail = (header: string, body: string, more = '') =>
  `From: dmarc@reader.example\nTo: dmarc@send.shop.example\n${more}MIME-Version: 1.0\n${header}\n\n${body}`;
const parts = (type: string, each: readonly string[], more = '', boundary = 'B'): string =>
  mail(
    `Content-Type: ${type}; boundary="${boundary}"`,
    `${each.map((part) => `--${boundary}\n${part}\n`).join('')}--${boundary}--\n`,
    more,
  );
const attached = (message: string) => `Content-Type: message/rfc822\n\n${message}`;
const within = (message: string, boundary: string) =>
  parts('multipart/mixed', [WORDS, attached(message)], '', boundary);
const octetsOf = (message: string) => Buffer.from(message.replaceAll('\n', '\r\n'));

describe('a report is found', () => {
  const whole = parts('multipart/mixed', [WORDS, PACKED]);
  const misspelt = whole.replaceAll('Content-Type:', 'ContentType:');
  const mails: Readonly<Record<string, string>> = {
    'beside the text as an alternative': parts('multipart/alternative', [WORDS, PACKED]),
    'below a misspelt field': misspelt,
    'alone below a misspelt field': mail(...(PACKED.replace('-T', 'T').split('\n\n') as [string, string])),
    'in a mail that was forwarded': within(whole, 'O'),
    'in a mail that was forwarded twice': within(within(whole, 'O'), 'P'),
    'in a mail that was forwarded as the whole': mail('Content-Type: message/rfc822', whole),
    'as XML in the text': mail('Content-Type: text/plain', XML),
    'as XML behind the text': parts('multipart/mixed', [WORDS, `Content-Type: text/plain\n\n${XML}`]),
    'as XML without a name': parts('multipart/mixed', [WORDS, `Content-Type: text/xml\n\n${XML}`]),
    'behind a part without content': parts('multipart/mixed', ['Content-Type: text/plain\n\nunused', PACKED]),
    'behind four pictures': parts('multipart/mixed', [
      WORDS,
      ...Array.from({ length: 4 }, () => 'Content-Type: image/png\n\nx'),
      PACKED,
    ]),
  };
  for (const [name, raw] of Object.entries(mails))
    test(name, async () => expect(await read(octetsOf(raw))).toMatchObject(DMARC));

  const none: Readonly<Record<string, string>> = {
    'where a mail has the word unused': mail('Content-Type: text/plain', 'unused'),
    'where a file has the word unused': parts('multipart/mixed', [
      'Content-Type: application/gzip\n\nunused',
    ]),
    'behind five pictures': parts('multipart/mixed', [
      ...Array.from({ length: 5 }, () => 'Content-Type: image/png\n\nx'),
      PACKED,
    ]),
    'in a mail that was forwarded three times': within(within(within(whole, 'O'), 'P'), 'Q'),
  };
  for (const [name, raw] of Object.entries(none))
    test(`nowhere ${name}`, async () => expect(await read(octetsOf(raw))).toBeNull());
});

describe('a TLS report is read', () => {
  const SUMMARY = { 'total-successful-session-count': 4, 'total-failure-session-count': 0 };
  const of = (policy: object) => ({ policies: [{ policy, summary: SUMMARY }] });
  const POLICY = { domain: 'shop.example', successful: 4, failed: 0, failures: [] };
  const named = { 'policy-type': 'sts', 'policy-domain': 'shop.example' };
  const forms: Readonly<Record<string, object>> = {
    'with a contact that is null': { ...of(named), 'contact-info': null },
    'with a policy in one text': of({
      ...named,
      'policy-string': 'version: STSv1',
      'mx-host': '*.shop.example',
    }),
    'with lists': of({ ...named, 'policy-string': ['version: STSv1'], 'mx-host': ['mx.shop.example'] }),
  };
  for (const [name, form] of Object.entries(forms))
    test(name, async () => {
      expect(await read(mailWith(tlsJson(form)))).toMatchObject({ policies: [POLICY] });
    });

  test('without a domain, where its mail names it', async () => {
    const json = tlsJson(of({ 'policy-type': 'no-policy-found' }));
    const packed = `Content-Type: application/tlsrpt+gzip\nContent-Transfer-Encoding: base64\n\n${base64(gzipSync(json))}`;
    const sent = (more: string) =>
      octetsOf(parts('multipart/report; report-type=tlsrpt', [WORDS, packed], more));
    for (const field of [
      'TLS-Report-Domain: Shop.Example\n',
      'Subject: Report Domain: shop.example Submitter: reader.example Report-ID: <1@reader.example>\n',
    ])
      expect(await read(sent(field))).toMatchObject({ kind: 'tls', policies: [POLICY] });
    expect(await read(sent('Subject: Report\n'))).toBeNull();
  });
});
