import { consentColumnOf, isAboutSomethingElse } from '../../../../mail/list-files/consent-columns.ts';
import { LEAVINGS, type LeaveReason, wordMeaning } from '../../../../mail/list-files/consent-words.ts';
import { isContactField } from '../../../../platform/text/contact-fields.ts';
import { propertyOf, type Target } from '../../column-names.ts';
import { type ColumnSurvey, type NonSubscriberStatus, readAs } from './survey.ts';
import { BY_VALUES } from './targets.ts';

/** A fact about a file that its sender needs before the import writes anything. */
export interface ImportWarning {
  /** The number of the column, from 1; null where the whole file is meant. */
  readonly column: number | null;
  readonly header: string | null;
  readonly message: string;
}

/** Warnings that are kept of one file. */
const MOST_WARNINGS = 20;

interface ReadColumns {
  readonly names: readonly string[];
  readonly targets: readonly Target[];
  readonly everyone: LeaveReason | 'never' | null;
  /** True for our own export, whose columns cannot be about something else. */
  readonly isOwn: boolean;
  readonly surveys: readonly ColumnSurvey[];
}

const EVERYONE: Readonly<Record<LeaveReason | 'never', string>> = {
  unsubscribed:
    'The name or the columns of this file say that everyone in it has unsubscribed: they are taken so.',
  bounced:
    'The name or the columns of this file say that mail to everyone in it has bounced: they are taken so.',
  complained: 'The name of this file says that everyone in it has complained: they are taken so.',
  never: 'The name of this file says that no one in it has subscribed: new people are added as unsubscribed.',
};

/** True for two columns with one target of which a row has one value. */
const isReadOnce = (before: Target | undefined, target: Target): boolean =>
  target !== null &&
  before?.to === target.to &&
  (target.to === 'property'
    ? before.to === 'property' && before.key === target.key
    : target.to === 'consentSource' || isContactField(target.to));

const sameName = (before: number): string =>
  `Column ${before + 1} has the same name: this one is read in rows where that one is empty.`;

const number = (value: number): string => value.toLocaleString('en');

/** Warns about columns that take people down, and about cells that the import does not understand. */
export function warningsOf({
  names,
  targets,
  everyone,
  isOwn,
  surveys,
}: ReadColumns): readonly ImportWarning[] {
  const warnings: ImportWarning[] = [];
  const rest: ImportWarning[] = [];
  if (everyone) {
    const count = Math.max(0, ...surveys.map((survey) => survey.rows));
    warnings.push({ column: null, header: null, message: `${EVERYONE[everyone]} It has ${rows(count)}.` });
  }
  for (const [at, target] of targets.entries()) {
    const header = names[at] ?? '';
    const found = surveys[at];
    const told = (message: string): ImportWarning => ({ column: at + 1, header, message });
    const before = names.indexOf(header);
    if (before < at && isReadOnce(targets[before], target)) rest.push(told(sameName(before)));
    if (!found) continue;
    if (found.shortened > 0) rest.push(told(shortenedNumbers(found)));
    if (target?.to === 'status' || target?.to === 'unsubscribedAt') {
      // Only now it is known that the cells of this column are statuses.
      const survey =
        target.to === 'status' && found.takes.size === 0 && isByValues(target)
          ? readAs(found, target)
          : found;
      if (survey.takes.size > 0 && !isOwn) warnings.push(told(takenDown(survey)));
      if (survey.unknown > 0) warnings.push(told(unknownValues(survey)));
      if (survey.unsaid > 0) warnings.push(told(unsaid(survey)));
    } else if (!target || target.to === 'property') {
      const message = overlooked(header, target, found);
      if (message !== null) rest.push(told(message));
    }
  }
  // Warnings about people who are taken down come first: columns that only look like consent may not crowd
  // them out.
  return [...warnings, ...rest].slice(0, MOST_WARNINGS);
}

const isByValues = ({ reads, cells }: Extract<Target, { to: 'status' }>): boolean =>
  reads === BY_VALUES.reads && cells === BY_VALUES.cells;

const rows = (count: number): string => `${number(count)} ${count === 1 ? 'row' : 'rows'}`;

const NEW_STATUS: Readonly<Record<NonSubscriberStatus, string>> = {
  complained: 'complained',
  bounced: 'bounced',
  unsubscribed: 'unsubscribed',
  never: 'added as unsubscribed where they are new',
};

/** Counts the people whom a column takes down, by their new status, the strongest first. */
function takenDown({ takes }: ColumnSurvey): string {
  const parts = (Object.keys(NEW_STATUS) as readonly NonSubscriberStatus[]).flatMap((taken) => {
    const count = takes.get(taken) ?? 0;
    return count > 0 ? [`${rows(count)} ${NEW_STATUS[taken]}`] : [];
  });
  return `This column says who may not be written to: ${parts.join(', ')}. Make it a property or leave it out if it is about something else.`;
}

const unsaid = ({ unsaid: count }: ColumnSurvey): string =>
  `${rows(count)} ${count === 1 ? 'has' : 'have'} no value here, so nothing says that they agreed: new people are added as unsubscribed.`;

function unknownValues({ unknown, examples }: ColumnSurvey): string {
  const shown = [...examples].map((value) => `"${value}"`).join(', ');
  return `This column says who may be written to, and ${number(unknown)} of its cells ${unknown === 1 ? 'is' : 'are'} not understood, such as ${shown}. Rows with them are refused. Say what the column becomes, or leave it out.`;
}

const shortenedNumbers = ({ shortened: count, shortenedExample }: ColumnSurvey): string =>
  `${rows(count)} ${count === 1 ? 'has' : 'have'} a long number here that a spreadsheet has shortened, such as "${shortenedExample}": its last digits are lost. Give the column the format of text in the spreadsheet and enter the numbers again, or leave it out.`;

/**
 * The origin of a sign-up, such as `OPTIN_IP` of Mailchimp: evidence of a consent, and no statement that
 * there is one.
 */
const OF_A_COMPUTER = /[\s_-]ip(?:[\s_-]?address)?$/i;

/** The warning of a column that looks like consent and is not read as such; null for every other one. */
function overlooked(header: string, target: Target, { values }: ColumnSurvey): string | null {
  // A header that names a property says itself what the column is.
  if (propertyOf(header)) return null;
  const column = consentColumnOf(header);
  const isNamed = (column?.to === 'status' || column?.to === 'unsubscribedAt') && !OF_A_COMPUTER.test(header);
  const leavings = [...(values?.keys() ?? [])].filter((value) => LEFT.has(wordMeaning(value)));
  if (!isNamed && (leavings.length === 0 || isAboutSomethingElse(header))) return null;
  const becomes = target?.to === 'property' ? `becomes properties.${target.key}` : 'is left out';
  const shown = leavings.slice(0, 3).map((value) => `"${value}"`);
  const holds = shown.length > 0 ? ` It holds ${shown.join(', ')}.` : '';
  return `This column looks like consent, and ${becomes}: it keeps no one out.${holds} Map it to status, subscribed or unsubscribed if it is.`;
}

const LEFT: ReadonlySet<unknown> = new Set(LEAVINGS);
