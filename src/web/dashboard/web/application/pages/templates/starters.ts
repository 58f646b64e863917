import type { CreateTemplate } from '../../../../../client/operations.ts';
import type { Kind } from './formats.ts';

/** A starting point for a new template. */
export interface Starter {
  readonly title: string;
  readonly about: string;
  readonly content: Omit<CreateTemplate, 'name' | 'kind'>;
}

const name = { key: 'name', type: 'string', required: false, fallback: 'there' } as const;

const TEMPLATES = {
  welcome: {
    title: 'Welcome',
    about: 'Markdown with a button',
    content: {
      format: 'emailmd',
      subject: 'Welcome, {{ name }}',
      previewText: 'Three minutes to your first result.',
      markdown: [
        '# Welcome, {{ name }}',
        '',
        'Your account is ready. The next step takes three minutes.',
        '',
        '[Get started]({{ startUrl }}){button}',
        '',
        'If anything is unclear, answer to this email: a person reads it.',
      ].join('\n'),
      variables: [name, { key: 'startUrl', type: 'string', required: true }],
    },
  },
  receipt: {
    title: 'Receipt',
    about: 'Markdown with a filled-in list',
    content: {
      format: 'emailmd',
      subject: 'Your order {{ number }}',
      markdown: [
        '# Thank you, {{ name }}',
        '',
        'We have received your order **{{ number }}**.',
        '',
        '{% for item in items %}',
        '- {{ item.title }}: {{ item.price }}',
        '{% endfor %}',
        '',
        '**Total: {{ total }}**',
      ].join('\n'),
      variables: [
        name,
        { key: 'number', type: 'string', required: true },
        { key: 'items', type: 'list', required: false, fallback: [{ title: 'A book', price: '€ 18.00' }] },
        { key: 'total', type: 'string', required: true },
      ],
    },
  },
  mjml: {
    title: 'MJML',
    about: 'Columns and a button that look alike in every mail program',
    content: {
      format: 'mjml',
      subject: 'News for {{ name }}',
      mjml: [
        '<mjml lang="en">',
        '  <mj-body background-color="#f4f4f5">',
        '    <mj-section background-color="#ffffff">',
        '      <mj-column>',
        '        <mj-text font-size="20px" font-weight="600">Hello {{ name }}</mj-text>',
        '        <mj-text>Here is what is new.</mj-text>',
        '        <mj-button href="{{ url }}">Read more</mj-button>',
        '      </mj-column>',
        '    </mj-section>',
        '    <mj-section background-color="#ffffff">',
        '      <mj-raw>{% for item in items %}</mj-raw>',
        '      <mj-column>',
        '        <mj-text font-weight="600">{{ item.title }}</mj-text>',
        '        <mj-text>{{ item.text }}</mj-text>',
        '      </mj-column>',
        '      <mj-raw>{% endfor %}</mj-raw>',
        '    </mj-section>',
        '  </mj-body>',
        '</mjml>',
      ].join('\n'),
      variables: [
        name,
        { key: 'url', type: 'string', required: true },
        {
          ...{ key: 'items', type: 'list', required: false },
          fallback: [
            { title: 'First', text: 'A sentence about it.' },
            { title: 'Second', text: 'A sentence about it.' },
          ],
        },
      ],
    },
  },
  newsletter: {
    title: 'Newsletter',
    about: 'Markdown with an unsubscribe link',
    content: {
      format: 'emailmd',
      subject: 'News of {{ month }}',
      markdown: [
        '# News of {{ month }}',
        '',
        'Hello {{ contact.firstName | default: "there" }},',
        '',
        'what happened, and what comes next.',
        '',
        '---',
        '',
        '[Unsubscribe]({{ unsubscribeUrl }})',
      ].join('\n'),
      variables: [{ key: 'month', type: 'string', required: false, fallback: 'November' }],
    },
  },
  html: {
    title: 'HTML',
    about: 'Your own HTML page',
    content: {
      format: 'html',
      subject: 'Hello {{ name }}',
      html: [
        '<!doctype html>',
        '<html lang="en">',
        '  <body style="font-family: sans-serif; padding: 24px">',
        '    <h1>Hello {{ name }}</h1>',
        '    <p>This is yours to write.</p>',
        '  </body>',
        '</html>',
      ].join('\n'),
      variables: [name],
    },
  },
} as const satisfies Record<string, Starter>;

const LAYOUTS = {
  html: {
    title: 'HTML',
    about: 'Around templates in HTML',
    content: {
      format: 'html',
      html: [
        '<!doctype html>',
        '<html lang="en">',
        '  <body style="font-family: sans-serif; padding: 24px">',
        '    {{ content }}',
        '    <p style="color: #71717a">{{ workspace.name }}, {{ workspace.address }}</p>',
        '  </body>',
        '</html>',
      ].join('\n'),
      text: '{{ content }}\n\n--\n{{ workspace.name }}, {{ workspace.address }}',
    },
  },
  markdown: {
    title: 'Markdown',
    about: 'Around templates in Markdown',
    content: {
      format: 'emailmd',
      markdown: ['{{ content }}', '', '---', '', '{{ workspace.name }}, {{ workspace.address }}'].join('\n'),
    },
  },
  mjml: {
    title: 'MJML',
    about: 'Around templates that are sections in MJML',
    content: {
      format: 'mjml',
      mjml: [
        '<mjml lang="en">',
        '  <mj-body background-color="#f4f4f5">',
        '    {{ content }}',
        '    <mj-section>',
        '      <mj-column><mj-text>{{ workspace.name }}, {{ workspace.address }}</mj-text></mj-column>',
        '    </mj-section>',
        '  </mj-body>',
        '</mjml>',
      ].join('\n'),
    },
  },
} as const satisfies Record<string, Starter>;

const PARTIALS = {
  html: {
    title: 'HTML',
    about: 'For templates in HTML and MJML',
    content: {
      format: 'html',
      html: '<p style="color: #71717a">{{ note }}</p>',
      text: '{{ note }}',
      variables: [{ key: 'note', type: 'string', required: false, fallback: 'Written with care.' }],
    },
  },
  markdown: {
    title: 'Markdown',
    about: 'For templates in Markdown',
    content: {
      format: 'emailmd',
      markdown: '*{{ note }}*',
      variables: [{ key: 'note', type: 'string', required: false, fallback: 'Written with care.' }],
    },
  },
  mjml: {
    title: 'MJML',
    about: 'Sections for templates in MJML',
    content: {
      format: 'mjml',
      mjml: '<mj-section><mj-column><mj-text>{{ note }}</mj-text></mj-column></mj-section>',
      variables: [{ key: 'note', type: 'string', required: false, fallback: 'Written with care.' }],
    },
  },
} as const satisfies Record<string, Starter>;

/** The starting points of each kind. */
export const STARTERS = { template: TEMPLATES, layout: LAYOUTS, partial: PARTIALS } as const satisfies Record<
  Kind,
  Readonly<Record<string, Starter>>
>;
