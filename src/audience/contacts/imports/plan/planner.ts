import type { FilePlace } from '../../../../../machines/contact-import/context.ts';
import { dialectOf } from '../../../../platform/csv/delimiter.ts';
import { otherFile } from '../../../../platform/csv/other-file.ts';
import { CsvReader, type CsvRow } from '../../../../platform/csv/reader.ts';
import { type Detail, type Failure, invalidAt } from '../../../../platform/errors/failure.ts';
import { cleaned, type Target } from '../../column-names.ts';
import { sentenceOf } from '../file/faults.ts';
import { shortened } from './doubt.ts';
import { type ImportPlan, type ReadTargets, readTargets } from './plan.ts';
import { FileSurvey } from './survey.ts';
import type { ColumnMapping, FileTraits } from './targets.ts';

const NO_HEADER: Detail = {
  path: '/body',
  message: 'Send a CSV file whose first row names its columns, one of them "email".',
};

/** Reads the `columns` of a request. */
export function readMapping(text: string | undefined): ColumnMapping | Failure {
  if (text === undefined) return null;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Readonly<Record<string, unknown>>;
  } catch {}
  return invalidAt('/query/columns', 'Send a JSON object such as {"E-Mail": "email"}, percent-encoded.');
}

/** The plan of a file, the start of its first row, and every reason why it cannot be read so. */
export interface PlannedFile {
  readonly plan: ImportPlan;
  readonly first: FilePlace;
  /** Audiences that its rows name. */
  readonly audiences: readonly string[];
  readonly problems: readonly Detail[];
  /** Its first rows. */
  readonly rows: readonly CsvRow[];
}

/** The beginning of a file, without a byte order mark. */
export interface FileStart {
  readonly beginning: Uint8Array;
  readonly isWhole: boolean;
}

/** Finds the types that properties have among the contacts that are there. */
export type FindTypes = (keys: readonly string[]) => Promise<NonNullable<FileTraits['typesThere']>>;

/**
 * Plans how a file is read: by its header, by what the request says, and by what the cells of each column
 * have in common.
 */
export class FilePlanner {
  readonly #survey: FileSurvey;

  constructor(
    private readonly request: { readonly mapping: ColumnMapping; readonly filename?: string | undefined },
    sample: number,
  ) {
    this.#survey = new FileSurvey((header) => this.#named(header), sample);
  }

  /** The next bytes of the file, as they are stored. */
  take(bytes: Uint8Array): void {
    this.#survey.take(bytes);
  }

  /** The plan; or why no header was found. @throws UnavailableError */
  async end(
    { beginning, isWhole }: FileStart,
    encoding: Pick<ImportPlan, 'encoding' | 'stored'>,
    findTypes: FindTypes,
  ): Promise<PlannedFile | readonly Detail[]> {
    const surveys = this.#survey.end();
    const sample = new TextDecoder(encoding.stored, { ignoreBOM: true }).decode(beginning, {
      stream: !isWhole,
    });
    const other = otherFile(sample);
    if (other !== null) return [{ path: '/body', message: other }];
    const { delimiter, skipped } = dialectOf(sample, isWhole);
    const [header, ...rows] = new CsvReader({ delimiter, line: skipped > 0 ? 2 : 1 }).read(
      sample.slice(skipped),
      isWhole,
    );
    if (!header || header.fault || header.cells.every((cell) => cell.trim() === ''))
      return [
        header?.fault
          ? {
              path: '/body',
              message: `The header in line ${header.fault.line} cannot be read. ${sentenceOf(header.fault.code)}`,
            }
          : NO_HEADER,
      ];
    const { mapping, filename } = this.request;
    const traits = { delimiter, filename, surveys };
    const open = keysByName(readTargets(header.cells, mapping, traits), mapping);
    const { problems, ...read } = readTargets(header.cells, mapping, {
      ...traits,
      typesThere: await findTypes(open),
    });
    const before = sample.slice(0, skipped + header.end);
    const offset = encoding.stored === 'utf-8' ? Buffer.byteLength(before) : before.length;
    return {
      plan: { ...encoding, delimiter, ...read },
      first: { offset, line: header.nextLine },
      audiences: surveys.flatMap(({ names }) => [...names]),
      problems,
      rows,
    };
  }

  /** The targets of the columns by their names alone, before any cell was read. */
  #named(header: readonly string[]): readonly Target[] {
    const { mapping, filename } = this.request;
    return readTargets(header, mapping, { delimiter: ',', filename, surveys: [] }).targets;
  }
}

/** The properties whose type neither the request nor the header states. */
function keysByName({ targets, headers }: ReadTargets, mapping: ColumnMapping): readonly string[] {
  const stated = new Set(Object.keys(mapping ?? {}).map((name) => shortened(cleaned(name))));
  return targets.flatMap((target, at) =>
    target?.to === 'property' && target.type === 'string' && !stated.has(headers[at] ?? '')
      ? [target.key]
      : [],
  );
}
