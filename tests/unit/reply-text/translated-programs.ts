import type { LabelledReply } from './clients.ts';

const QUOTED = '> Hello,\n> your order 4711 is on its way.';

type Line = readonly [program: string, line: string];

/**
 * The lines above a quotation that real programs write in languages without a row of their own before, or in
 * other words than expected.
 */
const ATTRIBUTIONS: readonly Line[] = [
  ['Thunderbird, Arabic', 'كتب Mira Holt على 14.11.2025 10:32:'],
  ['Thunderbird, Bulgarian', 'На 14.11.2025 в 10:32, Mira Holt написа:'],
  ['Thunderbird, Catalan', 'El 14.11.2025 a les 10:32, Mira Holt ha escrit:'],
  ['Thunderbird, Croatian', '14.11.2025 u 10:32, Mira Holt piše:'],
  ['Thunderbird, Estonian', '14.11.2025 10:32 Mira Holt kirjutas:'],
  ['Thunderbird, Hebrew', 'נכתב על ידי Mira Holt, ב־14.11.2025 בשעה 10:32:'],
  ['Thunderbird, Indonesian', 'Pada 14.11.2025 10:32, Mira Holt menulis:'],
  ['Thunderbird, Korean', '14.11.2025 10:32에 Mira Holt 이(가) 쓴 글:'],
  ['Thunderbird, Latvian', '14.11.2025 10:32 Mira Holt rakstīja:'],
  ['Thunderbird, Lithuanian', '14.11.2025 10:32, Mira Holt rašė:'],
  ['Thunderbird, Nynorsk', 'Den 14.11.2025 10:32, skreiv Mira Holt:'],
  ['Thunderbird, Simplified Chinese', 'Mira Holt 写于 14.11.2025 10:32:'],
  ['Thunderbird, Slovene', 'Mira Holt je 14.11.2025 ob 10:32 napisal:'],
  ['Thunderbird, Thai', 'เมื่อ 14.11.2025 เวลา 10:32 Mira Holt เขียนว่า:'],
  ['Thunderbird, Vietnamese', 'Vào lúc 10:32 14.11.2025, Mira Holt đã viết:'],
  ['Evolution, Czech', 'Mira Holt píše v Fri 14. 11. 2025 v 10:32 +0100:'],
  ['Evolution, Persian', 'روز Fri، 2025-11-14 ساعت 10:32 +0100، Mira Holt نوشت:'],
  ['Evolution, Simplified Chinese', '在 2025-11-14 的 10:32 +0100，Mira Holt写道：'],
  ['Evolution, Traditional Chinese', '於 Fri，2025-11-14 於 10:32 +0100，Mira Holt 提到：'],
  ['Roundcube, Russian', 'Mira Holt писал(а) 2025-11-14 10:32:'],
  ['Roundcube, Serbian', 'Дана 2025-11-14 10:32, Mira Holt написа:'],
  ['Roundcube, Turkish', '2025-11-14 10:32, Mira Holt yazmış:'],
];

const SEPARATORS: readonly Line[] = [
  ['Thunderbird, Finnish', '-------- Alkuperäinen viesti / Orig.Msg. --------'],
  ['Thunderbird, Polish', '--- Treść przekazanej wiadomości ---'],
  ['Thunderbird, Russian', '-------- Перенаправленное сообщение --------'],
  ['Thunderbird, Turkish', '-------- Özgün İleti --------'],
  ['Thunderbird, Ukrainian', '-------- Початкове повідомлення --------'],
  ['Thunderbird, Simplified Chinese', '-------- 原始消息 --------'],
  ['Thunderbird, Vietnamese', '-------- Thư gốc --------'],
  ['Evolution, Danish', '-----Oprindeligt brev-----'],
  ['Evolution, Tamil', '-----மூல செய்தி----'],
  ['Roundcube, French', '-------- Courriel original --------'],
];

const HEADER =
  'Subject: Order\nDate: Fri, 14 Nov 2025 10:32:00 +0100\nFrom: Mira Holt <mira@example.net>\nTo: ada@customer.example';

/** Headers of Outlook: labels of languages in which the whole quotation stayed. */
const HEADERS: readonly Line[] = [
  ['Catalan', 'De: Mira <mira@example.net>\nEnviat: divendres 10:32\nPer a: Ada\nTema: Comanda'],
  ['Bulgarian', 'От: Mira <mira@example.net>\nИзпратено: петък 10:32\nДо: Ada\nОтносно: Order'],
  ['Croatian', 'Šalje: Mira <mira@example.net>\nPoslano: petak 10:32\nPrima: Ada\nPredmet: Order'],
  ['Hebrew', 'מאת: Mira <mira@example.net>\nנשלח: 10:32\nאל: Ada\nנושא: Order'],
  ['Lithuanian', 'Nuo: Mira <mira@example.net>\nIšsiųsta: 10:32\nKam: Ada\nTema: Order'],
  ['Vietnamese', 'Từ: Mira <mira@example.net>\nĐã gửi: 10:32\nĐến: Ada\nChủ đề: Order'],
];

const HTML: readonly Line[] = [
  ['Thunderbird', '<div class="moz-cite-prefix">14.11.2025 10:32, Mira Holt:<br></div>'],
  ['Roundcube', '<p id="v1reply-intro">Di 2025-11-14 10:32 de, şandyar nivîsî:</p>'],
];

type Row = readonly [name: string, text: string | null, html: string | null, own: string];

const ROWS: readonly Row[] = [
  [
    'a text with the signature of OpenPGP',
    `-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\nYes, please.\n- --> to the new address\n\nOn Fri, 14 Nov 2025 at 10:32, Mira Holt wrote:\n${QUOTED}\n\n- -- \nAda\n-----BEGIN PGP SIGNATURE-----\n\niQEzBAEBCgAdFiEE\n=abcd\n-----END PGP SIGNATURE-----\n`,
    null,
    'Yes, please.\n--> to the new address',
  ],
  [
    'the beginning of such a signature in the text of a person',
    'It says\n-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\nand ends there.',
    null,
    'It says\n-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\nand ends there.',
  ],
  [
    'a heading between dashes above lines that are no header',
    'Please order:\n\n---- Samples ----\nSize: 4\nDate: Friday\nTo: Rome',
    null,
    'Please order:\n\n---- Samples ----\nSize: 4\nDate: Friday\nTo: Rome',
  ],
  [
    'Apple Mail, html before and behind a file',
    null,
    '<html><body>Before</body></html>\n<html><body>After</body></html>',
    'Before\nAfter',
  ],
  [
    'Spark, signature',
    null,
    '<div name="messageBodySection">Yes.</div><div name="messageSignatureSection">Ada</div>',
    'Yes.',
  ],
];

export const TRANSLATED_PROGRAMS: readonly LabelledReply[] = [
  ...ATTRIBUTIONS.map(([program, line]): Row => [program, `Yes.\n\n${line}\n${QUOTED}`, null, 'Yes.']),
  ...SEPARATORS.map(
    ([program, line]): Row => [
      `separator of ${program}`,
      `Yes.\n\n${line}\n${HEADER}\n\nHello,`,
      null,
      'Yes.',
    ],
  ),
  ...HEADERS.map(
    ([language, header]): Row => [
      `header of Outlook, ${language}`,
      `Yes.\n\n________________________________\n${header}\n\nHello,`,
      null,
      'Yes.',
    ],
  ),
  ...HTML.map(
    ([program, line]): Row => [
      `html of ${program}, a language without a row`,
      null,
      `<p>Yes.</p>${line}<blockquote type="cite">Hello</blockquote>`,
      'Yes.',
    ],
  ),
  ...ROWS,
].map(([name, text, html, own]) => ({ name, text, html, own }));
