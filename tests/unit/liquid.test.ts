import { afterAll, describe, expect, spyOn, test } from 'bun:test';
import { Token } from 'liquidjs';
import { htmlLiquid, type LiquidEngine, textLiquid } from '../../src/mail/liquid/engine.ts';
import { refuseSplitBlocks, runsScripts, scanHtml } from '../../src/mail/liquid/html-scan.ts';
import { LiquidProblem, TooSlow } from '../../src/mail/liquid/limits.ts';
import { createLiquidRenderer } from '../../src/mail/liquid/liquid-renderer.ts';
import { examine, examineMade, type Sources } from '../../src/mail/liquid/parts.ts';
import { HOSTILE } from '../support/hostile-templates.ts';

const renderer = createLiquidRenderer();
afterAll(() => renderer.close());

const render = (engine: LiquidEngine, source: string, names: Record<string, unknown> = {}) =>
  engine.render(engine.parse(source), { names, now: Date.UTC(2026, 0, 31) });
const html = (source: string, names?: Record<string, unknown>) => render(htmlLiquid, source, names);
const text = (source: string, names?: Record<string, unknown>) => render(textLiquid, source, names);
const EVIL = `<b a="x" c='y'>&`;
const SAFE = '&lt;b a=&quot;x&quot; c=&#x27;y&#x27;&gt;&amp;';

describe('values in html', () => {
  test.each([
    ['{{ v }}', SAFE],
    ['{{ v | upcase | downcase }}', SAFE],
    ['{% echo v %}', SAFE],
    ['{% cycle v, "x" %}', SAFE],
    ['{% liquid echo v %}', SAFE],
    ['{{ v | split: "" | join: "" }}', SAFE],
    ['{{ list }}', SAFE],
    ['{% capture c %}{{ v }}{% endcapture %}{{ c }}', SAFE],
    ['{% capture c %}<i>{{ v }}</i> {% endcapture %}{{ c | strip | append: v }}', `<i>${SAFE}</i>${SAFE}`],
    ['{% capture c %}<i>{% endcapture %}{{ c | prepend: v }}', `${SAFE}<i>`],
    ['{% capture c %}<i>{% endcapture %}{{ c | upcase }}', '&lt;I&gt;'],
    ['{{ "a<\n" | newline_to_br }}', 'a&lt;<br />\n'],
    [
      '{% capture c %}Hello{% endcapture %}{{ c | size }} {{ c.size }} {{ c | json }}',
      '5 5 &quot;Hello&quot;',
    ],
    ['{{ "<" | escape | size }} {{ "a" | newline_to_br | size }}', '4 1'],
    [
      '{% capture c %}a{% endcapture %}{% assign n = c | append: "b" | size %}{% if n > 0 %}{{ n }}{% endif %}',
      '2',
    ],
    ['{{ v | raw }}', EVIL],
    [
      '{{ v | raw | upcase }}',
      SAFE.replace('b a', 'B A').replace('x', 'X').replace(' c', ' C').replace('27;y', '27;Y'),
    ],
  ])('%s', (source, expected) => {
    expect(html(source, { v: EVIL, list: [EVIL] })).toBe(expected);
  });

  test.each(['escape', 'escape_once', 'strip', 'append: ""', 'prepend: ""', 'date: "%Y"', 'default: "x"'])(
    'are escaped by raw and then %s: raw counts as the last filter alone',
    (filter) => {
      const written = html(`{{ v | raw | ${filter} }}`, { v: EVIL });
      // The library escapes quotes by their numbers.
      expect(written.replaceAll('&#34;', '&quot;').replaceAll('&#39;', '&#x27;')).toBe(SAFE);
      expect(html(`{{ v | ${filter} | raw }}`, { v: 'a' })).toBe('a');
    },
  );

  test('are written as they are where a name was given their raw text', () => {
    expect(html('{% assign r = v | raw %}{{ r }} {{ r | escape }}', { v: '<b>' })).toBe('<b> &lt;b&gt;');
    expect(html('{% capture c %}{{ v | raw }}{% endcapture %}{{ c | strip }}', { v: '<b>' })).toBe('<b>');
    expect(html('{{ v | raw | raw }}', { v: '<b>' })).toBe('<b>');
  });

  test('are escaped once where their author escapes them too', () => {
    for (const filter of ['escape', 'escape_once', 'escape | escape'])
      expect(html(`{{ v | ${filter} }}`, { v: '<&>' })).toBe('&lt;&amp;&gt;');
  });

  test('are written as they are in text', () => {
    expect(text('{{ v }} {% capture c %}{{ v }}{% endcapture %}{{ c }} {{ v | raw }}', { v: EVIL })).toBe(
      `${EVIL} ${EVIL} ${EVIL}`,
    );
  });

  test('never become a placeholder of the service', () => {
    const v = 'x {{ unsubscribeUrl }} {{unsubscribeUrl}}';
    for (const source of [
      '{{ v }}',
      '{{ v | raw }}',
      '{{ v | escape }}',
      '{% capture c %}{{ v }}{% endcapture %}{{ c }}',
    ])
      for (const write of [html, text]) expect(write(source, { v })).not.toMatch(/\{\{\s*unsubscribeUrl/);
  });
});

describe('what a template cannot reach', () => {
  test.each([
    '{{ "x".constructor }}',
    '{{ v.constructor.name }}',
    '{{ constructor.constructor }}',
    '{{ __proto__.polluted }}',
    '{{ v.__proto__ }}',
    '{{ list | map: "constructor" | first }}',
    '{{ list | where: "constructor" | size | minus: 0 | times: 0 | replace: "0", "" }}',
    '{% assign __proto__ = v %}{{ polluted }}',
  ])('%s is nothing', (source) => {
    expect(text(source, { v: { polluted: 1 }, list: [{ a: 1 }] })).toBe('');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test.each([
    ['{% if a &gt; 1 %}yes{% endif %}', '&gt;'],
    ['{% if a == &quot;x&quot; and b %}yes{% endif %}', '&quot;'],
    ['<p>{{ a | default: &#39;you&#39; }}</p>', '&#39;'],
    ['{% assign b = "&amp;" %}{{&nbsp;a }}', '&nbsp;'],
  ])('the problem of %s names the entity', (source, entity) => {
    expect(() => htmlLiquid.parse(source)).toThrow(
      `. An editor has encoded a character as ${entity}: write the character.`,
    );
  });

  test.each(['&gt; {{ a | nope: "&gt;" }} &gt;', '&gt; {{ a | default: "&gt;" ? }} &gt;'])(
    'that of %s names none',
    (source) => {
      expect(() => htmlLiquid.parse(source)).toThrow(/^Line 1, column \d+: [^.]+\.$/);
    },
  );

  test.each(['include "x"', 'layout "x"', 'block x'])('{%% %s %%} is no tag', (tag) => {
    expect(() => textLiquid.parse(`{% ${tag} %}`)).toThrow(/Line 1, column 1: .*not found\.$/);
  });

  test.each(['where_exp', 'find_exp', 'group_by_exp', 'sample', 'push', 'sha256', 'inspect'])(
    '%s is no filter',
    (name) => {
      expect(() => textLiquid.parse(`{{ a | ${name}: 1 }}`)).toThrow('undefined filter');
    },
  );
});

describe('limits', () => {
  const turns = (count: number) => `{% for i in (1..${count}) %}{% endfor %}`;
  test.each<[string, string, string]>([
    ['turns', turns(10_000), turns(10_001)],
    ['turns over several loops', turns(5_000) + turns(5_000), turns(5_000) + turns(5_001)],
    ['items', '{{ (1..1000) | size }}', '{{ (1..1001) | size }}'],
    [
      'nesting',
      '{% if a %}'.repeat(100) + '{% endif %}'.repeat(100),
      '{% if a %}'.repeat(101) + '{% endif %}'.repeat(101),
    ],
    ['tags', `{{ "${'x'.repeat(16_374)}" }}`, `{{ "${'x'.repeat(16_384)}" }}`],
  ])('of %s hold to the number', (_, good, bad) => {
    text(good);
    expect(() => text(bad)).toThrow(LiquidProblem);
  });

  test('of a result hold to the character', () => {
    const v = 'x'.repeat(1_048_576);
    expect(text('{{ v }}', { v })).toBe(v);
    expect(() => text('{{ v }}y', { v })).toThrow('must make at most 1,048,576 characters.');
  });

  test('of arguments are reported when a filter has too many or too few', () => {
    expect(() => text('{{ 1 | plus }}')).toThrow('must give the filter plus 1 argument.');
    expect(() => text('{{ 1 | upcase: 2 }}')).toThrow('must give the filter upcase no argument.');
  });
});

describe('html around values', () => {
  const dangers = (source: string) => scanHtml(source).map(({ danger }) => danger !== null);
  test.each<[string, boolean[]]>([
    ['<p>{{ a }}</p><a href="{{ a }}" title=\'{{ a }}\'>', [false, false, false]],
    ['<style>p{color:{{ a }}}</style>{{ a }}', [true, false]],
    ['<script>if (a < b) "{{ a }}"</script>{{ a }}', [true, false]],
    ['<a href={{ a }}>{{ a }}</a>', [true, false]],
    ['<a href=x{{ a }} {{ a }}>', [true, true]],
    ['<a onclick="{{ a }}" style="color:{{ a }}">', [true, false]],
    ['<!-- > {{ a }} --><{{ a }}>', [false, true]],
    ['</{{ a }}>< {{ a }}<{% if a %}{{ a }}', [true, false, true, true]],
    ['<a title=">">{{ a }}</a><input value="{{ a }}"/>{{ a }}', [false, false, false]],
    ['<textarea><script>{{ a }}</script></textarea>{{ a }}', [false, false]],
    ['{% comment %}<script>{{ a }}{% endcomment %}{{ a }}', [false, false]],
    ['<SCRIPT >{{ a }}</SCRIPT >{{ a }}', [true, false]],
    // Spaces of Unicode are none of HTML: the quote behind one is part of a value without quotes, or of a
    // name.
    ['<a title=\u00a0"{{ a }}">', [true]],
    ['<a title=b\u00a0c="{{ a }}">', [true]],
    ['<a b\u00a0="{{ a }}" onclick\v="{{ a }}">', [false, true]],
    ['<a\u00a0title="{{ a }}">', [true]],
    ['<a \u00a0="{{ a }}">', [false]],
    ['<title></title\u00a0>{{ a }}<a {{ a }}</title>', [false, false]],
    // A slash closes no element.
    ['<script src="https://a.example/a.js"/>{{ a }}</script>{{ a }}', [true, false]],
    ['<style/>{{ a }}</style>{{ a }}', [true, false]],
    ['<title/><a title="</title>{{ a }}<a {{ a }}', [false, true]],
    ['<xmp><a {{ a }}></xmp>{{ a }}', [false, false]],
    ['<!x "><a {{ a }}>', [true]],
    ['<!-- --!><a {{ a }}><!--!><a {{ a }}>--><a {{ a }}>', [true, false, true]],
  ])('%s', (source, expected) => {
    expect(dangers(source)).toEqual(expected);
  });

  test('blocks may go over whole elements, not over halves of them', () => {
    const split = (source: string) => () => refuseSplitBlocks(scanHtml(source));
    split('<p>{% if a %}</p><p>{% else %}x<br>{% endif %}</p>')();
    expect(split('<p>{% if a %}</p>{% endif %}')).toThrow('splits the block {% if %}');
    expect(split('<ul>{% for a in b %}<li>{% endfor %}</li></ul>')).toThrow('splits');
  });

  test.each<[string, boolean]>([
    ['<a href="https://x.example/javascript:">', false],
    ['<a href=" &amp;javascript:">', false],
    ['<a href="java\tscript:x">', true],
    ["<a HREF = ' \n jAvAsCrIpT :x'>", true],
    ['<img src="data:image/png;base64,x">', false],
    ['<a href="data:text/html,x">', true],
    ['<p>javascript: is a scheme</p>', false],
    ['<object data="javascript:x">', true],
    ['<object data="https://x.example/a.pdf" class="a">', false],
    ['<meta http-equiv=refresh content="0;url=javascript:x">', true],
    [`<meta http-equiv=refresh content=' 0.5 , URL = "data:text/html,x" '>`, true],
    ['<meta http-equiv=refresh content="0;url=https://x.example/">', false],
    ['<a title="see href=javascript:x" href="https://x.example/">x</a>', false],
    ["<p title='x' class=\"a href = 'javascript:x\">href=javascript:x</p>{{", false],
    ['<a title="href=javascript:x" href=javascript:x>', true],
    ['<a title="x" href=javascript:x title="href=javascript:x">', true],
    ['<a ="x href=javascript:x">', true],
    ['<a b/="x href=javascript:x">', true],
    ['<a b ="x href=javascript:x">', false],
    ['<a b = "x href=javascript:x">', false],
    ['<style></stylex title="</style><a href=javascript:x>">', true],
    ['<!x <a title=" ><a href=javascript:x title=" ">', true],
    ['<!-- --!><a title="--><a href=javascript:x>">', false],
    ['<!-- --!><a href=javascript:x title="-->">', true],
    ['<!--!><a title="--><a href=javascript:x>">', true],
    ['<title/><a title="</title><a href=javascript:x>y</a>">', true],
    ['<textarea/><a title="</textarea><a href=javascript:x>y</a>">', true],
    ['<href=javascript:x y="<a z="><a href=javascript:x>y</a>">', true],
    ['<frameset><title><frame src=javascript:x></title>', true],
    ['<\u212a title="<a href=javascript:x>y</a>">', true],
    ['<script><!--<script></script><a title="</script><a href=javascript:x>">', true],
    ['<title></title\u00a0x="</title><a href=javascript:x>">', true],
    ['<!--[if mso]><noscript><xml></xml></noscript><![endif]--><p>href=javascript:x</p>', false],
    ['<xmp><a title="</xmp><a href=javascript:x>">', true],
    ['<!--[if mso]><a href=javascript:x><![endif]-->', true],
    ['<!doctype html><!--[if mso]><i><![endif]--><a title="href=javascript:x">', false],
    ['<!doctype x "<a title=\' ><a href=javascript:x title=\' ">', true],
    ['<a onclick="href=javascript:x">', true],
  ])('%s runs a script: %p', (source, expected) => {
    expect(runsScripts(source)).toBe(expected);
  });
});

test.each<[string, boolean]>([
  ['<a href="javascript:void(0)">x</a>', true],
  ['<a href="javascript:void(0)">x</a>{{ name }}', true],
  ['<p title="{{ a | append: "b" }}">href=javascript:void(0)</p>', false],
  ['<p title="a {% if b %}href=javascript:void(0){% endif %}">{{ a }}</p>', false],
  ['{% comment %}<a href="javascript:void(0)">{% endcomment %}{{ a }}', false],
  ['<a href="https://a.example/?{{ a }}#javascript:void(0)">{{ a }}</a>', false],
])('the link of a source %s is refused when it is read: %p', (source, isRefused) => {
  const words = isRefused ? ['Must not make a link that runs a script'] : [];
  const first = (message: string) => message.split(':')[0] ?? '';
  expect(examine({ html: source }).problems.map(({ message }) => first(message))).toEqual(words);
  const made = () => examineMade(source, true);
  if (isRefused) expect(made).toThrow(words[0] ?? '');
  else made();
});

describe('a renderer', () => {
  const sources = (source: string): Sources => ({
    subject: null,
    previewText: null,
    html: source,
    text: null,
  });
  const ask = (source: string, owner = 'someone', key: string | null = null, names = {}) =>
    renderer.render({ owner, key, sources: sources(source), scope: { names, now: 0 } });

  test.each(Object.entries(HOSTILE))('refuses %s', async (_, source) => {
    expect(await ask(source, 'hostile')).toBeInstanceOf(LiquidProblem);
  });

  test('answers others while one is stuck, and again after it was ended', async () => {
    const good = '<p>{{ v }}</p>';
    await ask(good, 'good', 'good 1', { v: 1 });
    const stuck = Array.from({ length: 5 }, () => ask(HOSTILE['sorting in a loop'] ?? '', 'hostile'));
    const order: string[] = [];
    void Promise.all(stuck).then(() => order.push('stuck'));
    const quick = await Promise.all(
      Array.from({ length: 200 }, (_, v) => ask(good, 'good', 'good 1', { v })),
    );
    order.push('quick');
    expect(quick.map((each) => (each instanceof Error ? each : each.html))).toEqual(
      Array.from({ length: 200 }, (_, v) => `<p>${v}</p>`),
    );
    expect((await Promise.all(stuck)).every((each) => each instanceof TooSlow)).toBe(true);
    await Promise.resolve();
    expect(order).toEqual(['quick', 'stuck']);
  });

  test('that is slow with some values alone makes only its owner wait', async () => {
    const source = '{% for i in list %}{% assign b = big | sort_natural | sort %}{% endfor %}{{ v }}';
    const big = Array.from({ length: 1_000 }, (_, n) => `${n}`);
    await ask(source, 'both', 'both 1', { list: [], big, v: 1 });
    const list = Array.from({ length: 9_000 }, (_, n) => n);
    const heavy = ask(source, 'both', 'both 1', { list, big, v: 2 });
    const light = ask(source, 'both', 'both 1', { list: [], big, v: 3 });
    expect(await heavy).toBeInstanceOf(TooSlow);
    expect(await light).toMatchObject({ html: '3' });
  });
});

describe('the names of a source', () => {
  test.each([
    ['{{ b.c }}{{ a }}{{ b.c }}', ['b.c', 'a']],
    ['{{ a }}{{ a | upcase }}{{ a | append: b }}', ['a', 'b']],
    ['{{ x }}{% assign x = a %}{{ x }}', ['x', 'a']],
    ['{% assign x = a %}{{ x }}{{ b }}{{ x }}', ['a', 'b']],
    ['{{ x }}{% for x in list %}{{ x }}{{ y }}{% endfor %}{{ y }}', ['x', 'list', 'y']],
  ])('%s: %p', (source, names) => {
    expect(htmlLiquid.namesOf(htmlLiquid.parse(source))).toEqual(names);
  });

  test('are found without counting the lines before each output', () => {
    const counted = spyOn(Token.prototype, 'getPosition');
    const parsed = htmlLiquid.parse('<p>{{ name }}</p>\n'.repeat(600));
    counted.mockClear();
    expect(htmlLiquid.namesOf(parsed)).toEqual(['name']);
    expect(counted.mock.calls.length).toBeLessThan(10);
    counted.mockRestore();
  });
});
