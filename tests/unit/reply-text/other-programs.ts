import type { LabelledReply } from './clients.ts';

const QUOTED = '> Hello,\n> your order 4711 is on its way.';

type Row = readonly [name: string, text: string, own: string];

/** Shapes that public test suites of other readers have and ours had not, in words of ours. */
const TEXTS: readonly Row[] = [
  [
    'Gmail, wrapped before the bracket of a long address',
    `Takk!\n\ntir. 18. nov. 2025 kl. 13:09 skrev Mira Holt <mira.holt.of.the.warehouse@example.net\n>:\n\n${QUOTED}`,
    'Takk!',
  ],
  [
    'Gmail, wrapped before the bracket and the verb',
    `Thanks.\n\nOn Fri, Nov 14, 2025 at 10:32 AM Mira Holt <mira.holt.of.the.warehouse@example.net\n> wrote:\n\n${QUOTED}`,
    'Thanks.',
  ],
  [
    'GroupWise, a quotation without marks',
    'Fine.\n\n>>> Mira Holt <mira@example.net> 14.11.2025 10:32 >>>\nHello,\nyour order 4711 is on its way.',
    'Fine.',
  ],
  ['Nextcloud', `Fine.\n\n"Mira Holt" mira@example.net – 14. November 2025 10:32\n${QUOTED}`, 'Fine.'],
  [
    'Freshdesk, a date without a year',
    'Fine.\n\nOn Fri, 14 Nov at 10:32 AM , Mira Holt <mira@example.net> wrote:\nHello,\nyour order is on its way.',
    'Fine.',
  ],
  [
    'HEY, a date without a time',
    'Fine.\n\nOn November 14, 2025, Mira Holt <mira@example.net> wrote:\n\nHello,\nyour order is on its way.',
    'Fine.',
  ],
  [
    'Yahoo of old, an attribution above a header',
    'Fine.\n\n--- On Fri, 11/14/25, Mira Holt <mira@example.net> wrote:\n\n\nFrom: Mira Holt <mira@example.net>\nSubject: Order\nTo: jon@example.org\nDate: Friday, November 14, 2025, 10:32 AM\n\nHello.',
    'Fine.',
  ],
  [
    'a date without a year and a time, wrapped',
    `Fine.\n\nOn Fri, Nov 14, Mira Holt\n<mira@example.net>\nwrote:\n${QUOTED}`,
    'Fine.',
  ],
  [
    'BlueMail, which begins with an invisible character',
    `Fine.\n\n\u2063Get BlueMail for Android\n\nOn 14 Nov 2025, at 10:32, Mira Holt <mira@example.net> wrote:\n${QUOTED}`,
    'Fine.',
  ],
  [
    'Superhuman',
    `Fine.\n\nSent via Superhuman\n\nOn Fri, Nov 14, 2025 at 10:32 AM, Mira Holt <mira@example.net> wrote:\n\n${QUOTED}`,
    'Fine.',
  ],
  [
    'Roundcube and Horde, links of the quotation',
    `Fine.\nThanks.\n\nOn 2025-11-14 10:32, Mira Holt wrote:\n\n> Hello, read [1] or leave [2].\n\n\n\nLinks:\n------\n[1] https://shop.example/news?x=1&amp;y=2\n[2] https://shop.example/off\n`,
    'Fine.\nThanks.',
  ],
  [
    'Horde in German, links of the quotation above the answer',
    `Zitat von Mira Holt <mira@example.net>:\n\n> Hello, read [1].\n\nPasst.\n\nVerknüpfungen:\n--------------\n[1] https://shop.example/news`,
    'Passt.',
  ],
  [
    'Roundcube, a link of the answer',
    `See our page [1].\n\nOn 2025-11-14 10:32, Mira Holt wrote:\n\n${QUOTED}\n\nLinks:\n------\n[1] https://jon.example/`,
    'See our page [1].\n\nLinks:\n------\n[1] https://jon.example/',
  ],
  [
    'a list of the person below a quotation',
    `${QUOTED}\n\nWhat is missing:\n---\n[1] lamp\n[2] table`,
    `What is missing:\n---\n[1] lamp\n[2] table`,
  ],
  [
    'Gmail, date and address without a verb',
    `Gracias.\n\n2025-11-14 10:32 GMT+01:00 Mira Holt <mira@example.net>:\n\n${QUOTED}`,
    'Gracias.',
  ],
  [
    'Gmail, date and address without a verb and a colon',
    `Fine.\n\n2025/11/14 Mira Holt <mira@example.net>\n\n${QUOTED}`,
    'Fine.',
  ],
  [
    'Zoho, attribution between dashes',
    'It works.\n\n---- On Fri, 14 Nov 2025 10:32:36 +0530 Mira Holt <mira@example.net> wrote ----\n\nHello,\nyour order is on its way.',
    'It works.',
  ],
  [
    'Zoho, attribution with entities',
    'It works.\n\n---- On Fri, 14 Nov 2025 10:32:36 +0530 Mira Holt&lt;mira@example.net&gt; wrote ----\n\nHello.',
    'It works.',
  ],
  [
    'attribution without a colon',
    'It works.\n\nOn Fri, 14 Nov 2025 10:32:43 -0200 Mira Holt <mira@example.net> wrote\n> Hello.',
    'It works.',
  ],
  [
    'Orange, header below a rule',
    'Bien reçu.\n\n====\n\nMessage du : 14/11/2025 10:32\nDe : "Mira Holt" <mira@example.net>\nA : jon@example.org\nCopie à :\nSujet : Commande\n\nBonjour.',
    'Bien reçu.',
  ],
  [
    'Samsung, Danish separator',
    'Tak.\n\n-------- Oprindelig besked --------\nFra: Mira Holt <mira@example.net>\nDato: 14.11.2025 10.32 (GMT+01:00)\nTil: jon@example.org\nEmne: Ordre\n',
    'Tak.',
  ],
  [
    'Hotmail, header that begins with the date below a rule',
    'All fine.\n\n---\n\nDate: Fri, 14 Nov 2025 10:32:45 +0400\nSubject: Order\nFrom: mira@example.net\nTo: jon@example.org\n\nHello.',
    'All fine.',
  ],
  [
    'Outlook 2003, header of Outlook below a rule',
    'All fine.\n\n---\n\nFrom: Mira Holt [mailto:mira@example.net]\nSent: Friday, November 14, 2025 10:32 AM\nTo: Jon Abel\nSubject: Order\n\nHello.',
    'All fine.',
  ],
  [
    'the mark of a counter of openings',
    `All fine.\nᐧ\n\nOn Fri, Nov 14, 2025 at 10:32 AM Mira Holt <mira@example.net> wrote:\n\n${QUOTED}`,
    'All fine.',
  ],
  ['Airmail', 'All fine.\n\nSent with Airmail', 'All fine.'],
  [
    'Mail of Windows as Markdown',
    'All fine.\n\nSent from [Mail](https://go.microsoft.com/fwlink/?LinkId=550986) for Windows 10',
    'All fine.',
  ],
  // Lines of people themselves stay.
  [
    'a list below a short rule',
    'My plan:\n\n---\nDate: Friday\nTo: Rome\n---\nShall we?',
    'My plan:\n\n---\nDate: Friday\nTo: Rome\n---\nShall we?',
  ],
  ['rules of equals signs', 'Part one\n====\nPart two\n====', 'Part one\n====\nPart two\n===='],
  [
    'a date and an address in the text',
    '2025/11/14 Mira <mira@example.net>\nis the one to ask.',
    '2025/11/14 Mira <mira@example.net>\nis the one to ask.',
  ],
  [
    'a sentence about a message',
    'Hi,\n\nOn 12/11/2026 at 10:15 bob@x.example wrote\nthat the invoice is wrong.\n\nAnna',
    'Hi,\n\nOn 12/11/2026 at 10:15 bob@x.example wrote\nthat the invoice is wrong.\n\nAnna',
  ],
  [
    'an own header below a short rule',
    '===\nTo: Anna, anna@x.example\nFrom: Bob\nDate: tomorrow\nand call me.',
    '===\nTo: Anna, anna@x.example\nFrom: Bob\nDate: tomorrow\nand call me.',
  ],
  [
    'a sentence with a date and no address',
    'Fine.\n\nOn November 14, 2025 Mira wrote:\nall is well.',
    'Fine.\n\nOn November 14, 2025 Mira wrote:\nall is well.',
  ],
  ['a verb at the end', 'On Friday Mira wrote\nthat it is fine.', 'On Friday Mira wrote\nthat it is fine.'],
];

const HTML: readonly Row[] = [
  [
    'HEY, the attribution within the quotation',
    '<div>Fine.</div><blockquote>On November 14, 2025, Mira Holt &lt;mira@example.net&gt; wrote:<br><div>Hello.</div></blockquote>',
    'Fine.',
  ],
  [
    'Nextcloud',
    '<p>Fine.</p><p></p><div class="quote">"Mira Holt" mira@example.net – November 14, 2025 10:32 AM<br><blockquote><p>Hello.</p></blockquote></div>',
    'Fine.',
  ],
  [
    'Yandex, attribution of date and address',
    '<div>All fine.</div><div>14.11.2025, 10:32, "Mira Holt" &lt;mira@example.net&gt;:</div><blockquote type="cite"><p>Hello.</p></blockquote>',
    'All fine.',
  ],
  [
    'Hotmail, header below a rule',
    '<div>All fine.<br><br><div><hr>Date: Fri, 14 Nov 2025 10:32:45 +0400<br>Subject: Order<br>From: mira@example.net<br>To: jon@example.org<br><br>Hello.</div></div>',
    'All fine.',
  ],
];

export const OTHER_PROGRAMS: readonly LabelledReply[] = [
  ...TEXTS.map(([name, text, own]) => ({ name, text, html: null, own })),
  ...HTML.map(([name, html, own]) => ({ name: `html of ${name}`, text: null, html, own })),
];
