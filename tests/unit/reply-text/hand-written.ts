import type { LabelledReply } from './clients.ts';

const QUOTED = '> Hello,\n> your order 4711 is on its way.\n> Regards, Mira';
const BLOCK = [
  'From: Mira Holt <mira.holt@example.net>',
  'Sent: Friday, November 14, 2025 10:32 AM',
  'To: Jon Abel <jon.abel@example.org>',
  'Subject: Order 4711',
].join('\n');

type Row = readonly [name: string, text: string, own: string];

const BEGUN_BY_TIME = (from: string): string =>
  `Gesendet: Montag, 30. November 2026 um 09:00 Uhr\nVon: ${from}\nAn: jon.abel@example.org\nBetreff: Bestellung 4711\n\nGuten Tag, sie ist unterwegs.`;

/** Other programs, and text of people that resembles a mark. */
const TEXTS: readonly Row[] = [
  ['no quotation at all', 'Please call me back.\n\nJon', 'Please call me back.\n\nJon'],
  [
    'Yahoo, attribution without quotation marks',
    'All fine now.\n\n   On Friday, November 14, 2025 at 10:32:00 AM GMT+1, Mira Holt <mira.holt@example.net> wrote:  \n \n Hello,\n your order is on its way.',
    'All fine now.',
  ],
  [
    'Yahoo on Android',
    'Done.\n\nSent from Yahoo Mail on Android \n \n  On Fri, 14 Nov 2025 at 10:32, Mira Holt<mira.holt@example.net> wrote:   Hello,\n> your order is on its way.',
    'Done.',
  ],
  [
    'Proton, separator and attribution',
    `Received it.\n\nSent with [Proton Mail](https://proton.me/) secure email.\n\n------- Original Message -------\nOn Friday, November 14th, 2025 at 10:32 AM, Mira Holt <mira.holt@example.net> wrote:\n\n${QUOTED}`,
    'Received it.',
  ],
  [
    'Proton, attribution alone',
    `Received it.\n\nOn Friday, November 14th, 2025 at 10:32 AM, Mira Holt <mira.holt@example.net> wrote:\n\n${QUOTED}`,
    'Received it.',
  ],
  [
    'GMX and WEB.DE, with the time first',
    `Danke!\n \n${BEGUN_BY_TIME('"Mira Holt" <mira.holt@example.net>')}`,
    'Danke!',
  ],
  ['the same with a name alone', `Danke!\n\n${BEGUN_BY_TIME('Mira Holt')}`, 'Danke!'],
  [
    'mutt, attribution without a date',
    `Mira Holt <mira.holt@example.net> writes:\n${QUOTED}\n\nAgreed.`,
    'Agreed.',
  ],
  ['name alone', `Mira Holt wrote:\n${QUOTED}\n\nAgreed.`, 'Agreed.'],
  ['quotation without an attribution', '> Shall we ship it?\n\nYes, please.', 'Yes, please.'],
  [
    'two questions answered, without an attribution',
    '> Shall we ship it?\nYes.\n> To the old address?\nNo, to the new one.',
    'Yes.\n\nNo, to the new one.',
  ],
  [
    'nested quotation',
    `Thanks.\n\nOn Nov 14, 2025, at 10:32, Mira <mira@example.net> wrote:\n\n>> First.\n>\n> Second.`,
    'Thanks.',
  ],
  [
    'the answer is only in the quotation of the last line',
    `On Fri, Nov 14, 2025 at 10:32 AM Mira Holt <mira.holt@example.net> wrote:\n\n${QUOTED}\n\nStop writing to me.`,
    'Stop writing to me.',
  ],
  [
    'an empty answer above a quotation',
    `On Fri, Nov 14, 2025 at 10:32 AM Mira Holt <m@example.net> wrote:\n\n${QUOTED}`,
    '',
  ],
  ['a message of quoted lines alone', '> yes', '> yes'],
  ['a message of a signature alone', '-- \nJon Abel', '-- \nJon Abel'],
  [
    'text of the person that ends in wrote:',
    'I asked the carrier. This is what they wrote:\nthe parcel is lost.\n\nPlease refund me.',
    'I asked the carrier. This is what they wrote:\nthe parcel is lost.\n\nPlease refund me.',
  ],
  [
    'text of the person with a date, a time and wrote:',
    'On 14.11.2025 at 10:15 you wrote:\nthat it would arrive today. It did not.',
    'On 14.11.2025 at 10:15 you wrote:\nthat it would arrive today. It did not.',
  ],
  [
    'travel dates with From: and To:',
    'Please book for me:\nFrom: Oslo\nTo: Bergen\nDate: 14 November\nReturn: 16 November',
    'Please book for me:\nFrom: Oslo\nTo: Bergen\nDate: 14 November\nReturn: 16 November',
  ],
  [
    'a rule of underscores',
    'First part\n____________________\nSecond part',
    'First part\n____________________\nSecond part',
  ],
  [
    'a rule of hyphens',
    'First part\n--------------------\nSecond part',
    'First part\n--------------------\nSecond part',
  ],
  [
    'two hyphens as a rule above a long text',
    `Items:\n--\n${Array.from({ length: 14 }, (_, at) => `item ${at}`).join('\n')}`,
    `Items:\n--\n${Array.from({ length: 14 }, (_, at) => `item ${at}`).join('\n')}`,
  ],
  [
    'two hyphens as rules around a short text',
    'We take:\n\n--\n2 lamps\n1 table\n--\n\nWhen do they come?',
    'We take:\n\n--\n2 lamps\n1 table\n--\n\nWhen do they come?',
  ],
  [
    'two hyphens as a rule above an exact signature',
    'First part\n--\nSecond part\n\n-- \nJon Abel',
    'First part\n--\nSecond part',
  ],
  ['a trimmed signature', 'Fine with me.\n\n--\nJon Abel\nAbel & Sons', 'Fine with me.'],
  ['an exact signature', 'Fine with me.\n\n-- \nJon Abel\nAbel & Sons', 'Fine with me.'],
  [
    'a signature between the answer and the quotation',
    `Fine.\n\n-- \nJon\n\nOn Nov 14, 2025, at 10:32, Mira <m@example.net> wrote:\n\n${QUOTED}`,
    'Fine.',
  ],
  [
    'a sentence that begins like a mobile signature',
    'Where are you?\nSent from my desk, I see the harbour.',
    'Where are you?\nSent from my desk, I see the harbour.',
  ],
  [
    'the name of an app as the answer',
    'I read your mail with\nOutlook on Android',
    'I read your mail with\nOutlook on Android',
  ],
  ['Samsung', 'Yes.\n\nSent from my Galaxy', 'Yes.'],
  ['two mobile signatures', 'Yes.\n\nSent from my iPhone\nGet Outlook for iOS', 'Yes.'],
  [
    'header with bold labels',
    `Perfect.\n\n*From:* Mira Holt <mira.holt@example.net>\n*Sent:* Friday, 14 November 2025 10:32\n*To:* Jon Abel\n*Subject:* Order\n\nHello,\nyour order is on its way.`,
    'Perfect.',
  ],
  [
    'header with a long list of recipients',
    `Perfect.\n\nFrom: Mira Holt\nSent: Friday, 14 November 2025 10:32\nTo: Jon Abel; Kim Lund;\n Ola Berg; Pia Moe\nCc: Support\nSubject: Order\n\nHello,`,
    'Perfect.',
  ],
  [
    'header at the top with nothing above',
    `${BLOCK}\n\nHello,\nyes, that is right.`,
    `${BLOCK}\n\nHello,\nyes, that is right.`,
  ],
  [
    'forwarded by Gmail',
    `Please look at this.\n\n---------- Forwarded message ---------\nFrom: Mira Holt <mira.holt@example.net>\nDate: Fri, Nov 14, 2025 at 10:32 AM\nSubject: Order 4711\nTo: <jon.abel@example.org>\n\nHello,`,
    'Please look at this.',
  ],
  [
    'line ends of the wire',
    `Yes.\r\n\r\nOn Nov 14, 2025, at 10:32, Mira <m@example.net> wrote:\r\n\r\n> Hello\r\n`,
    'Yes.',
  ],
  [
    'Norwegian Gmail',
    `Takk.\n\nfre. 14. nov. 2025 kl. 10:32 skrev Mira Holt <mira.holt@example.net>:\n\n${QUOTED}`,
    'Takk.',
  ],
  [
    'Finnish Gmail',
    `Kiitos.\n\npe 14. marrask. 2025 klo 10.32 Mira Holt (mira.holt@example.net) kirjoitti:\n\n${QUOTED}`,
    'Kiitos.',
  ],
  [
    'Hungarian Gmail',
    `Köszönöm.\n\nMira Holt <mira.holt@example.net> ezt írta (időpont: 2025. nov. 14., P, 10:32):\n\n${QUOTED}`,
    'Köszönöm.',
  ],
  [
    'Turkish Gmail',
    `Teşekkürler.\n\nMira Holt <mira.holt@example.net>, 14 Kas 2025 Cum, 10:32 tarihinde şunu yazdı:\n\n${QUOTED}`,
    'Teşekkürler.',
  ],
  [
    'Russian Gmail',
    `Спасибо.\n\nпт, 14 нояб. 2025 г. в 10:32, Mira Holt <mira.holt@example.net>:\n\n${QUOTED}`,
    'Спасибо.',
  ],
  [
    'Chinese Gmail',
    `谢谢。\n\nMira Holt <mira.holt@example.net> 于2025年11月14日周五 10:32写道：\n\n${QUOTED}`,
    '谢谢。',
  ],
  [
    'Korean Gmail',
    `감사합니다.\n\n2025년 11월 14일 (금) 오전 10:32, Mira Holt <mira.holt@example.net>님이 작성:\n\n${QUOTED}`,
    '감사합니다.',
  ],
  [
    'a quotation by hand above the quotation of the program',
    `> order 4711\nThis one, please.\n\nOn Nov 14, 2025, at 10:32, Mira <m@example.net> wrote:\n\n${QUOTED}`,
    '> order 4711\nThis one, please.',
  ],
];

const HTMLS: readonly Row[] = [
  [
    'Yahoo, html',
    '<div>All fine now.</div><div class="yahoo_quoted" id="yahoo_quoted_1"><div>On Friday, Mira wrote:</div><div>Hello, your order is on its way.</div></div>',
    'All fine now.',
  ],
  [
    'Proton, html',
    '<div>Received it.</div><div class="protonmail_signature_block">Sent with Proton Mail secure email.</div><div class="protonmail_quote">On Friday, Mira wrote:<br><blockquote class="protonmail_quote" type="cite">Hello</blockquote></div>',
    'Received it.',
  ],
  [
    'an indentation of Gmail',
    '<div dir="ltr">Our address:<blockquote style="margin:0 0 0 40px;border:none;padding:0">Quay 4, Bergen</blockquote></div>',
    'Our address:\n\nQuay 4, Bergen',
  ],
  [
    'a signature of Gmail',
    '<div dir="ltr">Yes.<br><span class="gmail_signature_prefix">-- </span><br><div class="gmail_signature">Jon Abel</div></div>',
    'Yes.',
  ],
  [
    'Outlook in a language that has no row',
    '<div>Yes.</div><div id="appendonsend"></div><div id="divRplyFwdMsg"><b>Aus:</b> Mira<br><b>Wann:</b> 14.11.</div><div>Hello</div>',
    'Yes.',
  ],
];

export const HAND_WRITTEN: readonly LabelledReply[] = [
  ...TEXTS.map(([name, text, own]) => ({ name, text, html: null, own })),
  ...HTMLS.map(([name, html, own]) => ({ name, text: null, html, own })),
];
