import { describe, expect, test } from 'bun:test';
import { createRequire } from 'node:module';
import type { MarkdownProblem } from '../../src/mail/content/markdown-values.ts';
import { column, page, problemOf, render } from '../support/rendered-mjml.ts';

/** The elements that MJML has, with their attributes. */
const { components } = createRequire(import.meta.resolve('mjml'))('mjml-preset-core') as {
  readonly components: Readonly<
    Record<string, { readonly componentName: string; readonly allowedAttributes?: object }>
  >;
};

/**
 * The elements around each one, from the outermost on, and the content with which MJML uses all of its
 * attributes.
 */
const AROUND: Readonly<Record<string, readonly string[]>> = {
  'mj-section': ['mj-body'],
  'mj-wrapper': ['mj-body'],
  'mj-hero': ['mj-body'],
  'mj-raw': ['mj-body'],
  'mj-column': ['mj-body', 'mj-section'],
  'mj-group': ['mj-body', 'mj-section'],
  'mj-body': [],
};
const IN_COLUMN = ['mj-body', 'mj-section', 'mj-column'];
const PARENTS: Readonly<Record<string, string>> = {
  'mj-social-element': 'mj-social',
  'mj-navbar-link': 'mj-navbar',
  'mj-carousel-image': 'mj-carousel',
  'mj-accordion-element': 'mj-accordion',
};
const IMAGE = '<mj-text>a</mj-text><mj-image src="https://cdn.example/a.png" />';
const CONTENT: Readonly<Record<string, string>> = {
  'mj-body': `<mj-section><mj-column>${IMAGE}</mj-column></mj-section>`,
  'mj-wrapper': `<mj-section><mj-column>${IMAGE}</mj-column></mj-section>`,
  'mj-section': `<mj-column>${IMAGE}</mj-column>`,
  'mj-group': `<mj-column>${IMAGE}</mj-column>`,
  'mj-column': IMAGE,
  'mj-hero': IMAGE,
  'mj-social': '<mj-social-element name="web" src="https://cdn.example/i.png">a</mj-social-element>',
  'mj-carousel': '<mj-carousel-image src="https://cdn.example/a.png" />'.repeat(2),
};
const documentOf = (element: string, attributes: string): string => {
  const around = AROUND[element] ?? (element in PARENTS ? [...IN_COLUMN, PARENTS[element] ?? ''] : IN_COLUMN);
  const content = CONTENT[element] ?? '';
  const written = `<${element} ${attributes}>${content}</${element}>`;
  return `<mjml>${around.reduceRight((inner, name) => `<${name}>${inner}</${name}>`, written)}</mjml>`;
};
/** Html with a number that was calculated of none. */
const BROKEN = /NaN|Infinity|undefined/;
const ATTRIBUTES = Object.values(components).flatMap(({ componentName, allowedAttributes }) =>
  /^mj-(?!head$|attributes|font|style|title|preview|html|breakpoint)/.test(componentName)
    ? [[componentName, Object.keys(allowedAttributes ?? {})] as const]
    : [],
);

describe('a value in an attribute that MJML calculates with', () => {
  test('there are elements and attributes to hold the rule against', () => {
    expect(ATTRIBUTES.length).toBeGreaterThan(20);
    expect(ATTRIBUTES.flatMap(([, names]) => names).length).toBeGreaterThan(250);
  });

  test.each(ATTRIBUTES)(
    'breaks no html of %s: it is refused, or written as it is',
    async (element, names) => {
      for (const name of names)
        for (const value of ['{{ v }}', '{{ v }}px', '{{ v }}%', '1px {{ v }}px', '1px 1px 1px {{ v }}px']) {
          const mode =
            element === 'mj-hero'
              ? 'mode="fluid-height" background-url="https://cdn.example/b.png" background-width="600px" background-height="400px"'
              : '';
          const made = await render(documentOf(element, `${name}="${value}" ${mode}`)).catch(
            (error: unknown) => (error as MarkdownProblem).message,
          );
          if (typeof made !== 'string')
            expect([name, value, BROKEN.exec(made.html)?.[0]]).toEqual([name, value, undefined]);
          else expect(made).toMatch(/^Line 1, column \d+: MJML calculates with/);
        }
    },
  );

  test('is refused with its place and what to write', async () => {
    const wide = page(
      '<mj-section>\n  <mj-column\n width="{{ w }}%"><mj-text>a</mj-text></mj-column></mj-section>',
    );
    expect(await problemOf(wide)).toBe(
      'Line 5, column 9: MJML calculates with width before values are filled in: write a number such as 20px in the place of the value.',
    );
    expect(await problemOf(column('<mj-image src="{{ a }}" width="{{ w }}" />'))).toStartWith(
      'Line 4, column 32: MJML calculates with width',
    );
    expect(await problemOf(column('<mj-divider padding="1px {% if a %}2px{% endif %}" />'))).toContain(
      'padding',
    );
  });

  test('is refused as a default of the element, of its class and of all elements', async () => {
    const section =
      '<mj-section><mj-column mj-class="a wide"><mj-text mj-class="note">a</mj-text></mj-column></mj-section>';
    const withDefault = (text: string) => page(section, `<mj-attributes>${text}</mj-attributes>`);
    for (const wrong of [
      '<mj-column width="{{ w }}%" />',
      '<mj-class name="wide" width="{{ w }}%" />',
      '<mj-all padding="{{ p }}px" />',
    ])
      expect(await problemOf(withDefault(wrong))).toContain('MJML calculates with');
    // Of a text it is written as it is, and above and below a column as well.
    for (const right of [
      '<mj-class name="note" padding="{{ p }}px" />',
      '<mj-text padding="{{ p }}px" />',
      '<mj-column padding="{{ p }}px 0" />',
    ])
      expect((await render(withDefault(right))).html).toContain('{{ p }}px');
  });
});
