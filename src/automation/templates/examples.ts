import { detailsOf } from './model.ts';

const ID = 'tpl_01m7xj1rwzprnwr10308attx';

/** The body that makes the template of the examples. */
export const NEW_TEMPLATE = {
  name: 'Order confirmation',
  alias: 'order-confirmation',
  format: 'html' as const,
  subject: 'Your order {{ number }}',
  html: '<p>Hello {{ name }},</p><ul>{% for item in items %}<li>{{ item.title }}</li>{% endfor %}</ul>',
  language: 'en',
  translations: {
    de: {
      subject: 'Ihre Bestellung {{ number }}',
      html: '<p>Guten Tag {{ name }},</p><ul>{% for item in items %}<li>{{ item.title }}</li>{% endfor %}</ul>',
    },
  },
  from: 'Acme <orders@acme.example>',
  variables: [
    { key: 'name', fallback: 'there' },
    { key: 'number', required: true },
    { key: 'items', type: 'list' as const, required: true },
  ],
};

const ITEM_CONTENT = {
  layoutId: null,
  language: 'en',
  languages: ['de'],
  format: 'html' as const,
  subject: NEW_TEMPLATE.subject,
  previewText: null,
  from: NEW_TEMPLATE.from,
  replyTo: [],
  variables: [
    { key: 'name', type: 'string' as const, required: false, fallback: 'there' },
    { key: 'number', type: 'string' as const, required: true, fallback: null },
    { key: 'items', type: 'list' as const, required: true, fallback: null },
  ],
};
const BODIES = {
  html: NEW_TEMPLATE.html,
  markdown: null,
  mjml: null,
  text: null,
  translations: {
    de: { ...NEW_TEMPLATE.translations.de, previewText: null, markdown: null, mjml: null, text: null },
  },
};

/** The same template in a list, and by itself. */
export const TEMPLATE_ITEM = {
  id: ID,
  livemode: false,
  ...detailsOf(NEW_TEMPLATE),
  kind: 'template' as const,
  ...ITEM_CONTENT,
  version: 1,
  createdAt: '2026-11-20T21:33:00.000Z',
  updatedAt: '2026-11-20T21:33:00.000Z',
};
export const TEMPLATE = {
  ...TEMPLATE_ITEM,
  ...BODIES,
  layers: [],
  usedBy: { count: 0, templates: [] },
};

export const VERSION_ITEM = {
  templateId: ID,
  version: 1,
  isCurrent: true,
  ...ITEM_CONTENT,
  createdAt: '2026-11-20T21:33:00.000Z',
};
export const VERSION = { ...VERSION_ITEM, ...BODIES, layers: [] };

/** The update of the template after a change of the footer that it takes. */
export const USER_UPDATES = {
  templateId: 'tpl_01m7xj1rwzprnwr10308attw',
  version: 2,
  dryRun: true,
  users: [
    {
      id: ID,
      name: NEW_TEMPLATE.name,
      alias: NEW_TEMPLATE.alias,
      kind: 'template' as const,
      fromVersion: 1,
      toVersion: 2,
      problem: null,
      changes: [{ part: 'html' as const, language: null, before: '2025', after: '2026' }],
    },
  ],
};

/** Values that it can be rendered with, and what comes of them. */
export const VALUES = { number: '1842', items: [{ title: 'Tea' }, { title: 'Biscuits' }] };
export const PREVIEW = {
  templateId: ID,
  version: 1,
  language: 'en',
  subject: 'Your order 1842',
  previewText: null,
  html: '<div lang="en" dir="ltr"><p>Hello there,</p><ul><li>Tea</li><li>Biscuits</li></ul></div>',
  text: 'Hello there,\n\n- Tea\n- Biscuits',
  from: NEW_TEMPLATE.from,
  replyTo: [],
  missingVariables: [],
  warnings: [],
  sizeBytes: 86,
};
