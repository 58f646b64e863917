import type { LeaveReason } from '../../../../mail/list-files/consent-words.ts';
import type { Delimiter } from '../../../../platform/csv/delimiter.ts';
import type { DetectedEncoding, StoredEncoding } from '../../../../platform/csv/encoding.ts';
import type { Detail } from '../../../../platform/errors/failure.ts';
import { cleaned, type Target } from '../../column-names.ts';
import { shortened } from './doubt.ts';
import { emptySurvey } from './survey.ts';
import { type ColumnMapping, type FileTraits, namedTargets, sharedName } from './targets.ts';
import { type ImportWarning, warningsOf } from './warnings.ts';

/** The plan by which a file is read, stored with its import. */
export interface ImportPlan {
  readonly encoding: DetectedEncoding['encoding'];
  readonly stored: StoredEncoding;
  readonly delimiter: Delimiter;
  /** A target for each column. */
  readonly targets: readonly Target[];
  /** The names of the columns, shortened for messages. */
  readonly headers: readonly string[];
  /**
   * The status that all rows have, by the name or the columns of the file. Missing in plans of an earlier
   * version.
   */
  readonly everyone?: LeaveReason | 'never' | null;
  /** The questions to answer before any row is written. Missing in plans of an earlier version. */
  readonly warnings?: readonly ImportWarning[];
}

/** The targets of the columns of a file. */
export interface ReadTargets
  extends Required<Pick<ImportPlan, 'targets' | 'headers' | 'everyone' | 'warnings'>> {
  /** Every reason why the file cannot be read so. */
  readonly problems: readonly Detail[];
}

/** The most problems in one answer. */
const MOST_PROBLEMS = 20;

/** Plans the targets of the columns. `mapping` is the `columns` of the request. */
export function readTargets(
  header: readonly string[],
  mapping: ColumnMapping,
  traits: FileTraits,
): ReadTargets {
  const names = header.map(cleaned);
  const { targets, everyone, isOwn, details } = namedTargets(names, mapping, traits);
  const problems = [...details];
  repeatedTargets(targets, names, problems);
  if (!targets.some((target) => target?.to === 'email') && problems.length === 0)
    problems.push({
      path: '/body',
      message: `The header has no column "email". It has ${names
        .slice(0, 10)
        .map((name) => `"${shortened(name)}"`)
        .join(', ')}; name the one with the addresses in columns.`,
    });
  const headers = names.map(shortened);
  const surveys = names.map((_, at) => traits.surveys[at] ?? emptySurvey());
  const warnings = warningsOf({ names: headers, targets, everyone, isOwn, surveys });
  return { targets, headers, everyone, warnings, problems: problems.slice(0, MOST_PROBLEMS) };
}

/** The targets that several columns may share: the strongest status, and the latest moment, counts. */
const SHARED: ReadonlySet<string> = new Set(['status', 'unsubscribedAt', 'consentAt']);

function repeatedTargets(targets: readonly Target[], names: readonly string[], details: Detail[]): void {
  const seen = new Map<string, number>();
  for (const [at, target] of targets.entries()) {
    if (!target || SHARED.has(target.to)) continue;
    // A property that has several types among the contacts has a column for each in our own export.
    const name = names[at] ?? '';
    const what = target.to === 'property' ? `properties.${target.key}` : target.to;
    const key = target.to === 'property' && isOwnColumn(name) ? `${what}:${target.type}` : what;
    const before = seen.get(key);
    seen.set(key, at);
    if (before === undefined) continue;
    // A status of one person would be taken of another.
    if (target.to === 'email' && names[before] === name)
      details.push({
        path: '/body',
        message: `${sharedName(name, [before, at])}, and a row is about one person: leave one of them out of the file, or call it something else.`,
      });
    else if (names[before] !== name)
      details.push({
        path: '/query/columns',
        message: `Columns "${shortened(names[before] ?? '')}" and "${shortened(name)}" would both become ${what}; leave one out with null.`,
      });
  }
}

const isOwnColumn = (name: string): boolean => /^properties\.\w+:\w+$/.test(name);
