import type { LanguageLines } from './languages.ts';

/** A reply, and the text that its author wrote. */
export interface LabelledReply {
  readonly name: string;
  readonly text: string | null;
  readonly html: string | null;
  readonly own: string;
}

/** The message that is answered, in four lines. */
const QUOTED = [
  'Hello,',
  'your order 4711 is on its way.',
  'The tracking number is PX-20-33.',
  'Regards, Mira',
];
const QUOTED_HTML = `<p>Hello,</p><p>your order 4711 is on its way.</p><p>The tracking number is PX-20-33.</p>`;
const ARROWS = QUOTED.map((line) => `> ${line}`);

const lines = (...all: readonly (string | readonly string[])[]): string => all.flat().join('\n');
const wrapAt = (line: string, most: number): string[] => {
  const wrapped: string[] = [''];
  for (const word of line.split(' ')) {
    const last = wrapped.at(-1) as string;
    if (last === '') wrapped[wrapped.length - 1] = word;
    else if (last.length + word.length < most) wrapped[wrapped.length - 1] = `${last} ${word}`;
    else wrapped.push(word);
  }
  return wrapped;
};
const escaped = (text: string): string => text.replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const header = ({ outlook: [from, sent, to, subject] }: LanguageLines): string[] => [
  `${from} Mira Holt <mira.holt@example.net>`,
  `${sent} 2025-11-14 10:32`,
  `${to} Jon Abel <jon.abel@example.org>`,
  `${subject} Order 4711`,
];
const htmlHeader = (language: LanguageLines): string =>
  header(language)
    .map((line) => escaped(line).replace(/^(.+?[:：])/, '<b>$1</b>'))
    .join('<br>');

type Make = (language: LanguageLines) => Omit<LabelledReply, 'name'>;

const text = (own: string, body: string) => ({ text: body, html: null, own });
const html = (own: string, body: string) => ({ text: null, html: body, own });

/** Each mail program with each position of the answer that it allows. */
export const CLIENTS: Readonly<Record<string, Make>> = {
  'Gmail, top': ({ gmail, answer: [a, b] }) => text(`${a}\n\n${b}`, lines(a, '', b, '', gmail, '', ARROWS)),
  'Gmail, wrapped over two lines': ({ gmail, answer: [a] }) =>
    text(a, lines(a, '', wrapAt(gmail, Math.max(30, gmail.length - 12)), '', ARROWS)),
  'Gmail, wrapped over three lines, no quotation marks': ({ gmail, answer: [a] }) =>
    text(a, lines(a, '', wrapAt(gmail, 28), '', QUOTED)),
  'Gmail, interleaved': ({ gmail, answer: [a, b] }) =>
    text(`${a}\n\n${b}`, lines(gmail, '', ARROWS.slice(0, 2), '', a, '', ARROWS.slice(2), '', b)),
  'Gmail, html': ({ gmail, answer: [a] }) =>
    html(
      a,
      `<div dir="ltr">${a}</div><br><div class="gmail_quote gmail_quote_container"><div dir="ltr" class="gmail_attr">${escaped(gmail)}<br></div><blockquote class="gmail_quote" style="margin:0 0 0 .8ex">${QUOTED_HTML}</blockquote></div>`,
    ),
  'Apple Mail, top': ({ apple, answer: [a, b] }) => text(`${a}\n${b}`, lines(a, b, '', apple, '', ARROWS)),
  'Apple Mail, html, bottom': ({ apple, answer: [a] }) =>
    html(
      a,
      `<html><body><div><blockquote type="cite"><div>${escaped(apple)}</div><br><div>${QUOTED_HTML}</div></blockquote></div><br><div>${a}</div></body></html>`,
    ),
  'iPhone, signature': ({ apple, phone, answer: [a] }) => text(a, lines(a, '', phone, '', apple, '', ARROWS)),
  'Thunderbird, bottom': ({ thunderbird, answer: [a, b] }) =>
    text(`${a}\n\n${b}`, lines(thunderbird, ARROWS, '', a, '', b, '', '-- ', 'Jon Abel', '+00 555 0100')),
  'Thunderbird, html, interleaved': ({ thunderbird, answer: [a, b] }) =>
    html(
      `${a}\n\n${b}`,
      `<div class="moz-cite-prefix">${escaped(thunderbird)}<br></div><blockquote type="cite" cite="mid:1@example.net"><p>Hello,</p></blockquote><p>${a}</p><blockquote type="cite" cite="mid:1@example.net"><p>your order 4711 is on its way.</p></blockquote><p>${b}</p><div class="moz-signature">-- <br>Jon Abel</div>`,
    ),
  'Outlook for Windows, original message': (language) =>
    text(language.answer[0], lines(language.answer[0], '', language.original, header(language), '', QUOTED)),
  'Outlook on the web, header alone': (language) =>
    text(
      `${language.answer[0]}\n\n${language.answer[1]}`,
      lines(language.answer[0], '', language.answer[1], '', '_'.repeat(32), header(language), '', QUOTED),
    ),
  'Outlook, html': (language) =>
    html(
      language.answer[0],
      `<div class="elementToProof">${language.answer[0]}</div><div id="appendonsend"></div><hr style="width:98%"><div id="divRplyFwdMsg" dir="ltr">${htmlHeader(language)}</div><div>${QUOTED_HTML}</div>`,
    ),
  'Outlook for iOS': (language) =>
    text(
      language.answer[0],
      lines(language.answer[0], '', language.outlookApp, '_'.repeat(32), header(language), '', QUOTED),
    ),
};
