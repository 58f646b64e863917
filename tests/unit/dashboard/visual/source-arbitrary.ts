import fc from 'fast-check';

const blank = fc.constantFrom(
  '',
  '',
  '\n',
  '\n  ',
  '\r\n\t',
  ' <!-- a > note --> ',
  '\n<!-- <mj-text> -->\n',
);
const liquid = fc.constantFrom(
  '{{ name }}',
  '{{ a | default: "x > y" }}',
  '{% if a > "</mj-text>" %}',
  '{% endif %}',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a template tag
  '${ x }',
);
const words = fc.constantFrom(
  'Hello',
  ' there ',
  '&amp;',
  '&nbsp;',
  '&copy;',
  'ü 👋',
  'a{b',
  '5 %',
  '$',
  '\n   ',
);
const inlines = fc
  .array(
    fc.oneof(
      words,
      words,
      liquid,
      fc.constantFrom('<br>', '<br />', '<b>bold</b>', '<a href="{{ url }}">x</a>'),
    ),
    {
      maxLength: 5,
    },
  )
  .map((parts) => parts.join(''));
const list = fc
  .array(inlines, { minLength: 1, maxLength: 3 })
  .map((items) => `<ul>${items.map((item) => `<li>${item}</li>`).join('')}</ul>`);
const other = fc.constantFrom(
  '<table><tr><td>x</td></tr></table>',
  '<p>open',
  '<div>a<div>b</div></div>',
  '<b><i>x</b></i>',
);

/** Content of mj-text: rich text, and what the visual editor cannot show. */
export const contents = fc.oneof(
  { weight: 4, arbitrary: inlines },
  {
    weight: 4,
    arbitrary: fc
      .array(
        fc.oneof(
          inlines.map((text) => `<p style="margin:0">${text}</p>`),
          list,
          inlines.map((text) => `<h2>${text}</h2>`),
        ),
        { minLength: 1, maxLength: 3 },
      )
      .map((parts) => parts.join('\n')),
  },
  { weight: 1, arbitrary: other },
);

const attributes = fc
  .array(
    fc.constantFrom(
      ' align="center"',
      " color='#123456'",
      '\n  padding = "0 10px"',
      ' href="{{ url | x: "a" }}"',
      ' css-class=big',
      ' font-size="14px"',
      ' alt="a &amp; b"',
      ' {% if a %}width="10px"{% endif %}',
    ),
    { maxLength: 3 },
  )
  .map((parts) => parts.join(''));

const element = (name: string, content: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(attributes, content, fc.constantFrom('', '', '\n'))
    .map(([written, inner, end]) => `<${name}${written}>${inner}</${name}${end}>`);
const childless = (...names: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(...names), attributes, fc.constantFrom(' />', '\n/>'))
    .map(([name, written, end]) => `<${name}${written}${end}`);
const several = (child: fc.Arbitrary<string>, maxLength: number): fc.Arbitrary<string> =>
  fc
    .tuple(fc.array(fc.tuple(blank, child), { maxLength }), blank)
    .map(([parts, end]) => parts.flat().join('') + end);

const marker = fc.constantFrom('<mj-raw>{% for item in items %}</mj-raw>', '<mj-raw>{% endfor %}</mj-raw>');
const block = fc.oneof(
  element('mj-text', contents),
  element('mj-text', contents),
  element('mj-button', inlines),
  childless('mj-image', 'mj-divider', 'mj-spacer', 'mj-text'),
  marker,
  element('mj-social', several(element('mj-social-element', inlines), 2)),
  element('mj-raw', other),
  element('mj-unknown', fc.constant('<mj-text>inside</mj-text>')),
);
const column = element('mj-column', several(block, 4));
const row = fc.oneof(
  { weight: 4, arbitrary: element('mj-section', several(fc.oneof(column, marker), 3)) },
  { weight: 1, arbitrary: element('mj-wrapper', several(element('mj-section', several(column, 2)), 2)) },
  { weight: 1, arbitrary: fc.oneof(marker, element('mj-raw', other)) },
);

/** Sources of MJML in which each element has its end: whole messages and rows alone. */
export const sources = fc.oneof(
  {
    weight: 4,
    arbitrary: several(row, 4).map(
      (rows) => `<mjml>\n<mj-body background-color="#eeeeee">${rows}</mj-body></mjml>\n`,
    ),
  },
  { weight: 1, arbitrary: several(row, 3) },
);
