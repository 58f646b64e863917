import { describe, expect, test } from 'bun:test';
import { type Composed, originOf, placed } from '../../src/automation/templates/layers/compose.ts';
import type { TemplateKind } from '../../src/automation/templates/layers/layer-model.ts';
import {
  type ComposedContent,
  composed,
  type FindLayer,
} from '../../src/automation/templates/layers/layers.ts';
import { NOTHING, type VersionContent } from '../../src/automation/templates/render/content.ts';
import type { FoundVersion } from '../../src/automation/templates/versions.ts';
import { htmlLiquid } from '../../src/mail/liquid/engine.ts';
import { examine } from '../../src/mail/liquid/parts.ts';
import { placeAt } from '../../src/platform/text/places.ts';
import { costMs } from '../support/own-time.ts';

const OWNER = { workspaceId: 'ws_1', livemode: true };

/** Published layouts and partials, by their aliases. */
class Shelf {
  readonly #found = new Map<string, FoundVersion>();

  add(alias: string, kind: TemplateKind, given: Partial<VersionContent>): this {
    const content = { ...NOTHING, ...given };
    const { slots, names, problems } = read(content, kind);
    expect(problems).toEqual([]);
    const row = { id: `tpl_${alias}`, alias, kind, version: 1 };
    this.#found.set(alias, {
      row,
      version: 1,
      content: { ...content, slots, names },
    } as unknown as FoundVersion);
    return this;
  }

  readonly find: FindLayer = async (_owner, name) =>
    this.#found.get(name) ?? this.#found.get(name.replace('tpl_', '')) ?? null;
}

const read = ({ subject, html, markdown, mjml, text }: VersionContent, kind: TemplateKind) =>
  examine({ subject, html, markdown, mjml, text }, { isLayout: kind === 'layout' });

async function compose(
  shelf: Shelf,
  given: Partial<VersionContent>,
  { kind = 'template', id = null }: { readonly kind?: TemplateKind; readonly id?: string | null } = {},
): Promise<ComposedContent | { readonly path: string; readonly message: string }> {
  const content = { ...NOTHING, ...given };
  return composed(shelf.find, { owner: OWNER, id, kind, content, slots: read(content, kind).slots });
}

async function madeOf(shelf: Shelf, given: Partial<VersionContent>): Promise<ComposedContent> {
  const made = await compose(shelf, given);
  if ('path' in made) throw new Error(`${made.path}: ${made.message}`);
  return made;
}

const htmlOf = async (shelf: Shelf, html: string, names: Record<string, unknown> = {}, more = {}) => {
  const { parts } = await madeOf(shelf, { html, ...more });
  return htmlLiquid.render(htmlLiquid.parse(parts.html?.text ?? ''), { names, now: 0 });
};

const variable = (key: string, more: object = {}) => ({
  key,
  type: 'string' as const,
  required: false,
  fallback: null,
  ...more,
});

describe('a partial', () => {
  const shelf = new Shelf()
    .add('card', 'partial', { html: '<b>{{ title }}</b>{{ name }}{% assign name = "changed" %}' })
    .add('note', 'partial', {
      html: '[{{ text }}|{{ n }}]',
      variables: [
        variable('text', { fallback: 'a "b" \'c\' %} {{ d }} <e>' }),
        variable('n', { type: 'number', fallback: 7 }),
      ],
    })
    .add('outer', 'partial', { html: '({% render "card", title: t %})', text: 'outer' });

  test.each<[string, string]>([
    // It sees its parameters and no name around it, and sets none there.
    ['{% render "card" %}{{ name }}', '<b></b>Ada &lt;'],
    ['{% render "card", title: name %}', '<b>Ada &lt;</b>'],
    ['{% render "card", title: "x", name: 1 %}{{ name }}', '<b>x</b>1Ada &lt;'],
    ['{% for i in list %}{% render "card", title: i %}{% endfor %}', '<b>1</b><b>2</b>'],
    // Escaped text is not escaped again.
    [
      '{% capture c %}<i>{{ name }}</i>{% endcapture %}{% render "card", title: c %}',
      '<b><i>Ada &lt;</i></b>',
    ],
    ['{% render "outer", t: name %}', '(<b>Ada &lt;</b>)'],
    // Hyphens take white space away around it.
    ['a {%- render "outer", t: 1 -%} b', 'a(<b>1</b>)b'],
    ['{% render "note" %}', '[a &quot;b&quot; &#x27;c&#x27; %} {{ d }} &lt;e&gt;|7]'],
    ['{% render "note", text: missing, n: 1 %}', '[a &quot;b&quot; &#x27;c&#x27; %} {{ d }} &lt;e&gt;|1]'],
    ['{% render "tpl_card", title: "by id" %}', '<b>by id</b>'],
    [
      '{% raw %}{% render "nothing" %}{% endraw %}{% comment %}{% render "x" %}{% endcomment %}',
      '{% render "nothing" %}',
    ],
  ])('%s', async (source, expected) => {
    expect(await htmlOf(shelf, source, { name: 'Ada <', list: [1, 2] })).toBe(expected);
  });

  test.each<[string, string]>([
    ['{% render card %}', 'Line 1, column 1: render takes the alias of a partial in quotes'],
    ['{% render "card" with name %}', 'Line 1, column 1: render takes the alias of a partial in quotes'],
    ['{% render "card" for list as x %}', 'Line 1, column 1: render takes the alias of a partial in quotes'],
    ['{% render "card", __fallbacks: "%7B%7D" %}', 'Line 1, column 1: render takes the alias'],
    ['\n {% render title: name %}x{% endrender %}', 'Line 2, column 2: render must name a partial'],
    ['{% liquid render "card" %}', 'Line 1, column 11: {% liquid %} cannot take render'],
    ['{% include "card" %}', 'Line 1, column 1: tag "include" not found'],
  ])('is refused as %s', (source, message) => {
    expect(examine({ html: source }).problems[0]?.message).toStartWith(message);
  });

  test('in MJML stands between elements, and in texts', async () => {
    const section = (text: string) =>
      `<mj-section><mj-column><mj-text>${text}</mj-text></mj-column></mj-section>`;
    const mjml = new Shelf()
      .add('head', 'partial', { format: 'mjml', mjml: section('{{ t }}') })
      .add('word', 'partial', { html: '<i>{{ t }}</i>' });
    const bodyOf = async (source: string) =>
      (await madeOf(mjml, { format: 'mjml', mjml: source })).parts.mjml?.text;
    const made = `<mj-raw>{% render t: 1 %}</mj-raw>${section('{{ t }}')}<mj-raw>{% endrender %}</mj-raw>`;
    expect(await bodyOf('<mj-body>{% render "head", t: 1 %}</mj-body>')).toBe(`<mj-body>${made}</mj-body>`);
    expect(await bodyOf('<mj-body><mj-raw>{% render "head", t: 1 %}</mj-raw></mj-body>')).toBe(
      `<mj-body>${made}</mj-body>`,
    );
    expect(await bodyOf(section('{% render "word", t: 1 %}'))).toBe(
      section('{% render t: 1 %}<i>{{ t }}</i>{% endrender %}'),
    );
  });
});

describe('a layout', () => {
  const shelf = new Shelf()
    .add('base', 'layout', {
      html: '<html>{{ title }}:{{- content -}} <hr></html>',
      text: '{{ content }}\n--\n{{ title }}',
      variables: [variable('title', { fallback: 'T' }), variable('name')],
    })
    .add('inner', 'layout', { html: '<main>{{ content }}</main>', layoutId: 'base' });

  test('is around the html and the text, and brings its variables', async () => {
    const { parts, inherited, layers, layoutId } = await madeOf(shelf, {
      html: '<p>{{ content }}</p>',
      text: 'Hi',
      layoutId: 'base',
      variables: [variable('name')],
    });
    expect(parts.html?.text).toBe('<html>{{ title }}:<p>{{ content }}</p><hr></html>');
    expect(parts.text?.text).toBe('Hi\n--\n{{ title }}');
    expect(inherited.map(({ key }) => key)).toEqual(['title']);
    expect([layoutId, layers]).toEqual([
      'tpl_base',
      [{ templateId: 'tpl_base', kind: 'layout', version: 1 }],
    ]);
  });

  test('is in another layout', async () => {
    const { parts, layers } = await madeOf(shelf, { html: 'x', layoutId: 'inner' });
    expect(parts.html?.text).toBe('<html>{{ title }}:<main>x</main><hr></html>');
    expect(layers.map(({ templateId }) => templateId)).toEqual(['tpl_base', 'tpl_inner']);
  });

  test.each<[string, RegExp]>([
    ['<p>x</p>', /must have \{\{ content \}\} once/],
    ['{{ content }}\n{{content}}', /^Line 2, column 1: .*this one has it 2 times/],
    ['{{ content | upcase }}', /must have \{\{ content \}\} once/],
    ['{{ content }}{% if content %}x{% endif %}', /as it is: without filters/],
    ['{% raw %}{{ content }}{% endraw %}', /must have \{\{ content \}\} once/],
    ['<style>{{ content }}</style>', /inside <script> or <style>/],
  ])('is refused as %s', (html, message) => {
    expect(examine({ html }, { isLayout: true }).problems[0]?.message).toMatch(message);
  });
});

describe('layers are refused with the way to them', () => {
  const shelf = new Shelf()
    .add('base', 'layout', { html: '{{ content }}' })
    .add('text', 'layout', { text: '{{ content }}' })
    .add('md', 'layout', { format: 'emailmd', markdown: '{{ content }}' })
    .add('plain', 'template', { html: 'x' })
    .add('footer', 'partial', { html: '{{ site }}', variables: [variable('site', { required: true })] })
    .add('mdp', 'partial', { format: 'emailmd', markdown: 'x' })
    .add('broken', 'partial', { html: 'a\n{% render "gone" %}' })
    .add('a', 'partial', { html: '{% render "b" %}' })
    .add('b', 'partial', { html: '{% render "a" %}' })
    .add('mine', 'partial', { html: '{% render "tpl_own" %}' });
  for (let at = 1; at <= 6; at++)
    shelf.add(`d${at}`, 'partial', { html: at === 6 ? 'x' : `{% render "d${at + 1}" %}` });

  test.each<[string, Partial<VersionContent>, string, RegExp]>([
    ['a layout that is not there', { html: 'x', layoutId: 'no' }, '/body/layoutId', /There is no layout no/],
    ['a partial as layout', { html: 'x', layoutId: 'footer' }, '/body/layoutId', /footer is a partial/],
    ['a template as layout', { html: 'x', layoutId: 'plain' }, '/body/layoutId', /plain is a template/],
    [
      'another format',
      { format: 'emailmd', markdown: 'x', layoutId: 'base' },
      '/body/layoutId',
      /has the format html/,
    ],
    [
      'a text without a layout for it',
      { html: 'x', text: 'x', layoutId: 'base' },
      '/body/layoutId',
      /has no text/,
    ],
    ['an html without a layout for it', { html: 'x', layoutId: 'text' }, '/body/layoutId', /has no html/],
    [
      'a partial that is not there',
      { html: 'a\n {% render "no" %}' },
      '/body/html',
      /^Line 2, column 2: There is no partial no/,
    ],
    [
      'a layout as partial',
      { html: '{% render "base" %}' },
      '/body/html',
      /base is a layout, and render takes a partial/,
    ],
    ['a parameter that is missing', { html: '{% render "footer" %}' }, '/body/html', /footer requires site/],
    [
      'a partial without a text',
      { html: 'x', subject: '{% render "mine" %}' },
      '/body/subject',
      /mine has no text/,
    ],
    [
      'a partial of another format',
      { html: '{% render "mdp" %}' },
      '/body/html',
      /mdp has the format emailmd/,
    ],
    [
      'a mistake below',
      { html: '{% render "broken" %}' },
      '/body/html',
      /^broken, line 2, column 1: There is no partial gone/,
    ],
    ['a circle', { html: '{% render "a" %}' }, '/body/html', /use each other: this template → a → b → a/],
    [
      'six layers',
      { html: '{% render "d1" %}' },
      '/body/html',
      /at most 5 layers on one way; this one is d1 → d2 → d3 → d4 → d5 → d6/,
    ],
  ])('%s', async (_what, given, path, message) => {
    expect(await compose(shelf, given)).toEqual({ path, message: expect.stringMatching(message) });
  });

  test('a partial that takes itself on a detour', async () => {
    const own = new Shelf().add('other', 'partial', { html: '{% render "own" %}' });
    own.add('own', 'partial', { html: 'before' });
    const told = await compose(own, { html: '{% render "other" %}' }, { kind: 'partial', id: 'tpl_own' });
    expect(told).toEqual({
      path: '/body/html',
      message: 'Must not have layers that use each other: this template → other → own.',
    });
  });

  test('five layers are taken', async () => {
    expect((await madeOf(shelf, { html: '{% render "d2" %}' })).layers).toHaveLength(5);
  });

  test('more than 50 layers, and more than a million characters', async () => {
    const many = new Shelf();
    for (let at = 0; at <= 50; at++) many.add(`p${at}`, 'partial', { html: 'x' });
    const all = (count: number) => Array.from({ length: count }, (_, at) => `{% render "p${at}" %}`).join('');
    expect((await madeOf(many, { html: all(50) })).layers).toHaveLength(50);
    expect(await compose(many, { html: all(51) })).toMatchObject({
      message: expect.stringContaining('at most 50 layouts'),
    });
    const large = new Shelf().add('half', 'partial', { html: 'x'.repeat(500_000) });
    const [once, twice] = [
      '{% render "half" %}',
      '{% render "half" %}{% render "half" %}{% render "half" %}',
    ];
    expect((await madeOf(large, { html: once })).parts.html?.text.length).toBeGreaterThan(500_000);
    expect(await compose(large, { html: twice })).toMatchObject({
      path: '/body/html',
      message: expect.stringContaining('1,048,576 characters'),
    });
  });
});

test('a problem in a composed source names its place in the layer', async () => {
  const shelf = new Shelf()
    .add('base', 'layout', { html: '<html>\n<b>{{ content }}\n</b>{% render "foot" %}' })
    .add('foot', 'partial', { html: 'one\ntwo' });
  const { parts } = await madeOf(shelf, { html: '<p>\nhello\n</p>', layoutId: 'base' });
  const html = parts.html as Composed;
  const offsetOf = (text: string) => {
    const before = html.text.slice(0, html.text.indexOf(text)).split('\n');
    return [before.length, (before.at(-1) ?? '').length + 1] as const;
  };
  expect(originOf(html, ...offsetOf('<b>'))).toEqual({ layer: 'base', line: 2, column: 1 });
  expect(originOf(html, ...offsetOf('<p>'))).toEqual({ layer: null, line: 1, column: 1 });
  expect(originOf(html, ...offsetOf('llo'))).toEqual({ layer: null, line: 2, column: 3 });
  expect(originOf(html, ...offsetOf('</b>'))).toEqual({ layer: 'base', line: 3, column: 1 });
  expect(originOf(html, ...offsetOf('two'))).toEqual({ layer: 'foot', line: 2, column: 1 });
  const [line, column] = offsetOf('two');
  expect(placed(`Line ${line}, column ${column}: wrong.`, html)).toBe('Line 2, column 1 of foot: wrong.');
  expect(placed('Must be simpler.', html)).toBe('Must be simpler.');
});

test('the place of an offset is its line and column, found quickly in any source', () => {
  const source = 'ab\n\ncd\n';
  expect([0, 2, 3, 4, 6, 7].map((at) => Object.values(placeAt(source, at)).join(':'))).toEqual([
    '1:1',
    '1:3',
    '2:1',
    '3:1',
    '3:3',
    '4:1',
  ]);
  const lines = '\n'.repeat(200_000);
  const cost = costMs(() => {
    for (let n = 0; n < 1_000; n++) expect(placeAt(lines, 199_999 - n).line).toBe(200_000 - n);
  });
  // Counting the lines each time takes some seconds.
  expect(cost).toBeLessThan(1_000);
});

test('a partial with a way out of mail is refused where it is not given the link', async () => {
  const shelf = new Shelf().add('foot', 'partial', { html: '<a href="{{ unsubscribeUrl }}">Off</a>' });
  expect(await compose(shelf, { html: "<p>Hi</p>{% render 'foot' %}" })).toEqual({
    path: '/body/html',
    message:
      "Line 1, column 10: foot shows unsubscribeUrl, which a partial sees only as a parameter: write {% render 'foot', unsubscribeUrl: unsubscribeUrl %}.",
  });
  const html = "{% render 'foot', unsubscribeUrl: unsubscribeUrl %}";
  expect(await htmlOf(shelf, html, { unsubscribeUrl: 'https://x.example/off' })).toBe(
    '<a href="https://x.example/off">Off</a>',
  );
});

test('a part takes 200 partials, and no more', async () => {
  const shelf = new Shelf().add('dot', 'partial', { html: '.' });
  const many = (count: number) => compose(shelf, { html: "{% render 'dot' %}".repeat(count) });
  expect('path' in (await many(200))).toBe(false);
  expect(await many(201)).toMatchObject({ message: 'Must use render at most 200 times in one part.' });
});
