import { expect, test } from 'bun:test';
import { renderMarkdown } from '../../src/mail/content/render-markdown.ts';
import { renderMjml } from '../../src/mail/content/render-mjml.ts';

// MJML writes `direction:ltr` into its cells, which wins over `dir="rtl"` of the document.

const SECTION = '<mj-section><mj-column><mj-text>שלום!</mj-text></mj-column></mj-section>';
const page = (body = SECTION, head = '', attributes = ''): string =>
  `<mjml${attributes}>${head}<mj-body>${body}</mj-body></mjml>`;
const directionsIn = (html: string): readonly string[] => [
  ...new Set([...html.matchAll(/direction:(\w+)/g)].map(([, direction = '']) => direction)),
];
const alignedText = (html: string): string | undefined => /text-align:(\w+)[^>]*>שלום/.exec(html)?.[1];

test.each([
  ['without a head', page()],
  ['with a head', page(SECTION, '<mj-head><mj-title>A</mj-title></mj-head>')],
  ['with an empty head', page(SECTION, '<mj-head />')],
  [
    'with fonts that are left out',
    page(SECTION, '<mj-head><mj-font name="A" href="https://f.example/" /></mj-head>'),
  ],
  [
    'in a wrapper and a group',
    page(`<mj-wrapper>${SECTION.replaceAll('mj-column', 'mj-group')}</mj-wrapper>`),
  ],
])('content from right to left runs and begins there, %s', async (_shape, mjml) => {
  const { html } = await renderMjml(mjml, 'nonce', 'rtl');
  expect(directionsIn(html)).toEqual(['rtl']);
  if (mjml.includes('mj-column')) expect(alignedText(html)).toBe('right');
});

test('the author has the last word', async () => {
  const own = page(
    SECTION.replace('<mj-text>', '<mj-text align="left">').replace(
      '<mj-column>',
      '<mj-column direction="ltr">',
    ),
  );
  const { html } = await renderMjml(own, 'nonce', 'rtl');
  expect([directionsIn(html), alignedText(html)]).toEqual([['rtl', 'ltr'], 'left']);
  const attributes = '<mj-head><mj-attributes><mj-text align="center" /></mj-attributes></mj-head>';
  expect(alignedText((await renderMjml(page(SECTION, attributes), 'nonce', 'rtl')).html)).toBe('center');
});

test('attributes for all elements are the author’s, too', async () => {
  const all = (attribute: string) =>
    `<mj-head><mj-attributes><mj-all ${attribute} /></mj-attributes></mj-head>`;
  const centred = await renderMjml(page(SECTION, all('align="center"')), 'nonce', 'rtl');
  expect([directionsIn(centred.html), alignedText(centred.html)]).toEqual([['rtl'], 'center']);
  const turned = await renderMjml(page(SECTION, all('direction="ltr"')), 'nonce', 'rtl');
  expect(directionsIn(turned.html)).toEqual(['ltr']);
});

test('the first head of the document counts, and no other', async () => {
  const inside = page(`<mj-raw><mj-head></mj-head></mj-raw>${SECTION}`);
  const { html } = await renderMjml(inside, 'nonce', 'rtl');
  expect([directionsIn(html), html.includes('mj-attributes')]).toEqual([['rtl'], false]);
  const two = page(SECTION, '<mj-head /><mj-head><mj-title>A</mj-title></mj-head>');
  expect(directionsIn((await renderMjml(two, 'nonce', 'rtl')).html)).toEqual(['rtl']);
  const comment = page(SECTION, '<!-- <mj-head> --><mj-head></mj-head>');
  expect(directionsIn((await renderMjml(comment, 'nonce', 'rtl')).html)).toEqual(['rtl']);
});

test('the dir of the document is that of its cells', async () => {
  const named = page(SECTION, '', ' lang="he" dir="RTL"');
  expect(directionsIn((await renderMjml(named, 'nonce')).html)).toEqual(['rtl']);
  const other = page(SECTION, '', ' lang="en" dir="ltr"');
  expect(directionsIn((await renderMjml(other, 'nonce', 'rtl')).html)).toEqual(['ltr']);
  expect(await renderMjml(page(), 'nonce')).toEqual(await renderMjml(page(), 'nonce', 'ltr'));
});

test('notes keep their places', async () => {
  const wrong = page(`${SECTION}\n<mj-section colr="a"></mj-section>`, '<mj-head></mj-head>');
  const { notes } = await renderMjml(wrong, 'nonce', 'rtl');
  expect(notes).toEqual((await renderMjml(wrong, 'nonce')).notes);
  expect(notes).toMatchObject([{ line: 2, column: 1 }]);
});

test('a Markdown that names its language runs as that does', async () => {
  const hebrew = '---\nlang: he\n---\n# שלום\n\nשלום!\n\n> Quoted.\n';
  const { html } = await renderMarkdown(hebrew, 'Subject', 'nonce');
  expect(html).toContain('<html lang="he" dir="rtl"');
  expect(directionsIn(html)).toEqual(['rtl']);
  expect(html).toMatch(/text-align:right[^>]*><h1>שלום/);
  expect(html).toMatch(/blockquote \{ border-right: [^;]*; padding-right:/);
  expect(html).not.toMatch(/(?:border|padding|margin)-left:/);
  const german = await renderMarkdown('---\nlang: de\n---\n# Hallo\n', 'Subject', 'nonce');
  expect(german.html).not.toContain('rtl');
  const other = await renderMarkdown('# שלום\n', 'Subject', 'nonce', { direction: 'rtl' });
  expect(directionsIn(other.html)).toEqual(['rtl']);
});
