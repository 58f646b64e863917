import { describe, expect, test } from 'bun:test';
import mjmlOnNode from 'mjml';
import { column, page, problemOf, render } from '../support/rendered-mjml.ts';

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
    // There, ids of the checkbox behind a menu and a carousel are drawn at random.
    const steady = (text: string): string => text.replace(/[\da-f]{16}/g, 'id');
    expect(steady((await render(mjml)).html)).toBe(steady(html));
  });
});

test('ids of menus and carousels are the same each time, and differ within a message and between messages', async () => {
  const carousel =
    '<mj-carousel><mj-carousel-image src="https://cdn.example/a.png" /><mj-carousel-image src="https://cdn.example/b.png" /></mj-carousel>';
  const menu = '<mj-navbar hamburger="hamburger"><mj-navbar-link href="/a">A</mj-navbar-link></mj-navbar>';
  const own = '<mj-raw><i id="0123456789abcdef"></i></mj-raw>';
  const body = (text: string): string =>
    page(
      `<mj-section><mj-column>${menu}${carousel}</mj-column></mj-section><mj-section><mj-column>${menu}${carousel}<mj-text>${text}</mj-text>${own}</mj-column></mj-section>`,
    );
  const [one, again, other] = [body('{{ n }}'), body('{{ n }}'), body('{{ m }}')];
  const { html } = await render(one);
  expect((await render(again)).html).toBe(html);
  const idsOf = (text: string) => new Set(text.match(/\b[\da-f]{16}\b/g));
  // Two menus, two carousels, and what the author wrote.
  const ids = idsOf(html);
  expect([ids.size, ids.has('0123456789abcdef')]).toEqual([5, true]);
  expect(ids.intersection(idsOf((await render(other)).html))).toEqual(new Set(['0123456789abcdef']));
  for (const id of ids)
    if (html.includes(`for="${id}"`)) expect(html).toContain(`<input type="checkbox" id="${id}"`);
});

test('an id that an author took from a carousel stays', async () => {
  const written = '<i class="mj-carousel-0123456789abcdef-radio">0123456789abcdef</i>';
  expect((await render(column(`<mj-raw>${written}</mj-raw>`))).html).toContain(written);
});

describe('Liquid in MJML', () => {
  // mjmlio/mjml#421, #1482 and #1682.
  test('leaves no mj-raw in a text, where MJML would write it into the message', async () => {
    const raw = (tag: string) => `<mj-raw>${tag}</mj-raw>`;
    const rows = (tag: (text: string) => string) =>
      column(
        `<mj-table>${tag('{% for i in items %}')}<tr><td>{{ i }}</td></tr>${tag('{% endfor %}')}</mj-table>
<mj-text>${tag('{% if a %}')}<b>x</b>${tag('{% endif %}')}</mj-text>`,
      );
    expect(await render(rows(raw))).toEqual(await render(rows((tag) => tag)));
    expect((await render(rows(raw))).html).not.toContain('mj-raw');
  });
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
  test('text between elements and a second body are noted where they are', async () => {
    const { html, notes } = await render(
      '<mjml lang="en"><mj-body>Dear &amp; {{ n }},\n you owe 5<mj-section><mj-column><mj-text>kept</mj-text></mj-column>\n{{ lost }}</mj-section></mj-body>\n<mj-body><mj-section><mj-column><mj-text>SECOND</mj-text></mj-column></mj-section></mj-body></mjml>',
    );
    expect([html.includes('kept'), html.includes('Dear'), html.includes('SECOND')]).toEqual([
      true,
      false,
      false,
    ]);
    expect(notes.map(({ message, line, column: at }) => [message.slice(0, 27), line, at])).toEqual([
      ['MJML leaves out text betwee', 1, 26],
      ['MJML leaves out text betwee', 3, 1],
      ['MJML takes the first mj-bod', 4, 1],
    ]);
  });

  test('a second head is noted, and MJML leaves it out', async () => {
    const { html, notes } = await render(
      '<mjml><mj-head></mj-head><mj-head><mj-title>T</mj-title></mj-head><mj-body></mj-body></mjml>',
    );
    expect(html).not.toContain('T</title>');
    expect(notes).toMatchObject([{ line: 1, column: 26 }]);
  });

  test('an element without its end is noted', async () => {
    const { notes } = await render(page('<mj-section><mj-column>\n<mj-text>a</mj-column></mj-section>'));
    expect(notes).toEqual([
      { message: 'This mj-text is closed nowhere: write </mj-text> where it ends.', line: 4, column: 1 },
    ]);
    // The content of these is no MJML.
    expect((await render(page('<mj-raw><mj-text></mj-raw><MJ-SECTION></MJ-SECTION>'))).notes).toEqual([]);
  });

  test('icons of another server and imported style sheets are noted, unless the author names others', async () => {
    const image = '<mj-carousel-image src="https://cdn.example/a.png" />';
    const folded = '<mj-accordion-element><mj-accordion-title>a</mj-accordion-title></mj-accordion-element>';
    const noted = async (body: string, head = '') =>
      (await render(page(`<mj-section><mj-column>\n${body}</mj-column></mj-section>`, head))).notes.map(
        ({ message, line }) => [message.slice(0, 41), line],
      );
    const ICONS = 'The icons come from i.imgur.com, which le';
    expect(await noted(`<mj-carousel>${image}</mj-carousel><mj-accordion>${folded}</mj-accordion>`)).toEqual([
      [ICONS, 4],
      [ICONS, 4],
    ]);
    const own = 'left-icon="https://cdn.example/l.png" right-icon="https://cdn.example/r.png"';
    expect(await noted(`<mj-carousel ${own}>${image}</mj-carousel>`)).toEqual([]);
    expect(
      await noted(
        `<mj-carousel>${image}</mj-carousel>`,
        `<mj-attributes><mj-carousel ${own} /></mj-attributes>`,
      ),
    ).toEqual([]);
    expect(
      await noted('<mj-text>a</mj-text>', '<mj-style>@import url(https://f.example/a.css);</mj-style>'),
    ).toEqual([['A style sheet is imported from its server', 2]]);
  });

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

  test('is refused where MJML would merge too many classes and defaults', async () => {
    const withClasses = (count: number) =>
      column(`<mj-text mj-class="${'a '.repeat(count - 1)}a">x</mj-text>`);
    expect((await render(withClasses(32))).html).toContain('x</div>');
    expect(await problemOf(withClasses(33))).toBe(
      'Line 4, column 1: Must name at most 32 classes in one mj-class, with one space between them.',
    );
    const named = (count: number): string => Array.from({ length: count }, (_, n) => `a${n}="x"`).join(' ');
    const withDefaults = (text: string) => page('', `<mj-attributes>${text}</mj-attributes>`);
    const defaults = (count: number) =>
      withDefaults(`<mj-class ${named(count - 400)} /><mj-all ${named(200)} /><mj-text ${named(200)} />`);
    expect((await render(defaults(1_000))).html).toContain('<body');
    expect(await problemOf(defaults(1_001))).toMatch(
      /^Line \d+, column \d+: Must set at most 1,000 attributes in mj-attributes\.$/,
    );
    const long = (length: number) => withDefaults(`<mj-class name="a" css-class="${'x'.repeat(length)}" />`);
    expect((await render(long(1_000))).html).toContain('<body');
    expect(await problemOf(long(1_001))).toMatch(
      /^Line 2, column \d+: Must set attributes of at most 1,000 characters in mj-attributes\.$/,
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
