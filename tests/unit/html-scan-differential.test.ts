import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import { runsScripts, scanHtml } from '../../src/mail/liquid/html-scan.ts';

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

const LINK = 'href=javascript:void(0)';
const SIGNS = [...'<>"\'=/!-?', ' ', '\t', '\u00a0', '\v', '\u2028', '</', '<!--', '-->', '--!>', '<!', 'x'];
const ATTRIBUTES = ['title=', 'title="', "title='", 'onclick="', 'href="', ' title = "', 'srcdoc="', 'x'];
const NAMES = 'a p b script style title textarea xmp iframe noembed noframes table \u212a'.split(' ');
const ODD = 'noscript plaintext svg math template select frameset frame col'.split(' ');
const tags = (names: readonly string[]) =>
  names.flatMap((name) => [`<${name}>`, `</${name}>`, `<${name}/>`, `<${name} `, `</${name}`, `<${name}`]);
const htmlOf = (pieces: readonly string[]) =>
  fc
    .array(fc.constantFrom(...SIGNS, ...ATTRIBUTES, ...pieces), { maxLength: 9 })
    .map((each) => each.join(''));

/** All elements as a browser has them, with scripts and without. */
function* elementsOf(html: string): Generator<Element> {
  for (const scriptingEnabled of [true, false]) {
    const waiting: Node[] = [parse(html, { scriptingEnabled })];
    for (let node = waiting.pop(); node; node = waiting.pop()) {
      if ('tagName' in node) yield node;
      if ('content' in node) waiting.push(node.content);
      if ('childNodes' in node) waiting.push(...node.childNodes);
    }
  }
}

/** The text that stands directly in an element. */
const textOf = ({ childNodes }: Element): string =>
  childNodes.map((node) => ('value' in node ? node.value : '')).join('');

/** True where a value has left its text or its quoted value, or runs. */
const isLoose = (html: string, value: string): boolean =>
  [...elementsOf(html)].some(
    (element) =>
      element.attrs.some(({ name, value: written }) =>
        written.includes(value) ? /^(?:on|srcdoc$)/.test(name) : `${name}${written}`.includes('void(0)'),
      ) ||
      (/^(?:script|style)$/.test(element.tagName) && textOf(element).includes(value)),
  );

test('a value that may be written stays in its text or its quoted value, as a browser reads the html', () => {
  let written = 0;
  fc.assert(
    fc.property(htmlOf(tags(NAMES)), htmlOf(tags(NAMES)), (before, after) => {
      const [piece] = scanHtml(`${before}{{ v }}${after}`);
      if (piece?.danger !== null) return;
      written++;
      const value = `v ${LINK} v`;
      expect(isLoose(before + value + after, value)).toBe(false);
    }),
    { numRuns: 4_000 },
  );
  expect(written).toBeGreaterThan(1_000);
});

test('a link that a browser would run is found, wherever words look like one', () => {
  const all = [...tags([...NAMES, ...ODD]), LINK, ` ${LINK} `, `<${LINK}`, `<a ${LINK}>`];
  let live = 0;
  fc.assert(
    fc.property(htmlOf(all), htmlOf(all), (before, after) => {
      const html = `${before}<a ${LINK}>${after}`;
      const runs = [...elementsOf(html)].some(({ attrs }) =>
        attrs.some(({ name, value }) => name === 'href' && value.startsWith('javascript:')),
      );
      if (!runs) return;
      live++;
      expect(runsScripts(html)).toBe(true);
    }),
    { numRuns: 4_000 },
  );
  expect(live).toBeGreaterThan(500);
});
