import type { PartCheck } from '../../machine/storage.ts';

/** A part of a statement that only some batches need. */
export interface Part {
  readonly name: string;
  /** The columns of the input that it reads. The first one has a value in every row that needs the part. */
  readonly columns: readonly string[];
}

/** A part that reads one column with the part's name. */
export const single = (name: string): Part => ({ name, columns: [name] });

/** Forms of one statement at most, besides the whole one: each is planned and kept by every connection. */
const MOST_FORMS = 8;

type Rows = readonly Readonly<Record<string, unknown>>[];

/**
 * The forms of one statement: to each batch the one that has the parts which its rows need, and no other. A
 * part that has nothing to do costs as well, since PostgreSQL sets up and takes down its plan each time: of
 * an email's insert and of its outcome nine tenths of the plan did nothing for nearly every batch, and took a
 * millisecond of PostgreSQL's time. Whatever the forms are, each writes for its batch what the whole
 * statement would.
 */
export class Forms<Form> {
  readonly #made = new Map<string, { readonly needed: readonly boolean[]; readonly form: Form }>();
  /** Made at once, so that what cannot be written is refused at the start. */
  readonly #whole: Form;

  constructor(
    private readonly parts: readonly Part[],
    private readonly make: (has: PartCheck) => Form,
  ) {
    this.#whole = make(() => true);
  }

  /**
   * The form for these rows. Once there are many, any further batch gets the smallest of them that has what
   * it needs, or the whole one.
   */
  for(rows: Rows): Form {
    const needed = this.parts.map(({ columns: [sign = ''] }) => rows.some((row) => isThere(row[sign])));
    const key = needed.map(Number).join('');
    const known = this.#made.get(key);
    if (known) return known.form;
    if (this.#made.size >= MOST_FORMS) return this.#wider(needed);
    const absent = new Set(this.parts.filter((_, index) => !needed[index]).map(({ name }) => name));
    const form = this.make((part) => !absent.has(part));
    this.#made.set(key, { needed, form });
    return form;
  }

  #wider(needed: readonly boolean[]): Form {
    const having = [...this.#made.values()].filter((one) =>
      needed.every((is, index) => !is || one.needed[index]),
    );
    return having.toSorted((one, other) => sizeOf(one) - sizeOf(other))[0]?.form ?? this.#whole;
  }
}

const sizeOf = ({ needed }: { readonly needed: readonly boolean[] }): number => needed.filter(Boolean).length;

const isThere = (value: unknown): boolean => value !== null && value !== undefined;

/** The columns that a form reads: all but those of parts that it does not have. */
export const columnsWith = <Column extends { readonly name: string }>(
  columns: readonly Column[],
  parts: readonly Part[],
  has: PartCheck,
): readonly Column[] => {
  const absent = new Set(parts.filter(({ name }) => !has(name)).flatMap(({ columns }) => columns));
  return columns.filter(({ name }) => !absent.has(name));
};
