import {
  consentColumnOf,
  isAboutSomethingElse,
  isOfTelephone,
  isStatusCode,
  looksLikeConsent,
} from '../../../../mail/list-files/consent-columns.ts';
import {
  beginsWithLeaving,
  folded,
  isBlank,
  isListWord,
  wordMeaning,
} from '../../../../mail/list-files/consent-words.ts';
import { endsRecords, isStateOut } from '../../../../mail/list-files/record-state.ts';
import type { Detail } from '../../../../platform/errors/failure.ts';
import { pointerSegment } from '../../../../platform/errors/schema-errors.ts';
import { saysDate } from '../file/consent-of-row.ts';
import type { ColumnSurvey } from './survey.ts';

const LONGEST_HEADER = 80;

/** The name of a column as messages and answers show it. */
export const shortened = (name: string): string =>
  name.length > LONGEST_HEADER ? `${name.slice(0, LONGEST_HEADER - 1)}…` : name;

/** The path of a problem that only a target for this column in `columns` ends. */
const pathOfColumn = (name: string): string => `/query/columns${pointerSegment(shortened(name))}`;

/** Values that a message shows. */
const MOST_SHOWN = 3;

/** `Do not contact` is of every kind of message, also in a column about one of them. */
const saysDoNot = (value: string): boolean => folded(value).includes('donot');

/**
 * The refusal of a column that would become a property although it may say who may be written to; null for
 * every other one. Read over, it would subscribe people who have left.
 */
export function doubtOfConsent(name: string, key: string, survey: ColumnSurvey | undefined): Detail | null {
  if (!survey) return null;
  const values = [...(survey.values?.keys() ?? [])].filter((value) => !isBlank(value));
  const leaving = values.filter(
    isAboutSomethingElse(name) ? isListWord : (value) => beginsWithLeaving(value) || isStateOut(name, value),
  );
  const told = [...new Set([...leaving, ...survey.leavings])];
  const found = isOfTelephone(name) ? told.filter(saysDoNot) : told;
  if (found.length === 0 && !endsRecords(name, survey) && !asksInDoubt(name, survey, values)) return null;
  const shown = (found.length > 0 ? found : values).slice(0, MOST_SHOWN).map((value) => `"${value}"`);
  const holds = shown.length > 0 ? `, and holds ${shown.join(', ')}` : '';
  return {
    path: pathOfColumn(name),
    message: `Column "${shortened(name)}" may say who may be written to${holds}. Say in columns what it becomes: status, subscribed or unsubscribed; or, if it is about something else, properties.${key} or null.`,
  };
}

/** `{"topics":{"news":false}}`: the preferences of Customer.io. */
const deniesInJson = (value: string): boolean => /^[[{].*(?:\bfalse\b|unsub)/is.test(value);
/** `[1,2]`: the ids of what a person has left, in an export of Iterable. */
const isFullList = (value: string): boolean => /^\[\s*[^\s\]]/.test(value);

/**
 * True for a column with a word about consent in its name whose cells answer, or whose cells are too many to
 * tell.
 */
function asksInDoubt(name: string, survey: ColumnSurvey, values: readonly string[]): boolean {
  if (isStatusCode(name)) return values.length > 1;
  if (!looksLikeConsent(name)) return false;
  const column = consentColumnOf(name);
  const isLeaving = column?.to === 'status' && column.reads === 'unsubscribed';
  if (survey.values === null) return isLeaving;
  if (values.some(deniesInJson) || (isLeaving && values.some(isFullList))) return true;
  return values.some((value) => wordMeaning(value) !== null || (isLeaving && saysDate(value)));
}
