import { describe, expect, test } from 'bun:test';
import { textLiquid } from '../../src/mail/liquid/engine.ts';
import { momentOf } from '../../src/mail/liquid/filters/moment.ts';
import { strftime } from '../../src/mail/liquid/filters/strftime.ts';
import { type AuthoredPart, examine } from '../../src/mail/liquid/parts.ts';
import RUBY from '../fixtures/strftime-ruby.json';

// The Liquid that people know from elsewhere. `bun tests/bench/golden-liquid.ts` reads a thousand cases more.

const text = (source: string, names: Record<string, unknown> = {}): string =>
  textLiquid.render(textLiquid.parse(source), { names, now: 0 });

const NAMES = {
  pets: [
    { name: 'cat', legs: 4, at: { home: true } },
    { name: 'ant', legs: 6, at: { home: false } },
    { name: 'dog', legs: 4 },
    { name: 'eel' },
  ],
  words: ['x', 'y', 'zoo'],
  numbers: [1, 2, 3],
  nested: [1, [2, [3]]],
};

describe('filters and tags', () => {
  test.each<[string, string]>([
    ['{% assign a = pets | find: "legs", 6 %}{{ a.name }}', 'ant'],
    [
      '{{ pets | find_index: "legs", 4 }} {{ pets | has: "legs", 5 }} {{ pets | has: "legs" }}',
      '0 false true',
    ],
    ['{{ pets | where: "legs", 4 | map: "name" | join: "+" }}', 'cat+dog'],
    ['{{ pets | where: "at.home" | map: "name" }}', 'cat'],
    ['{{ pets | reject: "legs" | map: "name" }}', 'eel'],
    ['{{ pets | reject: missing | map: "name" | join }}', 'cat ant dog eel'],
    ['{{ words | find: "oo" }} {{ words | has: "y" }} {{ words | reject: "z" | join }}', 'zoo true x y'],
    ['{{ numbers | has: 2 }} {{ numbers | has: 9 }}', 'true false'],
    ['{{ pets | uniq: "legs" | map: "name" | join }}', 'cat ant eel'],
    ['{{ pets | compact: "legs" | size }}', '3'],
    ['{{ nested | concat: nested | join: "" }} {{ nested | sum }}', '123123 6'],
    ['{{ " a  b\nc " | split: " " | join: "|" }} {{ "a  b" | split: "  " | join: "|" }}', 'a|b|c a|b'],
    ['{{ "bob@x.example! (a)" | url_encode }}', 'bob%40x.example%21+%28a%29'],
    ['{{ "_#/." | base64_url_safe_encode }} {{ "XyMvLg==" | base64_url_safe_decode }}', 'XyMvLg== _#/.'],
    [
      '{% cycle "a": 1, 2 %}{% cycle "b": 1, 2 %}{% cycle "a": 7, 8 %}{% cycle 1, 2 %}{% cycle 1, 2 %}',
      '11812',
    ],
    ['{% for n in numbers %}{% ifchanged %}{{ n | at_least: 2 }}{% endifchanged %}{% endfor %}', '23'],
    ['a{% doc %} {{ x }} {% if %} {% enddoc %}b', 'ab'],
    [
      '{% tablerow n in numbers cols: "2" %}{{ n }}{{ tablerowloop.col_last }}{% endtablerow %}',
      '<tr class="row1">\n<td class="col1">1false</td><td class="col2">2true</td></tr>\n<tr class="row2"><td class="col1">3false</td></tr>\n',
    ],
    [
      '{% tablerow n in numbers %}{% if n == 2 %}{% break %}{% endif %}{{ n }}{% endtablerow %}.',
      '<tr class="row1">\n<td class="col1">1</td><td class="col2"></td></tr>\n.',
    ],
  ])('%s', (source, expected) => {
    expect(text(source, NAMES)).toBe(expected);
  });

  test.each(['doc', 'ifchanged', 'tablerow n in l'])('{%% %s %%} has to be closed', (tag) => {
    expect(() => textLiquid.parse(`x\n{% ${tag} %}`)).toThrow(/^Line 2, column 1: .*not closed/);
  });
});

describe('what is unknown is refused with its line when a template is saved', () => {
  const parts: readonly AuthoredPart[] = ['subject', 'previewText', 'html', 'markdown', 'mjml', 'text'];
  const unknown: readonly [source: string, message: RegExp][] = [
    ['ok\n {{ name | shout }}', /^Line 2, column 2: undefined filter: shout\.$/],
    [
      'ok\n{% if a %}{{ name | upcase | shout: 1 }}{% endif %}',
      /^Line 2, column 11: undefined filter: shout\.$/,
    ],
    ['{% assign a = b | shout %}', /^Line 1, column 1: undefined filter: shout\.$/],
    ['{% for i in l %}\n\n{% shout %}{% endfor %}', /^Line 3, column 1: tag "shout" not found\.$/],
    ['{% liquid\n  assign a = 1\n  shout a\n%}', /^Line 3, column 3: tag "shout" not found\.$/],
    ['{{ now | date: "%Q" }}', /^Line 1, column 16: the filter date knows no %Q/],
  ];
  test.each(parts)('in the part %s', (part) => {
    for (const [source, message] of unknown)
      expect(examine({ [part]: source }).problems).toEqual([
        { part, message: expect.stringMatching(message) },
      ]);
  });
});

test('dates are those of Ruby 3.1.2, with flags, widths and colons in any order', () => {
  expect(RUBY.length).toBe(600);
  for (const [seconds, format, expected] of RUBY as [number, string, string][]) {
    const moment = momentOf(seconds, 'UTC');
    if (moment === null) throw new Error(`${seconds} is no moment`);
    expect([format, strftime(moment, format)]).toEqual([format, expected]);
  }
});
