import { describe, expect, test } from 'bun:test';
import { compile } from '../../src/automation/templates/render/compile.ts';
import { readXml } from '../../src/mail/inbound/aggregate/read-xml.ts';
import { replyText } from '../../src/mail/inbound/reply-text/reply-text.ts';
import { runsScripts, scanHtml } from '../../src/mail/liquid/html-scan.ts';
import { parseParts } from '../../src/mail/liquid/parts.ts';
import { hasLiquid, piecesOf } from '../../src/mail/liquid/pieces.ts';
import { Failure } from '../../src/platform/errors/failure.ts';
import { seenName } from '../../src/platform/text/characters.ts';
import { framingOf } from '../../src/sending/webhooks/http/response-fields.ts';
import { costMs, costMsOf } from '../support/own-time.ts';

/** Each took minutes, where the pattern divided one run of characters in all ways. */
const ENOUGH_MS = 1_000;
const LENGTH = 262_144;
const run = (piece: string, before = '', after = ''): string =>
  before + piece.repeat(Math.floor(LENGTH / piece.length)) + after;

describe('text of users is read in a time that grows with its length', () => {
  const readers: Readonly<Record<string, (text: string) => unknown>> = {
    'the scheme of a link': runsScripts,
    'the links that values write': (html) =>
      parseParts({ subject: null, previewText: null, html: html.replaceAll('{', '('), text: null }),
    'the pieces of Liquid': piecesOf,
    'a name': seenName,
    'the fields of an answer': (value) => {
      const octets = Buffer.from(`HTTP/1.1 200 OK\r\nconnection: ${value.replace(/[^\t -~]/g, ' ')}\r\n`);
      return framingOf(octets, octets.length - 2);
    },
  };
  const texts: Readonly<Record<string, string>> = {
    'spaces behind a sign': run(' ', 'href=', 'x'),
    'spaces behind a quote': run(' ', 'href="', 'x'),
    'spaces behind the seconds of a page that follows by itself': run(' ', 'content="0', 'x'),
    'pages that follow by themselves': run('content=0;url= '),
    'spaces before a comma': run(' ', 'x', 'x,'),
    'controls and spaces': run('\t ', 'a\u200b', 'x'),
    'controls alone': run('\u200b', 'a', 'x'),
    'openings without an end': run('{{'),
    'openings of both kinds': run('{{{%'),
    'openings before the end of another kind': run('{{', '', '%}'),
    signs: run('href= '),
  };
  for (const [reader, read] of Object.entries(readers))
    for (const [name, text] of Object.entries(texts))
      test(`${reader}: ${name}`, () => expect(costMs(() => read(text))).toBeLessThan(ENOUGH_MS));

  const control: Readonly<Record<string, string>> = {
    'a line of a hundred blocks': `${'{% if a %}'.repeat(50)}x${'{% endif %}'.repeat(50)}`,
    'a line of ends': run('%}{% if a '),
    'a line of signs': run('%', '{% if '),
    'a line of spaces': run(' ', '{% if a %}', 'x'),
  };
  for (const [name, markdown] of Object.entries(control))
    test(`the lines of blocks in markdown: ${name}`, async () => {
      const stopped = new Failure('SERVICE_UNAVAILABLE', 'It is stopped here.');
      const compilers = {
        liquid: { examine: async () => ({ problems: [], names: [], raw: [], slots: {} }) } as never,
        markdown: { renderTemplate: async () => stopped, renderMjml: async () => stopped },
        versions: { find: async () => null, read: async () => null },
      };
      const authored = {
        format: 'emailmd',
        subject: 'x',
        previewText: null,
        html: null,
        mjml: null,
        text: null,
      } as const;
      let made: unknown;
      const cost = await costMsOf(async () => {
        made = await compile(compilers, { ...authored, markdown, variables: [], layoutId: null } as never, {
          owner: { workspaceId: 'ws_1', livemode: true },
          id: null,
          kind: 'template',
          now: 0,
        });
      });
      expect(made).toBe(stopped);
      expect(cost).toBeLessThan(ENOUGH_MS);
    });
});

test('html with many open elements is read in a time that grows with its length', () => {
  const open = '<b>'.repeat(60_000);
  expect(costMs(() => runsScripts(`${open}${'</i>'.repeat(60_000)}href=javascript:x`))).toBeLessThan(
    ENOUGH_MS,
  );
  expect(costMs(() => scanHtml(`${open}${'{{ a }}'.repeat(60_000)}`))).toBeLessThan(ENOUGH_MS);
});

describe('mail of strangers is read in a time that grows with its length', () => {
  const MIB = 1_048_576;
  const half = (piece: string): string => piece.repeat(Math.floor(MIB / 2 / piece.length));
  const xml = (text: string) => readXml(text, 'feedback', Boolean, Boolean);
  const tags: Readonly<Record<string, string>> = {
    'tags that are opened, and others that are closed': half('<b>') + half('</i>'),
    'tags that are opened and closed': half('<b>') + half('</b>'),
    'tags that are closed, below some that are open': '<b>'.repeat(900) + half('</i>'),
    'forms below tags that are open': '<b>'.repeat(900) + half('<form>'),
    'tags without an end': half('<b '),
    'signs that begin no tag': half('<'),
    'names that are no tags': half('<b'),
    'spaces behind names': half(`<b${' '.repeat(1_100)}`),
    'a name without an end': `<${half('b')}`,
  };
  for (const [name, text] of Object.entries(tags)) {
    test(`before the root of XML: ${name}`, () => expect(costMs(() => xml(text))).toBeLessThan(ENOUGH_MS));
    test(`within the root of XML: ${name}`, () =>
      expect(costMs(() => xml(`<feedback>${text}`))).toBeLessThan(ENOUGH_MS));
    test(`the html of a reply: ${name}`, () =>
      expect(costMs(() => replyText({ text: null, html: text }))).toBeLessThan(ENOUGH_MS));
  }
  test('XML with more end tags or signs than a report has is refused, and so is one that is nested before its root', () => {
    const feedback = '<feedback><a>1</a></feedback>';
    expect(xml(feedback)).toBe(true);
    expect(xml('<x>'.repeat(18) + feedback)).toBe(true);
    expect(xml('<x>'.repeat(19) + feedback)).toBe(false);
    expect(xml(`${feedback}${'</x>'.repeat(999_995)}`)).toBe(true);
    expect(xml(`${feedback}${'</x>'.repeat(999_996)}`)).toBe(false);
    expect(xml(`${feedback}${'<'.repeat(100_000)}`)).toBe(true);
    expect(xml(`${feedback}${'<'.repeat(100_001)}`)).toBe(false);
  });

  const lines: Readonly<Record<string, string>> = {
    dashes: '-'.repeat(393),
    'dashes and a letter': `${'-'.repeat(390)}a`,
    'signs and spaces': `${'* '.repeat(196)}a`,
    'dashes, spaces and letters': `--${' '.repeat(200)}${'a -'.repeat(60)}`,
    'quotation signs': `> ${'> '.repeat(195)}x:`,
    'letters before a colon': `${'a '.repeat(195)}:`,
    'verbs before a colon': `on 1.1.2026 ${'wrote '.repeat(60)}x:`,
    'signs before a colon': `${'*_ '.repeat(130)}:`,
    digits: `on ${'1.'.repeat(195)}:`,
    addresses: `on 2026 ${'a@b'.repeat(125)}:`,
  };
  for (const [name, line] of Object.entries(lines))
    test(`the lines of a reply: ${name}`, () =>
      expect(costMs(() => replyText({ text: `${line}\n\n`.repeat(500), html: null }))).toBeLessThan(
        ENOUGH_MS,
      ));
});

test('a text is cut at its Liquid', () => {
  const cut = (source: string) => piecesOf(source).map(({ text, isLiquid }) => (isLiquid ? [text] : text));
  expect(cut('a{{ b }}c{% if d %}{{e}}')).toEqual(['a', ['{{ b }}'], 'c', ['{% if d %}'], ['{{e}}']]);
  expect(cut('{{ a %} {% b %} {{ c')).toEqual(['{{ a %} ', ['{% b %}'], ' {{ c']);
  expect(cut('')).toEqual([]);
  expect([hasLiquid('{{ a'), hasLiquid('{% a }}'), hasLiquid('}}{{'), hasLiquid('{{}}')]).toEqual([
    false,
    false,
    false,
    true,
  ]);
});

test('a name keeps the spaces that are no fault of it', () => {
  expect(seenName('Ada  \u200bLove\u200blace \n\t Byron  King')).toBe('Ada Lovelace Byron  King');
});
