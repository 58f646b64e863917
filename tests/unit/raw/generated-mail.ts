import type { RandomSource } from '../../../src/ops/torture/random.ts';

/** A message as programs write them, and the lines of its header that a server removes. */
export interface GeneratedMail {
  readonly message: Buffer;
  readonly removed: readonly string[];
  readonly hasDate: boolean;
  readonly hasMessageId: boolean;
  readonly hasMimeVersion: boolean;
}

const OWN = [
  'Sender: robot@sender.example',
  'Reply-To: "Help, please" <help@sender.example>',
  `References: ${Array.from({ length: 60 }, (_, at) => `<ref-${at}@forum.example>`).join('\r\n ')}`,
  'In-Reply-To: <ref-59@forum.example>',
  'List-Id: A list <list.sender.example>',
  'List-Unsubscribe: <https://sender.example/u>, <mailto:u@sender.example>',
  'Resent-From: other@else.example',
  'Resent-Date: Fri, 27 Nov 2026 10:00:00 +0000',
  'X-Encoded: =?utf-8?b?R3LDvMOfZQ==?= =?utf-8?q?_more?=',
  'X-Raw: Gr\xfc\xdfe \xe2\x82\xac',
  'X-Folded: one\r\n\ttwo\r\n   three ',
  'x-lower:no space',
  'X-Empty:',
  'DKIM-Signature: v=1; a=rsa-sha256; d=else.example; s=s; h=from; bh=x; b=y',
  'ARC-Seal: i=1; a=rsa-sha256; d=else.example; s=s; cv=none; b=y',
  'Received: from a (b [192.0.2.1]) by c with ESMTP id 1; Fri, 27 Nov 2026 10:00:00 +0000',
  'Auto-Submitted: auto-generated',
  'Disposition-Notification-To: <shop@sender.example>',
  'Keywords: a, b',
  'Comments: (a comment\r\n that goes on)',
];
const REMOVED = [
  'Bcc: hidden@else.example,\r\n another@else.example',
  'Return-Path: <bounce@else.example>',
  'X-Svc-Tag: order:1842',
  'Idempotency-Key: k-1',
  'DKIM-Signature: v=1; a=rsa-sha256;\r\n d=sender.example; s=s; h=from; bh=x; b=y',
];
const FILE_NAMES = ['a/b.pdf', 'scan.pdf', 'Rechnung=20f=FCr.pdf', '', '..'];

/** A random message, with the fields that leave it and those that have to be added. */
export function generatedMail(random: RandomSource): GeneratedMail {
  const isSometimes = (share: number): boolean => random.next() < share;
  const removed = REMOVED.filter(() => isSometimes(0.2));
  const [hasDate, hasMessageId] = [isSometimes(0.8), isSometimes(0.8)];
  const body = bodyOf(random, 0);
  const isMime = body.header.length > 0;
  const hasMimeVersion = isMime && isSometimes(0.8);
  const fields = [
    'From: "Shop" <shop@sender.example>',
    isSometimes(0.9) ? 'To: Ada <ada@else.example>,\r\n bob@else.example' : 'To: undisclosed-recipients:;',
    ...(isSometimes(0.9) ? ['Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?='] : []),
    ...(hasDate ? ['Date: Fri, 27 Nov 2026 10:00:00 +0100 (CET)'] : []),
    ...(hasMessageId ? ['Message-ID:\r\n <thread-7@forum.example>'] : []),
    ...(hasMimeVersion ? ['Mime-Version: 1.0 (by hand)'] : []),
    ...body.header,
    ...OWN.filter(() => isSometimes(0.3)),
    ...removed,
  ];
  for (let at = fields.length - 1; at > 0; at--) {
    const other = random.between(0, at);
    [fields[at], fields[other]] = [fields[other] ?? '', fields[at] ?? ''];
  }
  const message = Buffer.from(`${fields.join('\r\n')}\r\n\r\n${body.content}`, 'latin1');
  return { message, removed, hasDate, hasMessageId, hasMimeVersion: hasMimeVersion || !isMime };
}

interface Body {
  readonly header: readonly string[];
  /** It ends with a line end. */
  readonly content: string;
}

function bodyOf(random: RandomSource, depth: number): Body {
  const kind = depth > 2 ? random.between(0, 7) : random.between(0, 12);
  const type = (value: string, encoding?: string): readonly string[] => [
    `Content-Type: ${value}`,
    ...(encoding === undefined ? [] : [`Content-Transfer-Encoding: ${encoding}`]),
  ];
  const base64 = Buffer.from('file '.repeat(random.between(1, 60))).toString('base64');
  const wrapped = `${base64.replace(/.{76}/g, '$&\r\n')}\r\n`;
  switch (kind) {
    case 0:
      return { header: [], content: 'Plain text.\r\n.\r\n..dots\r\n-- \r\nFrom here\r\n\r\n\r\n' };
    case 1:
      return {
        header: type('text/plain; format=flowed; charset=iso-8859-1', '8bit'),
        content: 'Gr\xfc\xdfe \r\n',
      };
    case 2:
      return {
        header: type('text/html; charset="utf-8"', 'quoted-printable'),
        content: '<p>=C3=BC=\r\n</p> =20\r\n',
      };
    case 3:
      return {
        header: type('text/calendar; charset=utf-8; method=REQUEST; name="invite.ics"', '7bit'),
        content: 'BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n',
      };
    case 4: {
      const name = random.pick(FILE_NAMES);
      return {
        header: [
          ...type(`application/pdf; name="${name}"; x-unix-mode=0644`, 'base64'),
          `Content-Disposition: attachment; filename*=utf-8''${name};\r\n size=12`,
        ],
        content: wrapped,
      };
    }
    case 5:
      return {
        header: [...type('image/png', 'base64'), 'Content-ID: <logo@sender.example>'],
        content: wrapped,
      };
    case 6:
      return {
        header: type('text/x-amp-html; charset=utf-8'),
        content: '<!doctype html><html \xe2\x9a\xa14email>\r\n',
      };
    case 7:
      return {
        header: type('message/rfc822'),
        content: 'From: a@else.example\r\nBcc: b@else.example\r\n\r\nx\r\n',
      };
    case 8:
      return {
        header: type('text/plain; charset=unknown-8bit', 'x-uuencode'),
        content: 'begin 644 a\r\n\xff\r\nend\r\n',
      };
    default:
      return multipart(random, depth);
  }
}

function multipart(random: RandomSource, depth: number): Body {
  const boundary = `=_${depth}.${random.between(1, 9_999)}`;
  const kind = random.pick([
    'mixed',
    'alternative',
    'related; type="text/html"',
    'report; report-type=delivery-status',
    'signed; micalg=pgp-sha256',
  ]);
  const parts = Array.from({ length: random.between(1, 4) }, () => bodyOf(random, depth + 1));
  const preamble = random.pick(['', 'This is a message in MIME format.\r\n', `--${boundary}x\r\n`]);
  const written = parts.map(
    ({ header, content }) =>
      `--${boundary}\r\n${header.map((one) => `${one}\r\n`).join('')}\r\n${content}\r\n`,
  );
  return {
    header: [`Content-Type: multipart/${kind};\r\n boundary="${boundary}"`],
    content: `${preamble}${written.join('')}--${boundary}--\r\n${random.pick(['', 'epilogue \r\n'])}`,
  };
}
