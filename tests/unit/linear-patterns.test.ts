import { describe, expect, test } from 'bun:test';
import { compile } from '../../src/automation/templates/render/compile.ts';
import { runsScripts } from '../../src/mail/liquid/html-scan.ts';
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

test('a text is cut at its Liquid', () => {
  const cut = (source: string) => piecesOf(source).map(({ text, isLiquid }) => (isLiquid ? [text] : text));
  expect(cut('a{{ b }}c{% if d %}{{e}}')).toEqual(['a', ['{{ b }}'], 'c', ['{% if d %}'], ['{{e}}']]);
  expect(cut('{{ a %} {% b %} {{ c')).toEqual(['{{ a %} ', ['{% b %}'], ' {{ c']);
  expect(cut('')).toEqual([]);
  expect([hasLiquid('{{ a'), hasLiquid('{% a }}'), hasLiquid('}}{{'), hasLiquid('{{}}')]).toEqual([
    ...[false, false, false, true],
  ]);
});

test('a name keeps the spaces that are no fault of it', () => {
  expect(seenName('Ada  \u200bLove\u200blace \n\t Byron  King')).toBe('Ada Lovelace Byron  King');
});
