import { describe, expect, test } from 'bun:test';
import mjmlOnNode from 'mjml';
import { MarkdownProblem } from '../../src/mail/content/markdown-values.ts';
import { type RenderedMjml, renderMjml } from '../../src/mail/content/render-mjml.ts';

const render = (mjml: string): Promise<RenderedMjml> =>
  renderMjml(mjml, crypto.randomUUID().replaceAll('-', ''));
const problemOf = async (mjml: string): Promise<string> => {
  const reason = await render(mjml).catch((error: unknown) => error);
  expect(reason).toBeInstanceOf(MarkdownProblem);
  return (reason as MarkdownProblem).message;
};
const page = (body: string, head = ''): string =>
  `<mjml lang="en">\n${head && `<mj-head>${head}</mj-head>\n`}<mj-body>\n${body}\n</mj-body>\n</mjml>`;
const column = (content: string): string =>
  page(`<mj-section><mj-column>\n${content}\n</mj-column></mj-section>`);

const SHAPES: Readonly<Record<string, string>> = {
  text: column('<mj-text>Hello &amp; <b>welcome</b></mj-text>'),
  button: column(
    '<mj-button href="https://shop.example/?a=1&amp;b=2" background-color="#0b5fff">Go</mj-button>',
  ),
  image: column(
    '<mj-image src="https://cdn.example/a.png" alt="A" width="300px" href="https://shop.example/" />',
  ),
  columns: page(
    '<mj-section><mj-column width="30%"><mj-text>a</mj-text></mj-column><mj-column width="70%"><mj-text>b</mj-text></mj-column></mj-section>',
  ),
  wrapper: page(
    '<mj-wrapper border="1px solid #000"><mj-section><mj-group><mj-column><mj-text>a</mj-text></mj-column><mj-column><mj-text>b</mj-text></mj-column></mj-group></mj-section></mj-wrapper>',
  ),
  table: column(
    '<mj-table><tr><td>a</td><td>b</td></tr></mj-table><mj-divider /><mj-spacer height="20px" />',
  ),
  hero: page(
    '<mj-hero mode="fluid-height" background-url="https://cdn.example/h.jpg" background-width="600px" background-height="400px"><mj-text>a</mj-text></mj-hero>',
  ),
  background: page(
    '<mj-section background-url="https://cdn.example/b.jpg" full-width="full-width"><mj-column><mj-text>a</mj-text></mj-column></mj-section>',
  ),
  menu: column(
    '<mj-navbar hamburger="hamburger"><mj-navbar-link href="/a">A</mj-navbar-link></mj-navbar><mj-social><mj-social-element src="https://cdn.example/i.png" href="https://x.example">X</mj-social-element></mj-social>',
  ),
  folded: column(
    '<mj-accordion><mj-accordion-element><mj-accordion-title>a</mj-accordion-title><mj-accordion-text>b</mj-accordion-text></mj-accordion-element></mj-accordion>',
  ),
  head: page(
    '<mj-section><mj-column><mj-text mj-class="big" css-class="own">a</mj-text></mj-column></mj-section>',
    '<mj-title>T</mj-title><mj-preview>P</mj-preview><mj-attributes><mj-text color="#333333" /><mj-class name="big" font-size="30px" /></mj-attributes><mj-style>.own { color: red; }</mj-style><mj-style inline="inline">.own { margin: 0; }</mj-style><mj-breakpoint width="400px" />',
  ),
};

describe('MJML without Liquid', () => {
  test.each(Object.entries(SHAPES))('%s becomes the html that mjml makes on Node', async (_name, mjml) => {
    const { html } = await mjmlOnNode(mjml, { fonts: {}, validationLevel: 'skip' });
    // Ids of the checkbox behind a menu and a carousel are drawn at random.
    const steady = (text: string): string => text.replace(/[\da-f]{16}/g, 'id');
    expect(steady((await render(mjml)).html)).toBe(steady(html));
  });
});

describe('Liquid in MJML', () => {
  test('stays as it is in texts, attributes and mj-raw', async () => {
    const { html, notes } = await render(
      page(
        '<mj-raw>{% for item in items %}</mj-raw><mj-section><mj-column><mj-button href="{{ item.url | default: "https://a.example/?x=1&y=2" }}">{{ item.name }}</mj-button><mj-text color="{{ colour }}">{% if a < b %}less{% endif %}</mj-text></mj-column></mj-section><mj-raw>{% endfor %}</mj-raw>',
      ),
    );
    for (const piece of [
      '{% for item in items %}',
      '{{ item.url | default: "https://a.example/?x=1&y=2" }}',
      '{{ item.name }}',
      '{% if a < b %}less{% endif %}',
      'color:{{ colour }}',
      '{% endfor %}',
    ])
      expect(html).toContain(piece);
    expect(html.indexOf('{% for')).toBeLessThan(html.indexOf('{{ item.url'));
    expect(html.indexOf('{% endfor')).toBeGreaterThan(html.indexOf('{% endif'));
    expect(notes).toEqual([]);
  });

  test.each([
    ['in the body', page('{% if a %}<mj-section></mj-section>{% endif %}'), 'Line 3, column 1', 'if'],
    [
      'in a section',
      page('<mj-section>\n  {%- for a in b -%}<mj-column></mj-column>{% endfor %}</mj-section>'),
      'Line 4, column 3',
      'for',
    ],
  ])('is refused %s, where MJML would leave it out', async (_where, mjml, place, tag) => {
    expect(await problemOf(mjml)).toBe(
      `${place}: Must not have {% ${tag} %} between elements, where MJML leaves text out. Put it into <mj-raw>.`,
    );
  });
});

describe('what MJML does not know, or may not do', () => {
  test('is noted with line and column', async () => {
    const { html, notes } = await render(
      column('<mj-foo>a</mj-foo>\n  <mj-text colr="red">b</mj-text>\n<mj-text color="{{ c }}">c</mj-text>'),
    );
    expect(html).toContain('b</div>');
    expect(notes).toEqual([
      { message: "mj-foo: Element mj-foo doesn't exist or is not registered.", line: 4, column: 1 },
      { message: 'mj-text: Attribute colr is illegal.', line: 5, column: 3 },
    ]);
  });

  test('fonts and icons of others are left out or told', async () => {
    const { html, notes } = await render(
      page(
        '<mj-section><mj-column><mj-text font-family="Lato, sans-serif">a</mj-text><mj-social><mj-social-element name="facebook" href="https://x.example">F</mj-social-element></mj-social></mj-column></mj-section>',
        '<mj-font\n  name="Lato" href="https://fonts.example/lato.css" />',
      ),
    );
    expect(html).not.toContain('fonts.example');
    expect(html).toContain('Lato, sans-serif');
    expect(notes.map(({ message, line }) => [message.slice(0, 20), line])).toEqual([
      ['mj-font is left out,', 2],
      ['The icon comes from ', 5],
    ]);
  });

  test('is refused where it reads a file, or is no MJML', async () => {
    expect(await problemOf(page('<mj-include path="/etc/passwd" />'))).toStartWith(
      'Line 3, column 1: Must not include other files',
    );
    for (const none of ['', '<p>Hello</p>', '<(((>', '<mjml></mjml>', 'Hello', '<mjml'])
      expect(await problemOf(none)).toStartWith('Must be MJML');
  });

  test('is noted at its place behind Liquid of several lines and beside fonts', async () => {
    const { notes } = await render(
      column(
        '<mj-text>{{ a\n | upcase }}</mj-text> <mj-button colr="red">b</mj-button>\n<mj-text colr="red">c</mj-text><mj-text>d</mj-text>',
      ).replace(
        '<mj-body>',
        '<mj-head><mj-font\n name="A" href="https://f.example/"></mj-font></mj-head><mj-body>',
      ),
    );
    expect(notes.map(({ message, line, column: at }) => [message.slice(0, 16), line, at])).toEqual([
      ['mj-font is left ', 2, 10],
      ['mj-button: Attri', 6, 24],
      ['mj-text: Attribu', 7, null],
    ]);
  });

  test('of many mistakes the first twenty are noted, in bounded time', async () => {
    // A name with signs of a pattern is a name like any other.
    expect((await render(column('<mj-x(*[>a</mj-x(*[>'))).notes).toHaveLength(1);
    const { notes } = await render(column('<mj-text a="1" b="2" c="3" />\n'.repeat(1_500)));
    expect(notes).toHaveLength(20);
  });

  test('a text may have any number of line breaks and images', async () => {
    const { html } = await render(
      column(`<mj-text>${'a<br><img src="https://a.example/b.png">'.repeat(80)}</mj-text>`),
    );
    expect(html.match(/<br>/g)).toHaveLength(80);
  });

  test('an include in a comment is none', async () => {
    expect((await render(column('<!-- <mj-include path="a.mjml" /> --><mj-text>a</mj-text>'))).notes).toEqual(
      [],
    );
  });

  test('is refused where it is too large', async () => {
    // Beside them, there are four elements.
    const many = (count: number): string => column('<mj-divider />'.repeat(count - 4));
    expect((await render(many(2_000))).notes).toEqual([]);
    expect(await problemOf(many(2_001))).toBe('Must have at most 2,000 elements.');
    // Beside them, there are five.
    const deep = (depth: number): string =>
      column(`<mj-text>${'<i>'.repeat(depth - 5)}${'</i>'.repeat(depth - 5)}</mj-text>`);
    expect((await render(deep(64))).html).toContain('<i><i>');
    expect(await problemOf(deep(65))).toBe('Must nest elements at most 64 deep.');
  });
});
