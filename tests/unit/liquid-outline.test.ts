import { describe, expect, test } from 'bun:test';
import type { Scope } from '../../src/mail/liquid/engine.ts';
import { TooSlow } from '../../src/mail/liquid/limits.ts';
import { createLiquidRenderer } from '../../src/mail/liquid/liquid-renderer.ts';
import { filled, weightOfOutline } from '../../src/mail/liquid/outline.ts';
import { outlineOf } from '../../src/mail/liquid/outlining.ts';
import { type ParsedParts, parseParts, renderParts, type Sources } from '../../src/mail/liquid/parts.ts';
import { randomFrom } from '../../src/ops/torture/random.ts';

const BARE: Sources = { subject: null, previewText: null, html: null, text: null };
const outlined = (sources: Partial<Sources>) => outlineOf(parseParts({ ...BARE, ...sources }));
const outlinedIn = (html: string) => outlined({ html });

/** A rendering in which a collection of garbage takes the time is tried a second time, as a send does. */
function rendered(parsed: ParsedParts, scope: Scope) {
  try {
    return renderParts(parsed, scope);
  } catch (error) {
    if (!(error instanceof TooSlow)) throw error;
    return renderParts(parsed, scope);
  }
}

/** Forms that authors write, with all that could go wrong between one and a value. */
const PIECES = [
  'Hi ',
  '\n',
  '  ',
  '<p>',
  '</p>',
  '<br>',
  '<a href="',
  '">',
  "<a href='",
  ':',
  'javascript',
  '"',
  '=',
  '<html lang="',
  '<html>',
  '<body>',
  '<head><title>',
  '</title></head>',
  '<!-- ',
  ' -->',
  '<style>',
  ' lang="und"',
  ' dir="auto"',
  '<b lang="',
  'ä',
  '\ud83d',
  '\0',
  '\uE0F0',
  '{{ contact.firstName }}',
  "{{ contact['lastName'] | default: '<b>' }}",
  '{{- contact.lastName -}}',
  '{{ contact.firstName | default: "there" }}',
  '{{ unsubscribeUrl }}',
  '{{ preferencesUrl }}',
  '{{ n }}',
  '{{ contact.size }}',
  '{{ contact.properties.a.b }}',
  '{{ lacking.more }}',
  '{{ contact.toString }}',
  '{{ contact }}',
  '{{ "text" }}',
  '{{ nil }}',
  '{{ n | raw }}',
  '{{ n | upcase }}',
  '{% if n %}x{% endif %}',
];
const VALUES: readonly unknown[] = [
  'Ann',
  '',
  null,
  undefined,
  '<b>&"',
  'a\nb',
  '{{unsubscribeUrl}}',
  ' x ',
  '\0',
  '\ud83d',
  '\ude00',
  5,
  0,
  -1.5,
  1e21,
  true,
  false,
  ['a', 'b'],
  { x: 1 },
  'javascript:alert(1)',
  'javascript',
  'script',
  'https://a.example/?a=1&b=2',
  'und',
  'auto',
  ' lang=',
  '<!--',
  '\u2028',
  'x'.repeat(600_000),
];

describe('an outline', () => {
  test('is filled as its sources are rendered', () => {
    const { next, between, pick } = randomFrom(11);
    const chance = (of: number): boolean => next() < 1 / of;
    const source = (most: number): string =>
      Array.from({ length: between(1, most) }, () => pick(PIECES)).join('');
    const contact = () => ({
      firstName: pick(VALUES),
      lastName: pick(VALUES),
      properties: chance(3) ? pick(VALUES) : { a: { b: pick(VALUES) } },
    });
    let compared = 0;
    for (let made = 0; made < 4_000; made++) {
      const parsed = parseParts({
        subject: chance(2) ? source(3) : null,
        previewText: chance(3) ? source(3) : null,
        html: source(8),
        text: chance(3) ? source(5) : null,
        placesPreview: chance(2),
        placesLanguage: chance(2),
        language: chance(2) ? 'ar' : null,
      });
      const outline = outlineOf(parsed);
      if (!outline) continue;
      for (let filling = 0; filling < 8; filling++) {
        const names = { contact: contact(), n: pick(VALUES), preferencesUrl: 'https://h.example/p' };
        const parts = filled(outline, names);
        if (!parts) continue;
        compared++;
        expect(parts).toEqual(rendered(parsed, { names, now: 0 }));
      }
    }
    expect(compared).toBeGreaterThan(1_000);
  });

  test('is there for values alone, with a text for their absence', () => {
    const outline = outlinedIn(
      '<p>Hi {{ contact.firstName | default: "you" }}, <a href="{{unsubscribeUrl}}">go</a>',
    );
    expect(outline && filled(outline, { contact: { firstName: '<Ann>' } })?.html).toBe(
      '<p>Hi &lt;Ann&gt;, <a href="{{unsubscribeUrl}}">go</a>',
    );
    expect(outline && filled(outline, {})?.html).toContain('Hi you,');
  });

  test.each([
    '{% for i in (1..3) %}x{% endfor %}',
    '{{ n | upcase }}',
    '{{ n | raw }}',
    '{{ list.size }}',
    '{{ contact[n] }}',
    '{{ n | default: other }}',
    // No database takes the first, and no mail the second.
    '{{ n | default: "\\u0000" }}',
    '{{ n | default: "\\ud83d" }}',
    '{{ n }}'.repeat(101),
  ])('is not there for %s', (html) => {
    expect(outlinedIn(html)).toBeNull();
  });

  test('weighs no less than the texts that it holds, wherever they are', () => {
    const long = 'x'.repeat(10_000);
    for (const html of [
      `<p>${long}{{ n }}`,
      `{{ n | default: "${long}" }}`,
      `{{ n['${long}'] }}`,
      `{{ ${long} }}`,
    ])
      expect(weightOfOutline(outlinedIn(html))).toBeGreaterThan(10_000);
    // A short name is an object, too.
    expect(weightOfOutline(outlinedIn('{{ n }}'.repeat(100)))).toBeGreaterThan(10_000);
  });

  test('is not filled with what only Liquid knows how to write', () => {
    const outline = outlinedIn('<p>{{ n }}');
    for (const n of [['a'], { a: 1 }, true, '\0', '\ud83d', 'x'.repeat(1_100_000)])
      expect(outline && filled(outline, { n })).toBeNull();
  });

  test('is not filled with a link that runs a script', () => {
    const outline = outlinedIn('<a href="{{ n }}">');
    expect(outline && filled(outline, { n: 'javascript:alert(1)' })).toBeNull();
    expect(outline && filled(outline, { n: 'https://a.example' })?.html).toBe('<a href="https://a.example">');
  });

  test('takes the place of the thread once the sources were quick', async () => {
    const renderer = createLiquidRenderer();
    const asked = { owner: 'a', key: 'b', sources: { ...BARE, html: '<p>{{ n }}' } };
    const render = (n: unknown) => renderer.render({ ...asked, scope: { names: { n }, now: 0 } });
    expect(await render('one')).toHaveProperty('html', '<p>one');
    renderer.close();
    expect(await render('two')).toHaveProperty('html', '<p>two');
    await expect(render(['three'])).rejects.toThrow('too many wait');
  });
});
