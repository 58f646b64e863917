import { ownOf } from '../../../../../../platform/text/own-member.ts';
import type { CreateTemplate, Template, TemplateVariableInput } from '../../../../../client/operations.ts';
import { orNull } from '../../ui/forms/or-null.ts';
import { FORMATS, sourceOf } from './formats.ts';
import { type TranslationDraft, translationsIn, translationsOf } from './languages/translation-draft.ts';

type Type = NonNullable<TemplateVariableInput['type']>;

/** A variable while it is edited. */
export interface VariableRow {
  readonly id: number;
  readonly key: string;
  readonly type: Type;
  readonly required: boolean;
  /** As text; JSON for lists and objects. */
  readonly fallback: string;
}

type ContentMember =
  | 'subject'
  | 'previewText'
  | 'html'
  | 'markdown'
  | 'mjml'
  | 'text'
  | 'from'
  | 'replyTo'
  | 'variables'
  | 'layoutId'
  | 'language'
  | 'translations';
type DetailName = Exclude<keyof CreateTemplate, ContentMember | 'format' | 'kind'>;

/** The label and the hint of each field beside the content. */
export const DETAILS = {
  name: { label: 'Name', hint: 'Recipients never see it.' },
  alias: { label: 'Alias', hint: 'The name that your program uses instead of the ID.' },
} as const satisfies Record<DetailName, { readonly label: string; readonly hint: string }>;

/** The names of these fields, in the order of the form. */
export const DETAIL_NAMES = Object.keys(DETAILS) as DetailName[];

/** The content without these fields, for a template that keeps those that it has. */
export const withoutDetails = <Whole extends Partial<Record<DetailName | 'kind', unknown>>>(whole: Whole) => {
  const names: readonly string[] = [...DETAIL_NAMES, 'kind'];
  return Object.fromEntries(Object.entries(whole).filter(([name]) => !names.includes(name))) as Omit<
    Whole,
    DetailName | 'kind'
  >;
};

const eachDetail = <Value>(make: (name: DetailName) => Value) =>
  Object.fromEntries(DETAIL_NAMES.map((name) => [name, make(name)])) as Record<DetailName, Value>;

/** A template while it is edited. */
export type Draft = { readonly [Name in DetailName]: string } & {
  readonly subject: string;
  readonly previewText: string;
  readonly from: string;
  readonly replyTo: string;
  /** Empty without a layout. */
  readonly layoutId: string;
  readonly source: string;
  readonly text: string;
  /** Empty where its own content names none. */
  readonly language: string;
  readonly translations: Readonly<Record<string, TranslationDraft>>;
  readonly variables: readonly VariableRow[];
};

/** Restored rows may meet newer ones, so numbers are never reused. */
let latest = Date.now();
export const newVariable = (key = ''): VariableRow => ({
  id: ++latest,
  key,
  type: 'string',
  required: false,
  fallback: '',
});

const asText = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

/** The editable fields of a template, or of one of its versions. */
export const draftOf = (template: Template): Draft => ({
  ...eachDetail((name) => template[name] ?? ''),
  subject: template.subject ?? '',
  previewText: template.previewText ?? '',
  from: template.from ?? '',
  replyTo: template.replyTo.join(', '),
  layoutId: template.layoutId ?? '',
  language: template.language ?? '',
  translations: translationsOf(template),
  source: sourceOf(template),
  text: FORMATS[template.format].hasText ? (template.text ?? '') : '',
  variables: template.variables.map(({ key, type, required, fallback }) => ({
    ...newVariable(key),
    type,
    required,
    fallback: asText(fallback),
  })),
});

/**
 * A text as a value of a type; undefined for an empty text. A text of another type is sent unchanged, and the
 * service reports it.
 */
export function parsedValue(type: Type, text: string): unknown {
  if (text.trim() === '') return undefined;
  if (type === 'string' || type === 'date') return text;
  if (type === 'number' && !Number.isFinite(Number(text))) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The declared variables as the request has them. */
export const declaredIn = (draft: Draft): readonly TemplateVariableInput[] =>
  draft.variables
    .filter(({ key }) => key.trim() !== '')
    .map(({ key, type, required, fallback }) => {
      const value = parsedValue(type, fallback);
      return { key: key.trim(), type, required, ...(value !== undefined && { fallback: value }) };
    });

/** The labels of a draft's fields. */
export const LABELS = {
  ...eachDetail((name) => DETAILS[name].label),
  subject: 'Subject',
  previewText: 'Preview text',
  from: 'From',
  replyTo: 'Reply to',
  layoutId: 'Layout',
  source: 'Source',
  text: 'Text part',
  language: 'Language',
  translations: 'Translations',
  variables: 'Variables',
} as const satisfies Record<string, string>;

/** The parts that are rendered, as a preview takes them. */
export const contentOf = (draft: Draft, format: Template['format']) => ({
  subject: orNull(draft.subject),
  previewText: orNull(draft.previewText),
  [FORMATS[format].member]: draft.source,
  ...(FORMATS[format].hasText && { text: orNull(draft.text) }),
  from: orNull(draft.from),
  layoutId: orNull(draft.layoutId),
  replyTo: draft.replyTo
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== ''),
});

/** The changed fields, in the form of a request. */
export function changesOf(
  names: readonly string[],
  draft: Draft,
  template: Pick<Template, 'format' | 'translations'>,
): Partial<ReturnType<typeof patchOf>> {
  const { member } = FORMATS[template.format];
  const members = new Set<string>(names.map((name) => (name === 'source' ? member : name)));
  return Object.fromEntries(Object.entries(patchOf(draft, template)).filter(([name]) => members.has(name)));
}

/**
 * All that is saved of a template that exists: languages that were removed are null, and so are those that
 * only the version has that it builds on.
 */
export function patchOf(
  draft: Draft,
  { format, translations }: Pick<Template, 'format' | 'translations'>,
  builtOn: readonly string[] = [],
) {
  const body = bodyOf(draft, format);
  const removed = [...Object.keys(translations), ...builtOn].filter(
    (language) => !Object.hasOwn(body.translations, language),
  );
  return {
    ...body,
    translations: {
      ...Object.fromEntries(removed.map((language) => [language, null])),
      ...body.translations,
    },
  };
}

/** All that is saved. */
export const bodyOf = (draft: Draft, format: Template['format']) => ({
  ...eachDetail((name) => orNull(draft[name])),
  name: draft.name,
  ...contentOf(draft, format),
  language: orNull(draft.language),
  translations: translationsIn(draft, format),
  variables: declaredIn(draft),
});

/** The values for a preview, without the empty ones. */
export const valuesOf = (
  { variables }: Pick<Draft, 'variables'>,
  entered: Readonly<Record<string, string>>,
): Record<string, unknown> =>
  Object.fromEntries(
    variables.flatMap(({ key, type }) => {
      const value = parsedValue(type, ownOf(entered, key) ?? '');
      return value === undefined ? [] : [[key, value]];
    }),
  );
