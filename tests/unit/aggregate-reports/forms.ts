/** Reports in the forms that mail servers write. All numbers, names and addresses are invented. */

export const NOW = Date.parse('2026-11-26T09:00:00Z');
/** 2026-11-24, in seconds. */
const BEGIN = Date.parse('2026-11-24T00:00:00Z') / 1_000;

export interface RecordParts {
  readonly source?: string;
  readonly count?: string;
  readonly disposition?: string;
  readonly dkim?: string;
  readonly spf?: string;
  readonly from?: string;
}

/** A record of a DMARC report. */
export const record = (parts: RecordParts = {}): string => {
  const { source = '192.0.2.25', count = '3', disposition = 'none' } = parts;
  const { dkim = 'pass', spf = 'fail', from = 'shop.example' } = parts;
  return `<record><row><source_ip>${source}</source_ip><count>${count}</count>
<policy_evaluated><disposition>${disposition}</disposition><dkim>${dkim}</dkim><spf>${spf}</spf></policy_evaluated></row>
<identifiers><envelope_to>reader.example</envelope_to><header_from>${from}</header_from></identifiers>
<auth_results><dkim><domain>shop.example</domain><selector>s1</selector><result>pass</result></dkim>
<spf><domain>bounce.elsewhere.example</domain><scope>mfrom</scope><result>pass</result></spf></auth_results></record>`;
};

export interface HeadParts {
  readonly id?: string;
  readonly domain?: string;
  readonly begin?: number;
  readonly policy?: string;
  readonly open?: string;
  readonly close?: string;
}

/** A DMARC report as RFC 7489 has it. */
export const dmarcXml = (records: readonly string[] = [record()], parts: HeadParts = {}): string => {
  const {
    id = '1717',
    domain = 'shop.example',
    begin = BEGIN,
    policy = '<p>none</p><sp>none</sp><pct>100</pct>',
  } = parts;
  const { open = '<feedback>', close = '</feedback>' } = parts;
  return `<?xml version="1.0" encoding="UTF-8" ?>
${open}<version>1.0</version><report_metadata><org_name>reader.example</org_name><email>dmarc@reader.example</email>
<report_id>${id}</report_id><date_range><begin>${begin}</begin><end>${begin + 86_399}</end></date_range></report_metadata>
<policy_published><domain>${domain}</domain><adkim>r</adkim><aspf>r</aspf>${policy}</policy_published>
${records.join('\n')}
${close}`;
};

/** A TLS report (RFC 8460). */
export const tlsJson = (more: object = {}): string =>
  JSON.stringify({
    'organization-name': 'Reader',
    'date-range': { 'start-datetime': '2026-11-24T00:00:00Z', 'end-datetime': '2026-11-24T23:59:59Z' },
    'contact-info': 'tls@reader.example',
    'report-id': '2026-11-24@reader.example',
    policies: [
      {
        policy: { 'policy-type': 'sts', 'policy-domain': 'shop.example', 'mx-host': ['mx.shop.example'] },
        summary: { 'total-successful-session-count': 40, 'total-failure-session-count': 5 },
        'failure-details': [
          { 'result-type': 'certificate-expired', 'sending-mta-ip': '192.0.2.9', 'failed-session-count': 3 },
          { 'result-type': 'something-new', 'failed-session-count': 2 },
        ],
      },
    ],
    ...more,
  });

/** A mail with one file. */
export const mailWith = (
  file: Uint8Array | string,
  type = 'application/octet-stream',
  name = 'report',
): Buffer =>
  Buffer.from(
    [
      'From: Reports <dmarc@reader.example>',
      'To: dmarc@send.shop.example',
      'Subject: Report domain: shop.example Submitter: reader.example Report-ID: 1717',
      'Message-ID: <1717@reader.example>',
      'Date: Wed, 25 Nov 2026 04:00:00 +0000',
      'MIME-Version: 1.0',
      `Content-Type: ${type}; name="${name}"`,
      `Content-Disposition: attachment; filename="${name}"`,
      'Content-Transfer-Encoding: base64',
      '',
      ...(Buffer.from(file)
        .toString('base64')
        .match(/.{1,76}/g) ?? []),
      '',
    ].join('\r\n'),
  );
