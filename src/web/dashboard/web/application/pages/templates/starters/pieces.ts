import { colourOr, inkOn, USUAL_COLOUR } from '../../../../../../../mail/message/ink.ts';
import { FONTS } from '../../../../../../../platform/text/fonts.ts';
import type {
  CreateTemplate,
  TemplateVariableInput,
  Workspace,
} from '../../../../../../client/operations.ts';

/** A starting point for a new template. */
export interface Starter {
  readonly title: string;
  readonly about: string;
  readonly content: Omit<CreateTemplate, 'name' | 'kind'>;
}

/** The part of a workspace's brand that a message takes. */
type MessageBrand = Pick<Workspace['branding'], 'colour' | 'fontFamily'>;

/**
 * A starting point in the colour and the font of the workspace. A colour too light to be read on white is not
 * that of links.
 */
export function branded(mjml: string, brand: MessageBrand | undefined): string {
  const colour = colourOr(brand?.colour, USUAL_COLOUR);
  const ink = inkOn(colour);
  return mjml
    .replaceAll(BUTTON, `background-color="${colour}" color="${ink}"`)
    .replaceAll(LINK, `color: ${ink === '#ffffff' ? colour : INK}`)
    .replaceAll(FONTS.system, FONTS[brand?.fontFamily ?? 'system']);
}

const BUTTON = `background-color="${USUAL_COLOUR}" color="#ffffff"`;
/** The colour of links in a text. */
export const LINK = `color: ${USUAL_COLOUR}`;
const INK = '#18181b';

const STYLE = [
  ':root { color-scheme: light dark; }',
  '@media (prefers-color-scheme: dark) {',
  '  .page, .page > div { background-color: #18181b !important; }',
  '  .card, .card > table { background-color: #27272a !important; }',
  '  .card div, .foot div { color: #e4e4e7 !important; }',
  '  .card div > a, .card p > a, .card li > a, .foot div > a { color: #5eead4 !important; }',
  '}',
];

/** Lines of markup, each further in by some spaces. */
const inside = (lines: readonly string[], spaces: number): readonly string[] =>
  lines.map((line) => `${' '.repeat(spaces)}${line}`);

/** A section on the white ground. */
export const card = (...columns: readonly (readonly string[])[]): readonly string[] => [
  '<mj-section background-color="#ffffff" padding="12px 0" css-class="card">',
  ...columns.flatMap((blocks) => ['  <mj-column>', ...inside(blocks, 4), '  </mj-column>']),
  '</mj-section>',
];

/** Sections that are repeated for each item of a list. */
export const each = (list: string, rows: readonly string[]): readonly string[] => [
  `<mj-raw>{% for item in ${list} %}</mj-raw>`,
  ...rows,
  '<mj-raw>{% endfor %}</mj-raw>',
];

const plain = (...blocks: readonly string[]): readonly string[] => [
  '<mj-section padding="16px 0" css-class="foot">',
  '  <mj-column>',
  ...inside(blocks, 4),
  '  </mj-column>',
  '</mj-section>',
];
const small = (words: string): string =>
  `<mj-text align="center" font-size="13px" color="#5b5b64">${words}</mj-text>`;

const RIGHTS = '{{ workspace.name }}<br />{{ workspace.address }}';
const UNSUBSCRIBE = '<a href="{{ unsubscribeUrl }}" style="color: #5b5b64">Unsubscribe</a>';

/** A whole message. `isNews`: with a link to unsubscribe. */
export const message = (isNews: boolean, ...sections: readonly (readonly string[])[]): string =>
  [
    '<mjml lang="en">',
    '  <mj-head>',
    '    <mj-attributes>',
    `      <mj-all font-family="${FONTS.system}" />`,
    '      <mj-text font-size="16px" line-height="1.5" color="#3f3f46" />',
    `      <mj-button ${BUTTON} border-radius="8px" font-size="16px" font-weight="600" inner-padding="12px 24px" align="left" />`,
    '      <mj-divider border-width="1px" border-color="#e4e4e7" />',
    '    </mj-attributes>',
    '    <mj-style>',
    ...inside(STYLE, 6),
    '    </mj-style>',
    '  </mj-head>',
    '  <mj-body background-color="#f4f4f5" css-class="page">',
    ...inside(plain('<mj-text font-weight="600" color="#18181b">{{ workspace.name }}</mj-text>'), 4),
    ...sections.flatMap((section) => inside(section, 4)),
    ...inside(plain(small(isNews ? `${RIGHTS}<br />${UNSUBSCRIBE}` : RIGHTS)), 4),
    '  </mj-body>',
    '</mjml>',
  ].join('\n');

export const title = (words: string): string =>
  `<mj-text font-size="28px" line-height="1.25" color="#18181b"><h1 style="margin: 0; font-size: inherit; font-weight: 600">${words}</h1></mj-text>`;
export const heading = (words: string): string =>
  `<mj-text font-size="18px" line-height="1.3" color="#18181b"><h2 style="margin: 0; font-size: inherit; font-weight: 600">${words}</h2></mj-text>`;
export const words = (content: string): string => `<mj-text>${content}</mj-text>`;
export const note = (content: string): string =>
  `<mj-text font-size="14px" color="#5b5b64">${content}</mj-text>`;
export const amount = (content: string): string => `<mj-text align="right">${content}</mj-text>`;
export const button = (label: string, href: string): string =>
  `<mj-button href="${href}">${label}</mj-button>`;
export const DIVIDER = '<mj-divider />';

/** A text that a request must send. */
export const needed = (key: string): TemplateVariableInput => ({ key, type: 'string', required: true });
/** A text with a default. */
export const text = (key: string, fallback: string): TemplateVariableInput => ({
  key,
  type: 'string',
  required: false,
  fallback,
});
/** A list with an example. */
export const list = (key: string, ...fallback: readonly object[]): TemplateVariableInput => ({
  key,
  type: 'list',
  required: false,
  fallback,
});
export const NAME = text('name', 'there');
/** The name of the contact, in campaigns. */
export const READER = '{{ contact.firstName | default: "there" }}';
