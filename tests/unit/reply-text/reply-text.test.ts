import { expect, test } from 'bun:test';
import { replyText } from '../../../src/mail/inbound/reply-text/reply-text.ts';
import { costMs } from '../../support/own-time.ts';
import { CORPUS } from './corpus.ts';

/** Blank lines and white space at the ends are layout. */
const layout = (text: string): string =>
  text
    .replace(/[ \t]+$/gm, '')
    .replace(/\n{2,}/g, '\n')
    .trim();

test('the corpus has 200 replies, in twelve languages', () => {
  expect(CORPUS.length).toBeGreaterThanOrEqual(200);
  expect(new Set(CORPUS.map(({ name }) => name)).size).toBe(CORPUS.length);
});

for (const { name, text, html, own } of CORPUS)
  test(`the text of a reply: ${name}`, () => expect(layout(replyText({ text, html }))).toBe(layout(own)));

/** Lines that a person writes, in which the words of marks happen to be. */
const WRITTEN: Readonly<Record<string, string>> = {
  'a form whose labels belong to several languages':
    'Here is the form:\n\nNo: 4711\nDate: 12 May 2026\nSubject: Broken lamp\n\nPlease call me tomorrow.',
  'the same with an address': 'Hello\n\nNo: 4711\nDate: 12 May 2026\nTo: anna@example.com\n\nPlease call me.',
  'a Spanish order of a journey':
    'Hola:\n\nDe: Madrid\nPara: Sevilla\nEnviado: lunes\nAsunto: silla rota\n\n¿Pueden ayudar?',
  'a Portuguese one': 'Olá\n\nDe: Lisboa\nPara: Porto\nAssunto: férias\n\nObrigado',
  'a Dutch one': 'Hoi\n\nVan: Utrecht\nAan: Breda\nDatum: 3 december\nOnderwerp: fietsen\n\nGraag.',
  'an English one that begins with the day':
    'Hello\n\nSent: Monday\nFrom: Paris\nTo: Rome\nSubject: trains\n\nThanks',
  'an Arabic word that has the verb within':
    'مرحبا\n\nنلتقي 12/05/2026 10:00 أو عبر anna@shop.example في المكتب:\n\nشارع الميناء 4',
  'an Arabic one above a quoted line': 'هذه هي الكتب المطلوبة:\n> ما هي الكتب؟\n\nشكرا',
  'a Hebrew one above a quoted line': 'להלן המכתב שלי:\n> שלום\n\nתודה',
  'an Afrikaans word that ends in the verb':
    'Hallo\n\nAan anna@shop.example, voor 12.05.2026 14:00, soos hieronder beskryf:\n\nStraat 5\nPosbus 6',
  'a Norwegian word that begins with the verb':
    'Hei\n\nSend det 12.05.2026 14:00 fra anna@shop.example til skriveren:\n\nRom 5\nHavnegata 4',
  'an English word that ends in the verb':
    'Hello\n\nOn 12.05.2026 14:00 the job of anna@shop.example overwrote:\n\nfile a\nfile b',
};

for (const [name, text] of Object.entries(WRITTEN))
  test(`the text of a reply keeps ${name}`, () => {
    const written = text.split('\n').filter((line) => !line.startsWith('>'));
    expect(layout(replyText({ text, html: null })).split('\n')).toEqual(
      expect.arrayContaining(written.filter((line) => line !== '')),
    );
  });

const MIB = 1_048_576;
const filled = (unit: string): string => unit.repeat(Math.ceil(MIB / unit.length));

/**
 * 100 ms, and more on a machine that takes long to divide a text into lines and put them together again: 40
 * ms here.
 */
const lines = ':\n'.repeat(MIB / 2);
const MOST_MS = Math.max(
  100,
  2.5 *
    costMs(() => {
      const each = lines.split('\n').map((line) => line.trimEnd());
      expect(each.join('\n')).toHaveLength(MIB);
    }),
);

const HOSTILE: Readonly<Record<string, string>> = {
  'quotation marks': '> '.repeat(MIB / 2),
  'quoted lines': filled('> a\n'),
  'empty lines': filled('\n'),
  'one long line': filled('a'),
  'lines of a colon': filled(':\n'),
  'beginnings of attributions': filled('On 14 Nov 2025 at 10:32, a@b.example\n'),
  attributions: filled('On Nov 14, 2025, at 10:32, a <a@b.example> wrote:\n'),
  'attributions and quoted lines': filled('On Nov 14, 2025, at 10:32, a <a@b.example> wrote:\n> a\nb\n'),
  'ends of addresses': filled('a@b.example <\n>:\n'),
  'attributions between dashes': filled('---- On 14 Nov 2025 10:32 a@b.example wrote ----\n'),
  'dates and addresses': filled('2025/11/14 a <a@b.example>\n'),
  'short rules': filled('---\nDate: a\n'),
  'labels of headers': filled('From: a\n'),
  separators: filled('-----Original Message-----\n'),
  hyphens: filled('-'),
  'signature delimiters': filled('-- \n'),
  'mobile signatures': filled('Sent from my iPhone\n'),
  'attributions between arrows': filled('>>> a <a@b.example> 14.11.2025 10:32 >>>\n'),
  'dates without a year': filled('On 14 at 10:32 a <a@b.example> wrote\n'),
  'times without an address': filled(`On ${'1.11'.repeat(90)} wrote:\n`),
  'times before addresses': filled(`On ${'1.11 <a@b>'.repeat(36)} wrote:\n`),
  'links of a list': `On 2025-11-14 10:32, Mira Holt wrote:\n> a\n\nLinks:\n------\n${filled('[1] x\n')}`,
  spaces: filled(' '),
  'a long line with a colon': `${filled('On 2025 a@b ')}wrote:`,
};

for (const [name, text] of Object.entries(HOSTILE))
  test(`1 MiB of ${name} takes less than 100 ms`, () => {
    replyText({ text: 'warm', html: null });
    expect(costMs(() => replyText({ text, html: null }))).toBeLessThan(MOST_MS);
  });

test('html that is nested deeply, or never closed, gives a text in bounded time', () => {
  for (const html of [
    filled('<blockquote type="cite">'),
    filled('<div class="gmail_signature">a'),
    filled('<p>a'),
  ])
    expect(costMs(() => replyText({ text: null, html }))).toBeLessThan(1_000);
});

test('a reply without text and html is empty', () => expect(replyText({ text: null, html: null })).toBe(''));
