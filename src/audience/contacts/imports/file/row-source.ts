import type { FilePlace } from '../../../../../machines/contact-import/context.ts';
import { untilNextTurn } from '../../../../platform/async/batcher.ts';
import { CsvReader, type CsvRow } from '../../../../platform/csv/reader.ts';
import type { ImportPlan } from '../plan/plan.ts';
import { PIECE } from './stored-file.ts';

/** The file of an import is gone. */
export class FileLost extends Error {}

/** Characters that the rows of one batch have at most, but for its last row: what a statement carries. */
const MOST_CHARACTERS = 524_288;

/** Rows of a file, and the place behind them. */
export interface TakenRows {
  readonly rows: readonly CsvRow[];
  readonly to: FilePlace;
  readonly isLast: boolean;
}

/**
 * Pieces that one batch reads at most: a file of empty lines, or of one long line, tells as often as any
 * other that it is read.
 */
const MOST_PIECES = 8;

/**
 * Texts that are kept: together they are longer than the longest row, however many bytes its characters have.
 */
const TEXTS_KEPT = 8;

/** A decoded piece: the characters of this reading and the bytes of the file that lie before it. */
interface PlacedText {
  readonly text: string;
  readonly characters: number;
  readonly offset: number;
}

/** The format of a stored file. */
export interface FileReading {
  readonly plan: Pick<ImportPlan, 'stored' | 'delimiter'>;
  /** Bytes of the whole file. */
  readonly bytes: number;
  /** The bytes of a piece; null when it is not there. */
  readonly piece: (n: number) => Promise<Uint8Array | null>;
}

/** Reads the rows of a stored file from any place between two of them, a piece at a time. */
export class RowSource {
  readonly #reader: CsvReader;
  readonly #decoder: TextDecoder;
  /** Rows of the piece at hand that were not taken. */
  #rows: readonly CsvRow[] = [];
  #taken = 0;
  #next: number;
  #hasEnded = false;
  /** The latest texts, since a fault may end a row in an earlier one: an unclosed quote is reported late. */
  #texts: readonly PlacedText[];
  #place: FilePlace;

  constructor(
    private readonly reading: FileReading,
    from: FilePlace,
  ) {
    const { stored, delimiter } = reading.plan;
    this.#reader = new CsvReader({ delimiter, line: from.line });
    this.#decoder = new TextDecoder(stored, { ignoreBOM: true });
    this.#next = from.offset;
    this.#texts = [{ text: '', characters: 0, offset: from.offset }];
    this.#place = from;
  }

  /**
   * The next rows, at most so many and perhaps none yet: a long line may not have ended. Rows of nothing but
   * blanks are passed over. @throws FileLost
   */
  async take(most: number): Promise<TakenRows> {
    const rows: CsvRow[] = [];
    let characters = 0;
    let pieces = 0;
    let last: CsvRow | null = null;
    while (rows.length < most && characters < MOST_CHARACTERS) {
      const row = this.#rows[this.#taken];
      if (!row) {
        if (last) this.#place = this.#placeBehind(last);
        last = null;
        this.#place = this.#placeBehindBlank();
        if (++pieces > MOST_PIECES) break;
        await untilNextTurn();
        if (!(await this.#read())) return { rows, to: this.#end(), isLast: true };
        continue;
      }
      this.#taken++;
      last = row;
      if (row.fault || row.cells.some((cell) => cell.trim() !== '')) {
        rows.push(row);
        for (const cell of row.cells) characters += cell.length;
      }
    }
    if (last) this.#place = this.#placeBehind(last);
    return { rows, to: this.#place, isLast: false };
  }

  /** Reads the next piece of the file; false at its end. */
  async #read(): Promise<boolean> {
    if (this.#hasEnded) return false;
    const isEnd = this.#next >= this.reading.bytes;
    this.#hasEnded = isEnd;
    const text = isEnd ? this.#decoder.decode() : this.#decoder.decode(await this.#bytes(), { stream: true });
    const before = this.#texts.at(-1) as PlacedText;
    const placed = {
      text,
      characters: before.characters + before.text.length,
      offset: before.offset + this.#byteLength(before.text),
    };
    this.#texts = [...this.#texts.slice(1 - TEXTS_KEPT), placed];
    this.#rows = this.#reader.read(text, isEnd);
    this.#taken = 0;
    return true;
  }

  async #bytes(): Promise<Uint8Array> {
    const n = Math.floor(this.#next / PIECE);
    const content = await this.reading.piece(n);
    if (!content || content.length <= this.#next - n * PIECE) throw new FileLost();
    const rest = content.subarray(this.#next - n * PIECE);
    this.#next += rest.length;
    return rest;
  }

  #placeBehindBlank(): FilePlace {
    const behind = this.#reader.behindBlank;
    return behind ? this.#placeBehind(behind) : this.#place;
  }

  #placeBehind({ end, nextLine }: Pick<CsvRow, 'end' | 'nextLine'>): FilePlace {
    const { text, characters, offset } = this.#texts.findLast((each) => each.characters <= end) as PlacedText;
    return { offset: offset + this.#byteLength(text.slice(0, end - characters)), line: nextLine };
  }

  #end(): FilePlace {
    return { offset: this.reading.bytes, line: this.#place.line };
  }

  #byteLength(text: string): number {
    return this.reading.plan.stored === 'utf-8' ? Buffer.byteLength(text) : text.length;
  }
}
