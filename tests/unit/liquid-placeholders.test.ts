import { describe, expect, test } from 'bun:test';
import { parseParts, renderParts } from '../../src/mail/liquid/parts.ts';

/** The text and the html of one source, with the placeholder of the link to unsubscribe. */
const bothOf = (source: string, names: Record<string, unknown> = {}): readonly (string | null)[] => {
  const { text, html } = renderParts(
    parseParts({ subject: null, previewText: null, text: source, html: source }),
    { names, now: Date.UTC(2026, 0, 31) },
  );
  return [text, html];
};

describe('the link to unsubscribe', () => {
  test.each([
    'raw',
    'escape',
    'strip',
    'default: "#"',
    'raw | default: "#"',
    'replace: "http:", "https:"',
    'remove: " "',
    'truncate: 200',
    'raw | strip | raw',
  ])('is filled in behind the filter %s', (filter) => {
    expect(bothOf(`{{ unsubscribeUrl | ${filter} }}`)).toEqual(['{{unsubscribeUrl}}', '{{unsubscribeUrl}}']);
  });

  test('is filled in with something before and behind it, which is escaped', () => {
    const source = '{{ unsubscribeUrl | append: v | prepend: "Leave: " }}';
    expect(bothOf(source, { v: '?a=1&b=2' })).toEqual([
      'Leave: {{unsubscribeUrl}}?a=1&b=2',
      'Leave: {{unsubscribeUrl}}?a=1&amp;b=2',
    ]);
  });

  test('is filled in behind `default` too where something stands beside it', () => {
    for (const source of [
      '{{ unsubscribeUrl | append: "?a=1" | default: "#" }}',
      '{% capture u %}{{ unsubscribeUrl }}?a=1{% endcapture %}{{ u | default: "#" }}',
    ])
      expect(bothOf(source)).toEqual(['{{unsubscribeUrl}}?a=1', '{{unsubscribeUrl}}?a=1']);
  });

  test('is filled in where a capture or another name holds it', () => {
    for (const source of [
      '{% capture link %}<{{ unsubscribeUrl }}>{% endcapture %}{{ link }}',
      '{% assign u = unsubscribeUrl | default: "#" %}<{{ u }}>',
    ])
      expect(bothOf(source)).toEqual(['<{{unsubscribeUrl}}>', '<{{unsubscribeUrl}}>']);
  });

  test.each(['raw', 'default: "#"', 'append: ""', 'strip', 'raw | append: ""'])(
    'is not made by a value, nor behind the filter %s',
    (filter) => {
      const v = '{{unsubscribeUrl}}';
      for (const source of [
        `{{ v | ${filter} }}`,
        `{% capture c %}{{ v | ${filter} }}{% endcapture %}{{ c | ${filter} }}`,
        `{% capture c %}{{ v }}{% endcapture %}{{ c | ${filter} }}`,
      ])
        for (const written of bothOf(source, { v })) expect(written).not.toContain('{{unsubscribeUrl');
    },
  );
});

test('what a capture made is not escaped behind `default`, and what stands in for it is', () => {
  const source = '{% capture c %}<b>{{ v }}</b>{% endcapture %}{{ c | default: "-" }}{{ w | default: v }}';
  expect(bothOf(source, { v: '<' })[1]).toBe('<b>&lt;</b>&lt;');
});
