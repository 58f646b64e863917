import { expect, test } from 'bun:test';
import { writtenOut } from '../../src/automation/campaigns/preview/check.ts';
import { contactUsesIn, defaultedIn, placesOf } from '../../src/mail/liquid/places.ts';
import { costMs } from '../support/own-time.ts';

test('a name is found at the first tag or output that holds it, and not in the text between them', () => {
  const source = 'city {x} {{ name }} {% if city %}{{ city }}{% endif %}';
  expect(Object.fromEntries(placesOf(source, ['name', 'city', 'zip']))).toEqual({ name: 9, city: 20 });
});

test('braces without an end cost time that grows with their number alone', () => {
  const names = Array.from({ length: 20 }, (_, index) => `name_${index}`);
  const sources = ['{'.repeat(240_000), '{%'.repeat(120_000), '{{a}}'.repeat(48_000)];
  sources.push(
    `{{${'a[['.repeat(80_000)}}}`,
    `{{${'a . '.repeat(60_000)}}}`,
    `{{${'assign '.repeat(34_000)}}}`,
  );
  const cost = costMs(() => {
    for (const source of sources) {
      placesOf(source, names);
      contactUsesIn(source);
      defaultedIn(source);
    }
  });
  // Each name took half a minute.
  expect(cost).toBeLessThan(1_000);
});

test('a default counts where a name is used first, and not where a tag sets it or a text says it', () => {
  const isDefaulted = (source: string, path = 'name') => defaultedIn(source).has(path);
  for (const source of [
    'Your name: {{ name | default: "x" }} {{ name }}',
    '{% assign name = name | default: "x" %}{{ name }}',
    '{{ nickname }}{{ a.name }}{{ "name" }}{{ name | default: "x" }}',
    '{% capture name %}{{ name | default: "x" }}{% endcapture %}',
    '{% comment %}{{ name }}{% raw %}{{ name }}{% endcomment %}{{ name | default: 1 }}',
    '{%- raw -%}{{ name }}{% endcomment %}{{ name }}{%- endraw -%}{{ name | default: 1 }}',
  ])
    expect([source, isDefaulted(source)]).toEqual([source, true]);
  for (const source of [
    '{{ name }}{{ name | default: 1 }}',
    '{% if name %}{{ name | default: 1 }}{% endif %}',
    '{{ a | append: name | default: 1 }}',
    '{{ a | replace: "x" , name | default: 1 }}',
    '{% raw %}{{ name | default: 1 }}{% endraw %}',
    '',
  ])
    expect([source, isDefaulted(source)]).toEqual([source, false]);
  expect(isDefaulted("{{ a['b'].c | default: 1 }}", 'a.b.c')).toBe(true);
});

const sources = (text: string) => ({ subject: null, previewText: null, html: null, text });

test('values of contacts count where they are written out, without a default and without a condition', () => {
  const body = `{{contact.firstName}} {{- contact.lastName | upcase -}} {{ contact.phone | default: "-" }}
    {{ contact.properties.city }} {% if contact.properties.city.size > 2 %}{% endif %}`;
  const names = ['contact.firstName', 'contact.lastName', 'contact.phone', 'contact.properties.city'];
  const uses = contactUsesIn(body);
  expect([...uses.written.keys()]).toEqual([
    'contact.firstName',
    'contact.lastName',
    'contact.properties.city',
  ]);
  const found = writtenOut(
    {
      names: ['order', ...names, 'contact.properties.plan'],
      sources: sources('{{ contact.properties.plan }}'),
    },
    body,
  );
  expect(found.map(({ name, at }) => [name, at])).toEqual([
    ['contact.firstName', 0],
    ['contact.lastName', body.indexOf('{{-')],
    ['contact.properties.plan', null],
  ]);
});

test('of thousands of names the first twenty are counted, in a moment', () => {
  const names = Array.from({ length: 5_000 }, (_, index) => `contact.properties.p${index}`);
  const body = names
    .map((name) => `{{ ${name} }}`)
    .join('')
    .padEnd(240_000, '{');
  let found: readonly string[] = [];
  const cost = costMs(() => {
    found = writtenOut({ names, sources: sources(body) }, body).map(({ name }) => name);
  });
  expect(found).toEqual(names.slice(0, 20));
  expect(writtenOut({ names, sources: sources('') }, `{{ ${names[199]} }}`)).toHaveLength(1);
  expect(writtenOut({ names, sources: sources('') }, `{{ ${names[200]} }}`)).toHaveLength(0);
  expect(cost).toBeLessThan(500);
});
