import { isTooLong } from '../../../mail/liquid/parts.ts';
import { isProblem, parseAddress } from '../../../platform/text/address.ts';
import { hasControls } from '../../../platform/text/characters.ts';
import { NO_LANGUAGE, readLanguage } from '../../../platform/text/language.ts';
import type { Report } from '../../../platform/text/problems.ts';
import { parseReplyTo } from '../../../sending/emails/commands.ts';
import { authoredIn, checkSize, pointerOf, readTranslations } from '../languages/translations.ts';
import type { TemplateKind } from '../layers/layer-model.ts';
import { BODY_OF, type DeclaredVariable, type NewTemplate, type VariableView } from '../model.ts';
import type { VersionContent } from './stored-content.ts';
import { problemOfValue, readDeclared } from './variables.ts';

export type { StoredContent, VersionContent } from './stored-content.ts';

/** The members of a request that are content. */
export type GivenContent = Partial<Omit<Pick<NewTemplate, keyof VersionContent>, 'variables'>> & {
  readonly variables?: readonly DeclaredVariable[];
};

/** The content before the first version. */
export const NOTHING: VersionContent = {
  format: 'html',
  subject: null,
  previewText: null,
  html: null,
  markdown: null,
  mjml: null,
  text: null,
  from: null,
  replyTo: [],
  variables: [],
  layoutId: null,
  language: null,
  translations: {},
};

const NEEDS = {
  markdown: 'Must be given only with the format emailmd.',
  mjml: 'Must be given only with the format mjml.',
};
const NO_BODY = 'Must be given, or text.';
const TOO_LONG = 'Must be at most 256 KiB.';
const ONE_LINE = 'Must be one line, without control characters.';

const PARTS = ['subject', 'previewText', 'html', 'markdown', 'mjml', 'text'] as const;

/** The circumstances of the content of a request. */
interface ContentRules {
  readonly kind?: TemplateKind;
  /** The pointer of the variables. */
  readonly declaredAt?: string;
}

/** Reads the content of a request over that of the version before; what is left out stays. */
export function readContent(
  given: GivenContent,
  before: VersionContent,
  report: Report,
  { kind = 'template', declaredAt = '/body/variables' }: ContentRules = {},
): VersionContent {
  const texts = Object.fromEntries(
    PARTS.map((part) => [part, given[part] === undefined ? before[part] : unlessBlank(given[part])]),
  ) as Pick<VersionContent, (typeof PARTS)[number]>;
  const authored: VersionContent = {
    format: given.format ?? before.format,
    ...texts,
    from: given.from === undefined ? before.from : given.from,
    replyTo: given.replyTo === undefined ? before.replyTo : listOf(given.replyTo),
    variables:
      given.variables === undefined ? before.variables : readDeclared(given.variables, declaredAt, report),
    layoutId: given.layoutId === undefined ? before.layoutId : given.layoutId,
    language: readOwnLanguage(given.language, before.language, report),
    translations: readTranslations(given.translations, before.translations, report),
  };
  checkParts(authored, report);
  checkKind(authored, kind, report);
  checkTranslations(authored, kind, report);
  if (authored.from !== null) checkAddress(authored.from, '/body/from', report);
  const isList = Array.isArray(given.replyTo);
  for (const [index, address] of authored.replyTo.entries())
    checkReply(address, isList ? `/body/replyTo/${index}` : '/body/replyTo', report);
  return authored;
}

function readOwnLanguage(
  given: string | null | undefined,
  before: string | null,
  report: Report,
): string | null {
  if (given === undefined) return before;
  if (given === null) return null;
  const language = readLanguage(given);
  if (language === null) report('/body/language', NO_LANGUAGE);
  return language;
}

/** Checks each translation as the template itself is checked. */
function checkTranslations(authored: VersionContent, kind: TemplateKind, report: Report): void {
  checkSize(authored.translations, report);
  for (const [language, translation] of Object.entries(authored.translations)) {
    const within: Report = (path, message) =>
      report(pointerOf(language, path.slice(path.lastIndexOf('/') + 1)), message);
    if (language === authored.language)
      report(pointerOf(language), 'Must be another language than the own one (language).');
    checkParts(authoredIn(authored, language, translation), within);
    for (const member of ['subject', 'previewText'] as const)
      if (kind !== 'template' && translation[member] !== null)
        report(pointerOf(language, member), OF_TEMPLATES);
    if (isInside(authored, kind) && BEGINS_WITH_FRONTMATTER.test(translation.markdown ?? ''))
      report(pointerOf(language, 'markdown'), FRONTMATTER);
  }
}

const unlessBlank = (text: string | null | undefined): string | null =>
  text === null || text === undefined || !/\S/.test(text) ? null : text;

const listOf = (given: string | readonly string[] | null): string[] =>
  given === null ? [] : typeof given === 'string' ? [given] : [...given];

function checkParts(authored: VersionContent, report: Report): void {
  const { format, html, text, subject, previewText } = authored;
  const own = BODY_OF[format];
  const others = (['markdown', 'mjml'] as const).filter((part) => part !== own && authored[part] !== null);
  for (const part of others) report(`/body/${part}`, NEEDS[part]);
  if (own !== 'html') {
    if (html !== null)
      report(
        '/body/html',
        `Must not be given with the format ${format}, whose html is made from its ${own}.`,
      );
    if (authored[own] === null) report(`/body/${own}`, `Must not be empty with the format ${format}.`);
  } else if (others.length === 0 && html === null && text === null) report('/body/html', NO_BODY);
  for (const part of PARTS) if (isTooLong(authored[part] ?? '')) report(`/body/${part}`, TOO_LONG);
  if (hasControls(subject ?? '')) report('/body/subject', ONE_LINE);
  if (hasControls(previewText ?? '')) report('/body/previewText', ONE_LINE);
}

const OF_TEMPLATES = 'Only a template has it: leave it out of a layout or a partial.';
const NO_LAYOUT = 'Must not be given with a partial, which is in the layout of the template that takes it.';
const FRONTMATTER =
  'Must not begin with a frontmatter here, inside of a layout or another template: write it in the outermost one.';
const BEGINS_WITH_FRONTMATTER =
  /^---[ \t]*\r?\n(?:[^\n]*\n)*?[a-z_]+:[^\n]*\n(?:[^\n]*\n)*?---[ \t]*(?:\r?\n|$)/;

function checkKind(authored: VersionContent, kind: TemplateKind, report: Report): void {
  if (kind !== 'template') {
    for (const member of ['subject', 'previewText', 'from'] as const)
      if (authored[member] !== null) report(`/body/${member}`, OF_TEMPLATES);
    if (authored.replyTo.length > 0) report('/body/replyTo', OF_TEMPLATES);
  }
  if (kind === 'partial' && authored.layoutId !== null) report('/body/layoutId', NO_LAYOUT);
  if (isInside(authored, kind) && BEGINS_WITH_FRONTMATTER.test(authored.markdown ?? ''))
    report('/body/markdown', FRONTMATTER);
}

const isInside = ({ layoutId }: VersionContent, kind: TemplateKind): boolean =>
  kind === 'partial' || layoutId !== null;

function checkAddress(address: string, path: string, report: Report): void {
  const read = parseAddress(address);
  if (isProblem(read)) report(path, read.problem);
}

function checkReply(address: string, path: string, report: Report): void {
  const read = parseReplyTo(address);
  if (isProblem(read)) report(path, read.problem);
}

/** True when two versions say the same. */
export const saysTheSame = (one: VersionContent, other: VersionContent): boolean =>
  JSON.stringify(authoredOf(one)) === JSON.stringify(authoredOf(other));

/** The members that the author wrote, in one order. */
export const authoredOf = (content: VersionContent): VersionContent => {
  const { format, subject, previewText, html, markdown, mjml, text } = content;
  const { from, replyTo, variables, layoutId, language, translations } = content;
  return {
    format,
    subject,
    previewText,
    html,
    markdown,
    mjml,
    text,
    from,
    replyTo,
    variables,
    layoutId,
    language,
    translations,
  };
};

/** The declared variables, each with a value that fits its type. */
export function sampleValues(variables: readonly VariableView[]): Record<string, unknown> {
  const samples = { string: 'text', number: 1, boolean: true, date: '2026-01-31', list: [], object: {} };
  return Object.fromEntries(
    variables.map(({ key, type, fallback }) => [
      key,
      problemOfValue(type, fallback) === null ? fallback : samples[type],
    ]),
  );
}
