import { dialectOf } from '../../../../../../csv/delimiter.ts';
import { CsvReader } from '../../../../../../csv/reader.ts';
import { type PROPERTY_TYPES, targetByName } from '../../../../../../modules/contacts/column-names.ts';

/** So much of a file is read here to show what is in it; the service reads all of it. */
const SAMPLE_BYTES = 65_536;
const MOST_ROWS = 3;

/** The beginning of a file: the names of its columns and a few rows. */
export interface Sample {
  readonly headers: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** What a column becomes, in the words of the request; `properties.` takes a key and a type. */
export interface Mapped {
  readonly to: 'email' | 'first_name' | 'last_name' | 'property' | 'none';
  readonly key: string;
  readonly type: (typeof PROPERTY_TYPES)[number];
}

const TARGETS = { email: 'email', firstName: 'first_name', lastName: 'last_name', status: 'none' } as const;

/** A mark decides; without one a NUL beside a character means UTF-16, and what is no UTF-8 is Windows-1252. */
function textOf(bytes: Uint8Array, isWhole: boolean): string {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0))
    return new TextDecoder('utf-16le').decode(bytes);
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== 0))
    return new TextDecoder('utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !isWhole });
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/** Reads the beginning of a CSV file; null when there is no header in it. */
export async function readSample(file: Blob): Promise<Sample | null> {
  const isWhole = file.size <= SAMPLE_BYTES;
  const text = textOf(new Uint8Array(await file.slice(0, SAMPLE_BYTES).arrayBuffer()), isWhole);
  const { delimiter, skipped } = dialectOf(text, isWhole);
  const [header, ...rows] = new CsvReader({ delimiter }).read(text.slice(skipped), isWhole);
  if (!header || header.fault) return null;
  return {
    headers: header.cells,
    rows: rows
      .filter(({ fault }) => fault === null)
      .slice(0, MOST_ROWS)
      .map(({ cells }) => cells),
  };
}

/** What a column becomes at first, by its name. */
export function mappedByName(header: string): Mapped {
  const target = targetByName(header);
  if (target === null) return { to: 'none', key: '', type: 'string' };
  return target.to === 'property'
    ? { to: 'property', key: target.key, type: target.type }
    : { to: TARGETS[target.to], key: '', type: 'string' };
}

/** The parameter `columns` of an import. */
export const columnsText = (headers: readonly string[], mapped: readonly Mapped[]): string =>
  JSON.stringify(
    Object.fromEntries(
      headers.flatMap((header, at): (readonly [string, string | null])[] => {
        const { to, key, type } = mapped[at] ?? mappedByName(header);
        const name = header.trim();
        if (name === '') return [];
        if (to === 'property') return [[name, `properties.${key}:${type}`]];
        return [[name, to === 'none' ? null : to]];
      }),
    ),
  );
