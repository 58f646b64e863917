import { consentColumnOf } from '../../../../mail/list-files/consent-columns.ts';
import { type Leaving, meaningOf } from '../../../../mail/list-files/consent-words.ts';
import { propertyOf, type Target } from '../../column-names.ts';
import type { ColumnSurvey } from './survey.ts';

/** What has to be known of a file before anything of it is written. */
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
  readonly everyone: Leaving | 'never' | null;
  readonly surveys: readonly ColumnSurvey[];
}

const EVERYONE: Readonly<Record<Leaving | 'never', string>> = {
  unsubscribed:
    'The name or the columns of this file say that everyone in it has unsubscribed: they are taken so.',
  bounced:
    'The name or the columns of this file say that mail to everyone in it has bounced: they are taken so.',
  complained: 'The name of this file says that everyone in it has complained: they are taken so.',
  never: 'The name of this file says that nobody in it has subscribed: who is new is added as unsubscribed.',
};

const number = (value: number): string => value.toLocaleString('en');

/** What has to be known of the columns of a file: who is not subscribed by it, and what in it is not understood. */
export function warningsOf({ names, targets, everyone, surveys }: ReadColumns): readonly ImportWarning[] {
  const warnings: ImportWarning[] = [];
  if (everyone) warnings.push({ column: null, header: null, message: EVERYONE[everyone] });
  for (const [at, target] of targets.entries()) {
    const header = names[at] ?? '';
    const survey = surveys[at];
    const tell = (message: string) => warnings.push({ column: at + 1, header, message });
    if (!survey) continue;
    if (target?.to === 'status') {
      if (survey.unknown > 0) tell(unknownValues(survey));
      if (survey.unsaid > 0)
        tell(
          `${number(survey.unsaid)} ${survey.unsaid === 1 ? 'row has' : 'rows have'} no value here, so that nothing says that they agreed: who is new is added as unsubscribed.`,
        );
    } else if (!target || target.to === 'property') {
      const message = overlooked(header, target, survey);
      if (message !== null) tell(message);
    }
  }
  return warnings.slice(0, MOST_WARNINGS);
}

function unknownValues({ unknown, examples }: ColumnSurvey): string {
  const shown = [...examples].map((value) => `"${value}"`).join(', ');
  return `This column says who may be written to, and ${number(unknown)} of its cells ${unknown === 1 ? 'is' : 'are'} not understood, such as ${shown}. Rows with them are refused. Say what the column becomes, or leave it out.`;
}

/** The warning of a column that looks like consent and is not read as such; null for every other one. */
function overlooked(header: string, target: Target, { values }: ColumnSurvey): string | null {
  // A header that names a property says itself what the column is.
  if (propertyOf(header)) return null;
  const column = consentColumnOf(header);
  const leavings = [...(values ?? [])].filter((value) => LEFT.has(meaningOf(value)));
  if (column?.to !== 'status' && column?.to !== 'unsubscribedAt' && leavings.length === 0) return null;
  const becomes = target?.to === 'property' ? `becomes properties.${target.key}` : 'is left out';
  const holds =
    leavings.length > 0
      ? ` It holds ${leavings
          .slice(0, 3)
          .map((value) => `"${value}"`)
          .join(', ')}.`
      : '';
  return `This column looks as if it says who may be written to, and ${becomes}: nobody is kept out by it.${holds} Make it status, subscribed or unsubscribed if it does.`;
}

const LEFT: ReadonlySet<unknown> = new Set(['unsubscribed', 'bounced', 'complained']);
