import {
  isBlank,
  isListWord,
  LEAVINGS,
  type LeaveReason,
} from '../../../../mail/list-files/consent-words.ts';
import { dialectOf } from '../../../../platform/csv/delimiter.ts';
import { CsvReader, type CsvRow } from '../../../../platform/csv/reader.ts';
import { type ContactFieldName, isContactField } from '../../../../platform/text/contact-fields.ts';
import type { PropertyTarget, Target } from '../../column-names.ts';
import { evidenceOfDate, evidenceOfNumber, isShortened, type NumberEvidence } from '../file/cells.ts';
import { cellStatus, saysLeft } from '../file/consent-of-row.ts';

/** Different values of a column that are kept, and the longest of them. */
const MOST_VALUES = 32;
const LONGEST_VALUE = 64;
/** Parts of one cell that are looked at, such as tags. */
const MOST_PARTS = 100;
/** Values that are not understood, as examples. */
const MOST_EXAMPLES = 5;
/** Names of audiences that are kept. */
const MOST_NAMES = 200;

/** The status that a cell gives to a person whom it does not subscribe. */
export type NonSubscriberStatus = LeaveReason | 'never';

/** The common properties of the cells of a column, over the whole file. */
export interface ColumnSurvey {
  /** Rows that were looked through. */
  rows: number;
  /** Cells of a column of consent that say something. */
  understood: number;
  unknown: number;
  /** Some of those that are not understood. */
  readonly examples: Set<string>;
  /** Cells that are empty where they would say that a person is subscribed. */
  unsaid: number;
  /** Cells by which a person is not subscribed, by what they become. */
  readonly takes: Map<NonSubscriberStatus, number>;
  /** Cells of a column of texts that are empty. */
  blanks: number;
  /** Those that are 0. */
  zeros: number;
  /**
   * True where the column counts something: a cell of consent that is not understood is an integer, or one of
   * a text is above the 2 that states are numbered to.
   */
  isFigures: boolean;
  /** The values of a column of texts, each with its cells; null when there are too many, or long ones. */
  values: Map<string, number> | null;
  /**
   * Some of the cells of a column of texts of which a part says that a person has left, however many other
   * values there are.
   */
  readonly leavings: Set<string>;
  readonly numbers: Set<NumberEvidence>;
  readonly dates: Set<ReturnType<typeof evidenceOfDate>>;
  /** Cells of a property that a spreadsheet has shortened, such as `4.91713E+11`. */
  shortened: number;
  /** The first of them. */
  shortenedExample: string;
  /** The cells of a column of names that have the other name of their row in them, less those that do not. */
  wholeNames: number;
  /** The audiences that it names. */
  readonly names: Set<string>;
}

/** The survey of a column of which nothing is known. */
export const emptySurvey = (): ColumnSurvey => ({
  rows: 0,
  understood: 0,
  unknown: 0,
  examples: new Set(),
  unsaid: 0,
  takes: new Map(),
  blanks: 0,
  zeros: 0,
  isFigures: false,
  values: new Map(),
  leavings: new Set(),
  numbers: new Set(),
  dates: new Set(),
  shortened: 0,
  shortenedExample: '',
  wholeNames: 0,
  names: new Set(),
});

/** The targets of the columns by their names. */
export type TargetsByName = (header: readonly string[]) => readonly Target[];

/**
 * Looks through a whole file while it arrives, before anything is written: a date such as 2/1/2026 can be
 * read only by the other dates of its column, and a value of consent that is not understood has to be told.
 * It holds some values of each column, and one row.
 */
export class FileSurvey {
  #begun: Uint8Array[] = [];
  #length = 0;
  #decoder: TextDecoder | null = null;
  #reader: CsvReader | null = null;
  #targets: readonly Target[] | null = null;
  readonly columns: ColumnSurvey[] = [];

  /** `sample`: bytes by which encoding, delimiter and header are known. */
  constructor(
    private readonly targetsOf: TargetsByName,
    private readonly sample: number,
  ) {}

  take(bytes: Uint8Array): void {
    if (this.#reader) return this.#read(this.#decoder?.decode(bytes, { stream: true }) ?? '', false);
    if (this.#length >= this.sample || bytes.length === 0) return;
    this.#begun.push(bytes);
    this.#length += bytes.length;
    if (this.#length >= this.sample) this.#begin(false);
  }

  end(): readonly ColumnSurvey[] {
    if (!this.#reader && this.#length < this.sample) this.#begin(true);
    else this.#read(this.#decoder?.decode() ?? '', true);
    return this.columns;
  }

  #begin(isWhole: boolean): void {
    const bytes = Buffer.concat(this.#begun);
    this.#begun = [];
    const stream = !isWhole;
    this.#decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream });
    } catch {
      this.#decoder = new TextDecoder('windows-1252');
    }
    const text = this.#decoder.decode(bytes, { stream });
    const { delimiter, skipped } = dialectOf(text, isWhole);
    const reader = new CsvReader({ delimiter });
    const [header, ...rows] = reader.read(text.slice(skipped), isWhole);
    this.#targets = header && !header.fault ? this.targetsOf(header.cells) : null;
    if (!this.#targets) return;
    this.#reader = reader;
    this.columns.push(...this.#targets.map(emptySurvey));
    for (const row of rows) this.#row(row);
  }

  #read(text: string, isLast: boolean): void {
    for (const row of this.#reader?.read(text, isLast) ?? []) this.#row(row);
  }

  #row({ cells, fault }: CsvRow): void {
    if (fault || cells.every((cell) => cell.trim() === '')) return;
    for (const [at, target] of (this.#targets ?? []).entries()) {
      const column = this.columns[at];
      if (!target || !column) continue;
      column.rows++;
      survey(column, target, cells[at] ?? '');
      const other = isContactField(target.to) ? this.#otherName(target.to) : -1;
      if (other !== -1) surveyName(column, cells[at] ?? '', cells[other] ?? '');
    }
  }

  /** The place of the column with the other part of a name; -1 where the file has none. */
  #otherName(part: ContactFieldName): number {
    return (this.#targets ?? []).findIndex(
      (target) => target && isContactField(target.to) && target.to !== part,
    );
  }
}

function surveyName(column: ColumnSurvey, cell: string, other: string): void {
  const part = other.trim();
  if (part === '' || cell.trim() === '') return;
  column.wholeNames += ` ${cell} `.includes(` ${part} `) ? 1 : -1;
}

function survey(column: ColumnSurvey, target: Exclude<Target, null>, cell: string): void {
  if (target.to === 'status') {
    const status = cellStatus(cell, target);
    // Should it become a property after all.
    countValue(column, cell);
    column.numbers.add(evidenceOfNumber(cell));
    if (status === 'unknown') {
      column.unknown++;
      if (/^\s*\d+\s*$/.test(cell)) column.isFigures = true;
      if (column.examples.size < MOST_EXAMPLES) column.examples.add(cell.trim().slice(0, LONGEST_VALUE));
    } else if (status === 'unsaid') column.unsaid++;
    else if (cell.trim() !== '') column.understood++;
    if (isTaken(status)) take(column, status, 1);
  } else if (target.to === 'unsubscribedAt') {
    if (saysLeft(cell)) take(column, 'unsubscribed', 1);
  } else if (target.to === 'audiences') {
    for (const name of audienceNames(cell)) if (column.names.size < MOST_NAMES) column.names.add(name);
  } else if (target.to !== 'property') return;
  else surveyProperty(column, target.type, cell);
}

function surveyProperty(column: ColumnSurvey, type: PropertyTarget['type'], cell: string): void {
  if ((type === 'string' || type === 'number') && isShortened(cell)) {
    if (column.shortened === 0) column.shortenedExample = cell.trim();
    column.shortened++;
  }
  if (type === 'number') column.numbers.add(evidenceOfNumber(cell));
  else if (type === 'date') column.dates.add(evidenceOfDate(cell));
  else if (type === 'string') {
    countValue(column, cell);
    column.isFigures ||= /^\s*(?:[3-9]|[1-9]\d{1,7})\s*$/.test(cell);
  }
}

function countValue(column: ColumnSurvey, cell: string): void {
  const value = cell.trim();
  if (value === '0') column.zeros++;
  else if (/^(?:$|[-–—._/0nu[{])/i.test(value) && isBlank(value)) column.blanks++;
  if (value === '') return;
  if (
    column.leavings.size < MOST_EXAMPLES &&
    value.split(/[,;|\n]/, MOST_PARTS).some((part) => isListWord(part.trim()))
  )
    column.leavings.add(value.slice(0, LONGEST_VALUE));
  if (!column.values) return;
  const before = column.values.get(value);
  if (value.length > LONGEST_VALUE || (before === undefined && column.values.size === MOST_VALUES))
    column.values = null;
  else column.values.set(value, (before ?? 0) + 1);
}

const TAKEN: ReadonlySet<unknown> = new Set<NonSubscriberStatus>([...LEAVINGS, 'never']);
const isTaken = (status: unknown): status is NonSubscriberStatus => TAKEN.has(status);
const take = ({ takes }: ColumnSurvey, taken: NonSubscriberStatus, count: number): void =>
  void takes.set(taken, (takes.get(taken) ?? 0) + count);

/** The survey of a column that was looked through as a property, as one that says who may be written to. */
export function readAs(column: ColumnSurvey, target: Extract<Target, { to: 'status' }>): ColumnSurvey {
  const read = { ...emptySurvey(), values: column.values };
  for (const [value, count] of column.values ?? []) {
    const status = cellStatus(value, target);
    if (isTaken(status)) take(read, status, count);
    if (status !== 'unknown') read.understood += count;
    else {
      read.unknown += count;
      if (read.examples.size < MOST_EXAMPLES) read.examples.add(value);
    }
  }
  return { ...read, unsaid: column.rows - read.understood - read.unknown, rows: column.rows };
}

/**
 * The audiences that a cell names: a JSON array, as the export writes it, names in quotes between commas, as
 * Mailchimp writes its tags, or names between semicolons.
 */
export function audienceNames(cell: string): readonly string[] {
  const text = cell.trim();
  if (text.startsWith('['))
    try {
      const read: unknown = JSON.parse(text);
      if (Array.isArray(read)) return read.filter((name): name is string => typeof name === 'string');
    } catch {}
  const [row] = text.startsWith('"') ? new CsvReader({ delimiter: ',' }).read(text, true) : [];
  return (row && !row.fault ? row.cells : text.split(';'))
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
