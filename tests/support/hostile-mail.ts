import { gzipSync } from 'node:zlib';
import { zipSync } from 'fflate';

// Mail that a stranger writes to use up time or memory, or to have an effect where it is read. Each is made
// when it is asked for.

const CRLF = '\r\n';

const HEAD = [
  'From: Eve <eve@stranger.example>',
  'To: support@acme.example',
  'Subject: Hello',
  'Date: Sun, 29 Nov 2026 10:00:00 +0000',
];

/** A message of a header and a body. */
const mail = (fields: readonly string[], body: string | readonly string[]): Buffer =>
  Buffer.from(
    [...HEAD, ...fields, '', ...(typeof body === 'string' ? [body] : body), ''].join(CRLF),
    'latin1',
  );

const MIXED = ['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=b'];

const base64 = (octets: Uint8Array): string =>
  Buffer.from(octets).toString('base64').replace(/.{76}/g, `$&${CRLF}`);

/** A message with these parts, each given as its lines. */
const parts = (each: readonly (readonly string[])[]): Buffer =>
  mail(MIXED, [...each.flatMap((lines) => ['--b', ...lines]), '--b--']);

const file = (name: string, content: string = 'aGVsbG8='): readonly string[] => [
  `Content-Type: application/octet-stream; name="${name}"`,
  `Content-Disposition: attachment; filename="${name}"`,
  'Content-Transfer-Encoding: base64',
  '',
  content,
];

const html = (content: string): Buffer =>
  mail(['MIME-Version: 1.0', 'Content-Type: text/html; charset=utf-8'], content.replaceAll('\n', CRLF));

function levels(
  depth: number,
  type: (level: number) => string,
  delimiter: (level: number) => string,
): Buffer {
  const lines: string[] = [];
  for (let level = 0; level < depth; level++)
    lines.push(`Content-Type: ${type(level)}`, '', delimiter(level));
  return mail(['MIME-Version: 1.0', ...lines.slice(0, 1)], [...lines.slice(2), '', 'Deep down', '']);
}

const MIB = 1_048_576;
/** A zip of a zip of a zip of a text that packs well. */
const zipInZip = (): Uint8Array => {
  let inner: Uint8Array = Buffer.alloc(4 * MIB);
  for (let depth = 0; depth < 6; depth++) inner = zipSync({ [`level-${depth}.zip`]: inner });
  return inner;
};

/** Entities that stand for others: a thousand words where they are expanded. */
const ENTITIES = `<?xml version="1.0"?><!DOCTYPE feedback [<!ENTITY a "word "><!ENTITY b "${'&a;'.repeat(10)}">
<!ENTITY c "${'&b;'.repeat(10)}"><!ENTITY d "${'&c;'.repeat(10)}"><!ENTITY e SYSTEM "file:///etc/hostname">]>
<feedback><report_metadata><org_name>&d;&e;</org_name><report_id>1</report_id></report_metadata></feedback>`;

/**
 * Everything that acts where html is opened. Each would set the title of the page, or ask for the address.
 */
export const ACTIVE_HTML = `<base href="https://stranger.example/"><meta http-equiv="refresh" content="0;url=https://stranger.example/meta">
<link rel="stylesheet" href="https://stranger.example/style.css"><style>@import "https://stranger.example/import.css"; body { background: url(https://stranger.example/css.png) }</style>
<script>parent.document.title='taken'</script><script src="https://stranger.example/script.js"></script>
<h1>Hello support</h1><img src=x onerror="parent.document.title='taken'"><body onload="parent.document.title='taken'">
<svg onload="parent.document.title='taken'"><script>parent.document.title='taken'</script><animate onbegin="parent.document.title='taken'" attributeName=x /></svg>
<math><a xlink:href="javascript:parent.document.title='taken'">math</a></math>
<iframe src="javascript:parent.document.title='taken'"></iframe><iframe srcdoc="<script>top.document.title='taken'</script>"></iframe>
<object data="https://stranger.example/object"></object><embed src="https://stranger.example/embed"><applet code="a"></applet>
<form action="https://stranger.example/form"><input autofocus onfocus="parent.document.title='taken'"><button formaction="javascript:1">Go</button></form>
<a href="javascript:parent.document.title='taken'">a link</a><a href="data:text/html,<script>1</script>">data</a>
<video poster="https://stranger.example/poster.png" onloadstart="parent.document.title='taken'"><source src="https://stranger.example/video"></video>
<audio src="https://stranger.example/audio" autoplay></audio><details open ontoggle="parent.document.title='taken'"><summary>more</summary></details>
<marquee onstart="parent.document.title='taken'">m</marquee><template><script>parent.document.title='taken'</script></template>
<noscript><p title="</noscript><img src=x onerror=parent.document.title='taken'>"></noscript>`;

/** Names of files that would leave a folder, hide their kind or end a header. */
export const HOSTILE_NAMES = [
  '../../../../etc/cron.d/eve',
  '..\\\\..\\\\windows\\\\eve.exe',
  '/etc/passwd',
  'C:\\\\eve.exe',
  'invoice\u202efdp.exe',
  'a\tb.txt',
  '.',
  '..',
  `${'a'.repeat(2_000)}.txt`,
  'CON',
];

/** A hostile message, made when it is sent. */
export interface HostileMail {
  readonly make: () => Buffer;
  /** The beginning of the reply to the end of the message. */
  readonly reply: '250' | '550 5.5.2' | '552 5.3.4' | '554 5.4.6';
  /** True for one to the address of aggregate reports. */
  readonly isReport?: boolean;
}

const taken = (make: () => Buffer): HostileMail => ({ make, reply: '250' });
const report = (name: string, type: string, content: () => Uint8Array): HostileMail => ({
  isReport: true,
  reply: '250',
  make: () =>
    mail(
      [
        'MIME-Version: 1.0',
        `Content-Type: ${type}; name="${name}"`,
        `Content-Disposition: attachment; filename="${name}"`,
        'Content-Transfer-Encoding: base64',
      ],
      base64(content()),
    ),
});
const REPORT = 'stranger.example!acme.example!1764374400!1764460800.xml';

/** The messages by name. */
export const HOSTILE_MAIL: Readonly<Record<string, HostileMail>> = {
  '10,000 parts': taken(() => parts(Array.from({ length: 10_000 }, () => ['', 'x']))),
  '9,990 parts, which are still read': taken(() => parts(Array.from({ length: 9_990 }, () => ['', 'x']))),
  '9,990 files': taken(() => parts(Array.from({ length: 9_990 }, (_, n) => file(`${n}.bin`)))),
  '100 levels of parts': taken(() =>
    levels(
      100,
      (level) => `multipart/mixed; boundary=b${level}`,
      (level) => `--b${level}`,
    ),
  ),
  '100 levels of messages': taken(() =>
    levels(
      100,
      () => 'message/rfc822',
      () => `From: eve@stranger.example${CRLF}Subject: Inner`,
    ),
  ),
  '1,000 levels of delimiters that begin like each other': taken(() =>
    levels(
      1_000,
      (level) => `multipart/mixed; boundary=${'b'.repeat(1 + (level % 60))}`,
      (level) => `--${'b'.repeat(1 + (level % 60))}`,
    ),
  ),
  'a zip in a zip in a zip': taken(() => parts([file('levels.zip', base64(zipInZip()))])),
  'names of files that leave their folder': taken(() => parts(HOSTILE_NAMES.map((name) => file(name)))),
  'a report of entities': report(`${REPORT}.gz`, 'application/gzip', () => gzipSync(ENTITIES)),
  'a report that unpacks to 100 MiB': report(`${REPORT}.gz`, 'application/gzip', () =>
    gzipSync(Buffer.alloc(100 * MIB, ' ')),
  ),
  'a report that is a zip in a zip': report(`${REPORT}.zip`, 'application/zip', zipInZip),
  'a report of 1,000,000 elements': report(`${REPORT}.gz`, 'application/gzip', () =>
    gzipSync(`<feedback>${'<record></record>'.repeat(1_000_000)}</feedback>`),
  ),
  'a header of 1 MiB in one field': {
    reply: '552 5.3.4',
    make: () => mail([`X-Long: ${`${'a'.repeat(900)}${CRLF} `.repeat(1_165)}`], 'x'),
  },
  'a header of 1 MiB in 30,000 fields': {
    reply: '552 5.3.4',
    make: () =>
      mail(
        Array.from({ length: 30_000 }, (_, n) => `X-Field-${n}: ${'a'.repeat(20)}`),
        'x',
      ),
  },
  'a header of 250 KiB of addresses': taken(() =>
    mail([`Cc: ${Array.from({ length: 9_000 }, (_, n) => `a${n}@stranger.example`).join(`,${CRLF} `)}`], 'x'),
  ),
  'a header of 250 KiB of brackets': taken(() =>
    mail([`Cc: ${`${'('.repeat(900)}${CRLF} `.repeat(270)}`], 'x'),
  ),
  'a header of 250 KiB of quotes': taken(() =>
    mail([`Cc: ${`${'"<'.repeat(450)}${CRLF} `.repeat(270)}`], 'x'),
  ),
  'a header of 250 KiB of groups': taken(() =>
    mail([`Cc: ${`${'a:;,'.repeat(225)}${CRLF} `.repeat(270)}`], 'x'),
  ),
  'a header of 250 KiB of encoded words': taken(() =>
    mail([`X-Words: ${`${'=?utf-8?B?YQ==?= '.repeat(50)}${CRLF} `.repeat(290)}`], 'x'),
  ),
  'a header of 250 KiB of references': taken(() =>
    mail(
      [`References: ${Array.from({ length: 8_000 }, (_, n) => `<${n}@stranger.example>`).join(`${CRLF} `)}`],
      'x',
    ),
  ),
  '1,000 signatures': taken(() =>
    mail(
      Array.from(
        { length: 1_000 },
        (_, n) =>
          `DKIM-Signature: v=1; a=rsa-sha256; d=stranger.example; s=s${n}; h=from; l=${n}; bh=YQ==; b=YQ==`,
      ),
      'x'.repeat(900),
    ),
  ),
  '51 Received fields': {
    reply: '554 5.4.6',
    make: () =>
      mail(
        Array.from({ length: 51 }, (_, n) => `Received: from a by b${n}; Sun, 29 Nov 2026 10:00:00 +0000`),
        'x',
      ),
  },
  'a line that ends with LF alone': {
    reply: '550 5.5.2',
    make: () => Buffer.concat([mail([], 'x'), Buffer.from('.\nMAIL FROM:<eve@stranger.example>\r\n')]),
  },
  'html with every active thing': taken(() => html(ACTIVE_HTML)),
  'html of 50,000 open elements': taken(() => html('<div>\n'.repeat(50_000))),
  'html of 100,000 attributes': taken(() => html(`<a ${'b=c\n'.repeat(100_000)}>`)),
  'html of 8 MiB of unclosed comments': taken(() => html('<!--<a \n'.repeat(MIB))),
  'a text of 900,000 lines': taken(() => mail([], `a${CRLF}`.repeat(900_000))),
  'a text of 900,000 quoted lines': taken(() => mail([], `>${CRLF}`.repeat(900_000))),
  'a text of 12,000 beginnings of quotations': taken(() =>
    mail([], `On Sun, 29 Nov 2026 at 10:00, Eve <eve@stranger.example>${CRLF}`.repeat(12_000)),
  ),
  'a text of 16 MiB of soft breaks': taken(() =>
    mail(['Content-Transfer-Encoding: quoted-printable'], `${'= '.repeat(400)}=${CRLF}`.repeat(20_000)),
  ),
  'a file of 24 MiB': taken(() => parts([file('large.bin', `${'QUJD'.repeat(19)}${CRLF}`.repeat(320_000))])),
};
