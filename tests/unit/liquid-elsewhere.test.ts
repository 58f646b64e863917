import { describe, expect, test } from 'bun:test';
import { textLiquid } from '../../src/mail/liquid/engine.ts';
import { examine } from '../../src/mail/liquid/parts.ts';

// Forms of other templates, which the library reads as far as it can: `{{ .Name }}` wrote nothing, and `{{>
// footer}}` wrote "false".

const problemsOf = (text: string): readonly string[] =>
  examine({ text }).problems.map(({ message }) => message);

describe('a tag or output that is read in part alone is refused when it is saved', () => {
  test.each<[source: string, problem: string]>([
    ['Hi {{ .Name }}', 'Line 1, column 7: .Name has no name before its dot.'],
    ['{{> footer}}', 'Line 1, column 3: the operator > has no value before it.'],
    ['{{ total - discount }}', 'Line 1, column 10: - follows a value without an operator or a filter.'],
    ['{{formatDate date "x"}}', 'Line 1, column 14: date follows a value without an operator or a filter.'],
    ['{{ a, b }}', 'Line 1, column 1: a comma goes between the arguments of a filter only.'],
    ['{% if a %}x{{else}}y{% endif %}', 'Line 1, column 12: else is a tag.'],
    [
      '{% if a eq "b" %}x{% endif %}',
      'Line 1, column 9: eq follows a value without an operator or a filter.',
    ],
    [
      '{% if a %}{% unless b is c %}x{% endunless %}{% endif %}',
      'Line 1, column 23: is follows a value without an operator or a filter.',
    ],
    [
      '{% liquid\n assign a = b c\n%}',
      'Line 2, column 15: c follows a value without an operator or a filter.',
    ],
    ['{{ a == }}', 'Line 1, column 6: the operator == has no value behind it.'],
    ['{{ not }}', 'Line 1, column 4: the operator not has no value behind it.'],
  ])('%s', (source, problem) => {
    const [message, ...others] = problemsOf(source);
    expect(others).toEqual([]);
    expect(message).toStartWith(problem);
    // A template that was stored before is rendered as it was.
    expect(() => textLiquid.render(textLiquid.parse(source), { names: {}, now: 0 })).not.toThrow();
  });

  test.each([
    '{{ "say \\"one, two\\"" }}{{ \'it\\\'s, well\' | append: "." }}',
    '{{ not a }}{{ a or b }}{{ a contains "x, y" }}{{ "a - b, c" }}{{ a | default: "x, y" | replace: "-", " " }}',
    '{% if not a and b == c or d contains "is" %}x{% elsif a != -1 %}y{% else %}z{% endif %}',
    '{% case a %}{% when 1, 2 %}{% when "a" or b %}{% endcase %}{% cycle "a", b %}',
    '{% for i in (1..b) limit: 2 offset: c reversed %}{{ i }}{% endfor %}{{ a.b[0]["c d"] }}{{ a[b.c] }}{{ ["x"] }}',
    '{% assign x = a | plus: 1 %}{% capture y %}{{ x }}{% endcapture %}{% echo x | times: 2 %}{{ elsewhere }}',
  ])('%s is whole', (source) => {
    expect(problemsOf(source)).toEqual([]);
  });
});

describe('the problem of a form of other templates says what to write', () => {
  test.each<[source: string, remedy: string]>([
    ['{{#if name}}Hi{{/if}}', 'write {% if name %} … {% endif %}'],
    ['{{#each items}}x{{/each}}', 'write {% for item in items %} … {% endfor %}'],
    ['{{#unless a}}x{{/unless}}', 'write {% unless name %} … {% endunless %}'],
    ['{{^items}}none{{/items}}', 'write {% unless name %} … {% endunless %}'],
    [
      '{{#items}}x{{/items}}',
      'write {% if name %} … {% endif %}, or {% for item in items %} … {% endfor %} for a list',
    ],
    ['{% if a %}x{{/if}}', 'write {% endif %} or {% endfor %}'],
    ['x{{{body}}}', '{{ name | raw }} writes a value as it is'],
    ['{{&body}}', '{{ name | raw }} writes a value as it is'],
    ['{{! note }}', 'write {% comment %} … {% endcomment %}'],
    ['{{> footer}}', "write {% render 'footer' %}"],
    ['{{else}}', 'write {% else %}'],
    ['{{else if b}}', 'write {% elsif name %}'],
    ['{{@index}}', 'write the name alone, such as {{ name }}'],
    ['{{../name}}', 'write the name alone, such as {{ name }}'],
    ['{{ .Name }}', 'write the name alone, such as {{ name }}'],
    ['{{ $json.name }}', 'write the name alone, such as {{ name }}'],
    ['{{if .Name}}x{{end}}', 'write {% if name %} … {% endif %}'],
    ['{{range .Items}}x{{end}}', 'write {% for item in items %} … {% endfor %}'],
    ['{% elseif a %}', 'write {% elsif name %}'],
    ['{% set a = 1 %}', 'write {% assign name = value %}'],
    ['{% foreach a as b %}', 'write {% for item in items %}'],
    ['{% if a = b %}{% endif %}', 'write {% if name == "value" %}'],
    ['{% if a eq "b" %}{% endif %}', 'write {% if name == "value" %}'],
    ['{% if a && b %}{% endif %}', 'write {% if one and other %}'],
    ['{% if a || b %}{% endif %}', 'write {% if one or other %}'],
    ['{{ a || "x" }}', 'write {{ name | default: "friend" }}'],
    ['{{ a ?? "x" }}', 'write {{ name | default: "friend" }}'],
    ['{{ a - b }}', 'write {{ price | minus: discount }}'],
    ['{{ a * 2 }}', 'write {{ price | times: number }}'],
    [
      '{{ a | default("x") }}',
      'arguments follow the name of a filter and a colon, such as {{ name | default: "friend" }}',
    ],
  ])('%s', (source, remedy) => {
    expect(problemsOf(source)).toEqual([expect.stringMatching(/^Line 1, column \d+: .*[.] Templates/)]);
    expect(problemsOf(source)[0]).toEndWith(`. Templates are Liquid: ${remedy}.`);
  });

  test.each(['{{ "&& - x = y" | nope }}', '{% assign a = "a || b" | nope %}', '{% shout %}'])(
    'that of %s says nothing of them',
    (source) => {
      expect(problemsOf(source)[0]).not.toContain('Templates are Liquid');
    },
  );
});
