import type { Kind } from './formats.ts';
import { NEWS } from './starters/news.ts';
import type { Starter } from './starters/pieces.ts';
import { SERVICE } from './starters/service.ts';

const name = { key: 'name', type: 'string', required: false, fallback: 'there' } as const;

const TEMPLATES = {
  ...SERVICE,
  ...NEWS,
  markdown: {
    title: 'Markdown',
    about: 'Words with simple marks, without the visual editor',
    content: {
      format: 'emailmd',
      subject: 'Hello {{ name }}',
      markdown: ['# Hello {{ name }}', '', 'This is yours to write.'].join('\n'),
      variables: [name],
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
