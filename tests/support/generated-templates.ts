import { randomFrom } from '../../src/ops/torture/random.ts';

/** A layout, partials and a template that uses them, with the values of an email; all by a number. */
export interface GeneratedSet {
  /** In the order in which they are made. */
  readonly layers: readonly (object & { readonly alias: string })[];
  readonly template: object & {
    readonly alias: string;
    readonly translations: Readonly<Record<string, object>>;
  };
  readonly values: Readonly<Record<string, unknown>>;
  /** New content of its first layer, after which the first version still gives what it gave. */
  readonly later: object;
}

/**
 * The languages in which the generated templates are asked for; null asks for none. Some templates and layers
 * have translations into `de`, `ar` and `pt`, so that `pt-BR` gets the last one, and `ja` none.
 */
const ASKED = ['de', 'ar', 'pt-BR', 'ja', 'en'] as const;
const TRANSLATED = ['de', 'ar', 'pt'] as const;

/** The languages in which a set is asked for: none, and so many others in turn. */
export const languagesOf = (seed: number, others: number): readonly (string | null)[] => [
  null,
  ...Array.from(
    { length: Math.min(others, ASKED.length) },
    (_, n) => ASKED[(seed + n) % ASKED.length] ?? null,
  ),
];

const TEXTS = [
  'Ada',
  'Zoë & <b>Sons</b>',
  '"quoted" \'twice\'',
  '{{ name }} {% if x %}',
  '*a* _b_ [c](https://evil.example/)',
  'مرحبا 👋 שלום',
  'line one\nline two',
  '</td></table><script>x</script>',
  '&amp; &lt;',
  '   ',
  '',
  `long ${'word '.repeat(60)}`,
];
const VALUES: readonly unknown[] = [...TEXTS, 0, -1.5, 1e21, true, false, null];
const DATES = ['2026-01-31', '2024-02-29T23:59:59Z', '1999-12-31'];
const URLS = ['https://x.example/?a=1&b=2', 'https://x.example/ü?q="', 'https://x.example/#part'];

/** Pieces of content that any format takes, in Liquid over the values. */
const PIECES = [
  '{{ name }}',
  '{{ name | upcase | truncate: 12 }}',
  '{{ other | default: "nothing" }}',
  '{% if flag %}yes {{ name }}{% else %}no{% endif %}',
  '{% for item in items %}{{ forloop.index }} {{ item.title }} {% endfor %}',
  '{% unless flag %}{{ other }}{% endunless %}',
  '{% assign x = name | append: "!" %}{{ x }}',
  '{{ when | date: "%d.%m.%Y" }}',
  '{% case number %}{% when 1 %}one{% when 2 %}two{% else %}{{ number | plus: 1 }}{% endcase %}',
  '{{ items | map: "title" | join: ", " }}',
  '{{ workspace.name }}',
  '{{ when | date: "long" }} {{ when | date: "short time", "Europe/Berlin" }}',
  '{{ number | number: 2 }} {{ number | money: "EUR" }}',
  '{{ number | plural: one: "# seat", other: "# seats" }}',
];

const FORMATS = ['html', 'html', 'emailmd', 'mjml'] as const;

/** The set of a number. */
export function generatedSet(seed: number): GeneratedSet {
  const { next, pick: of } = randomFrom(seed + 1);
  const chance = (share: number): boolean => next() < share;
  const format = of(FORMATS);
  const body = format === 'emailmd' ? 'markdown' : format;
  const named = (name: string) => `g${seed}-${name}`;
  const block = (text: string): string =>
    format === 'html'
      ? of([
          `<p>${text}</p>`,
          `<div style="color:#333">${text}</div>`,
          `<table><tr><td>${text}</td></tr></table>`,
        ])
      : format === 'mjml'
        ? `<mj-section><mj-column><mj-text>${text}</mj-text></mj-column></mj-section>`
        : `${text}\n`;
  const off = of(['<a href="{{ unsubscribeUrl }}">Off</a>', '<a href="{{ off }}">Off</a>', '']);
  const own = of([null, 'en', 'en-GB', 'he']);
  /** The members of a layer or template in some languages, made again for each of them. */
  const inLanguages = (make: (language: string | null) => object) => ({
    language: own,
    ...make(null),
    translations: Object.fromEntries(
      TRANSLATED.filter(() => chance(0.6)).map((language) => [language, make(language)]),
    ),
  });
  const hasOwnText = chance(0.5);
  const partials = ['note', 'go', 'foot'].map((name) => ({
    name,
    alias: named(name),
    kind: 'partial',
    format,
    ...inLanguages((language) => ({
      [body]: block(
        `${name} ${language} ${of(['{{ t }}', '{{ t | default: "none" }}', '{% if t %}<b>{{ t }}</b>{% endif %}'])} {{ year }}${
          format === 'emailmd' ? '' : off.replace('unsubscribeUrl', 'off')
        }`,
      ),
      text: `${name} ${language} {{ t }} {{ year }}`,
    })),
    variables: [
      { key: 't', ...(chance(0.3) ? { fallback: 'fell back' } : {}) },
      { key: 'year', type: 'number', fallback: 2025 },
      { key: 'off' },
    ],
  }));
  const take = (name: string): string =>
    `{% render '${named(name)}', t: ${of(['name', 'other', '"said"', 'items[0].title'])}${chance(0.4) ? ', year: number' : ''}, off: unsubscribeUrl %}`;
  const inside = (names: readonly string[]): string =>
    names.map((name) => (format === 'emailmd' ? `\n${take(name)}\n` : take(name))).join('\n');
  const layout = {
    name: 'layout',
    alias: named('layout'),
    kind: 'layout',
    format,
    ...inLanguages((language) => ({
      [body]:
        format === 'html'
          ? `<!doctype html><html><head><title>{{ brand }} ${language}</title></head><body>\n{{ content }}\n${inside(['foot'])}${off.replace('{{ off }}', '{{ unsubscribeUrl }}')}</body></html>`
          : format === 'mjml'
            ? `<mjml><mj-body>\n{{ content }}\n${inside(['foot'])}</mj-body></mjml>`
            : `{{ content }}\n${inside(['foot'])}`,
      text: `{{ content }}\n-- {{ brand }} ${language} ${take('foot')}`,
    })),
    variables: [{ key: 'brand', fallback: 'Acme & Co' }],
  };
  const hasLayout = format === 'mjml' || chance(0.8);
  const link =
    format === 'html'
      ? '<a href="{{ url }}">{{ name }}</a>'
      : format === 'emailmd'
        ? '[Go]({{ url }})\n'
        : '';
  const template = {
    name: 'template',
    alias: named('template'),
    format,
    from: 'Shop <shop@sender.example>',
    ...inLanguages((language) => ({
      subject: of([
        `Order ${language} {{ number }}`,
        '{{ name | strip_newlines }} {{ number }} .',
        'Plain',
        "{% render 'NOTE', t: number %}",
        ...(language === null ? [] : [null]),
      ])?.replace('NOTE', named('note')),
      previewText: of([null, `Soon ${language} {{ number }}`, 'Plain']),
      [body]: `${Array.from({ length: 2 + (seed % 4) }, () => block(of(PIECES))).join('\n')}\n${inside(chance(0.5) ? ['note', 'go'] : ['note'])}\n${link}`,
      ...(hasOwnText &&
        chance(language === null ? 1 : 0.7) && { text: `${of(PIECES)}\n${take('note')}\n{{ url }}` }),
    })),
    ...(hasLayout && { layoutId: named('layout') }),
    variables: [
      { key: 'number', type: 'number', required: true },
      { key: 'brand', ...(chance(0.5) && { fallback: 'Own' }) },
    ],
  };
  const values = {
    name: of(VALUES),
    other: of(VALUES),
    flag: of([true, false, null, 0, '']),
    number: of([0, 1, 2, 1_842, -7.25]),
    items: Array.from({ length: seed % 3 }, () => ({ title: of(TEXTS) })),
    when: of(DATES),
    url: of(URLS),
    ...(chance(0.5) && { brand: of(TEXTS) }),
  };
  const laterIn = (language: string | null) => ({
    [body]: block(`changed ${language} {{ t }}`),
    text: `changed ${language} {{ t }}`,
  });
  // Each translation that the layer has, too: else those of the first version could be made of them again.
  const later = {
    ...laterIn(null),
    translations: Object.fromEntries(
      Object.keys(partials[0]?.translations ?? {}).map((language) => [language, laterIn(language)]),
    ),
  };
  return { layers: [...partials, ...(hasLayout ? [layout] : [])], template, values, later };
}
