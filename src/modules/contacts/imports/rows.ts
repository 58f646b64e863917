import { untilNextTurn } from '../../../async/batcher.ts';
import type { Signer } from '../../../crypto/signer.ts';
import type { CsvRow } from '../../../csv/reader.ts';
import { withoutGuard } from '../../../csv/write.ts';
import { mintId } from '../../../db/ids.ts';
import { isDateTime } from '../../../http/schema.ts';
import { isLonger } from '../../../http/text-length.ts';
import { isProblem, parseAddress } from '../../../mail/address.ts';
import { forgottenKey } from '../../suppressions/queries.ts';
import type { Target } from '../column-names.ts';
import { LONGEST_NAME } from '../model.ts';
import { isLongProperty, MOST_PROPERTIES } from '../properties.ts';
import { mergedInto, namesOf } from '../read-contact.ts';
import type { ContactInput } from '../write.ts';
import type { Fault, FaultCode } from './faults.ts';
import type { ImportPlan } from './plan.ts';

/** A contact of a row, and how many later rows of the same address were merged into it. */
export type ImportedContact = ContactInput & {
  readonly repeats: number;
  /** The entry in its activity for joining the audience of the import; null without one. */
  readonly join_id: string | null;
};

/** Rows that are worked through together: what the event of the machine carries. */
export interface RowBatch {
  readonly total: number;
  readonly refused: number;
  /** Rows whose address came before in the same batch, where the first one stays (`onConflict=skip`). */
  readonly skipped: number;
  readonly contacts: readonly ImportedContact[];
  readonly faults: readonly Fault[];
}

/** What reading rows needs to know. */
export interface RowReading {
  readonly plan: ImportPlan;
  readonly signer: Signer;
  readonly workspaceId: string;
  /** True when the hashes of forgotten addresses matter: they are live ones, and cost 4 µs a row. */
  readonly hashes: boolean;
  /** True when an address that comes again is merged, and not skipped. */
  readonly merges: boolean;
  /** True when they join an audience. */
  readonly joins: boolean;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Rows that are read at one go, in some five milliseconds: then requests have their turn. */
const AT_ONE_GO = 500;

/** Reads the rows of one batch. An address is in it once: a statement takes it once. */
export async function readRows(rows: readonly CsvRow[], reading: RowReading): Promise<RowBatch> {
  const byKey = new Map<string, ImportedContact>();
  const faults: Fault[] = [];
  let refused = 0;
  let skipped = 0;
  for (const [at, row] of rows.entries()) {
    if (at % AT_ONE_GO === AT_ONE_GO - 1) await untilNextTurn();
    const before = faults.length;
    const contact = readRow(row, reading, faults);
    if (!contact || faults.length > before) {
      refused++;
      continue;
    }
    const known = byKey.get(contact.email_key);
    if (!known) byKey.set(contact.email_key, { ...contact, repeats: 0, join_id: joinId(reading) });
    else if (!reading.merges) skipped++;
    else {
      const merged = mergedInto(known, contact);
      if (Object.keys(merged.properties).length > MOST_PROPERTIES) {
        faults.push([row.line, null, 'too_many_properties']);
        refused++;
      } else byKey.set(contact.email_key, { ...merged, repeats: known.repeats + 1, join_id: known.join_id });
    }
  }
  return { total: rows.length, refused, skipped, contacts: [...byKey.values()], faults };
}

const joinId = ({ joins, now }: RowReading): string | null => (joins ? mintId('act', now) : null);

function readRow(
  { line, cells, fault }: CsvRow,
  { plan, signer, workspaceId, hashes, now }: RowReading,
  faults: Fault[],
): ContactInput | null {
  if (fault) {
    faults.push([fault.line, fault.column, fault.code]);
    return null;
  }
  const { targets } = plan;
  if (cells.length < targets.length || cells.slice(targets.length).some((cell) => cell !== '')) {
    faults.push([line, null, 'wrong_cell_count']);
    return null;
  }
  let email = '';
  let emailColumn = 0;
  let unsubscribes = false;
  let firstName: string | undefined;
  let lastName: string | undefined;
  const properties: Record<string, string | number | boolean> = {};
  let propertyCount = 0;
  const refuse = (column: number, code: FaultCode): void => {
    faults.push([lineOf(line, cells, column), column + 1, code]);
  };
  for (let column = 0; column < targets.length; column++) {
    const target = targets[column] as Target;
    const cell = cells[column] as string;
    if (target === null) continue;
    if (target.to === 'email') {
      email = visible(cell);
      emailColumn = column;
      continue;
    }
    // An empty cell says nothing of the person: what is known stays.
    if (cell === '') continue;
    if (cell.includes('\0')) refuse(column, 'invalid_character');
    else if (target.to === 'status') unsubscribes = cell !== 'subscribed';
    else if (target.to === 'property') {
      const value = typedValue(cell, target.type);
      if (typeof value === 'object') refuse(column, value.code);
      else {
        properties[target.key] = value;
        propertyCount++;
      }
    } else {
      const name = withoutGuard(cell);
      if (isLonger(name, LONGEST_NAME)) refuse(column, 'text_too_long');
      else if (target.to === 'firstName') firstName = name;
      else lastName = name;
    }
  }
  const address = parseAddress(email);
  if (email === '') refuse(emailColumn, 'missing_email');
  else if (isProblem(address) || address.name !== null) refuse(emailColumn, 'invalid_email');
  if (propertyCount > MOST_PROPERTIES) faults.push([line, null, 'too_many_properties']);
  if (isProblem(address)) return null;
  return {
    ord: line,
    id: mintId('con', now),
    email: address.address,
    email_key: address.key,
    email_hash: hashes ? forgottenKey(signer, workspaceId, address.key) : '',
    ...namesOf({ firstName, lastName }),
    properties,
    removed: [],
    unsubscribes,
  };
}

/** An address without what nobody sees and nobody typed. */
const visible = (cell: string): string =>
  /^[\x21-\x7e]*$/.test(cell)
    ? cell
    : cell
        .replace(/[\u200b-\u200d\u2060\ufeff]/g, '')
        .replaceAll('\u00a0', ' ')
        .trim();

/** The physical line of a cell: cells before it may have lines of their own. */
function lineOf(line: number, cells: readonly string[], column: number): number {
  let own = line;
  for (const cell of cells.slice(0, column)) own += cell.match(/\r\n|\r|\n/g)?.length ?? 0;
  return own;
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const BOOLEANS: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  1: true,
  false: false,
  no: false,
  0: false,
};

type PropertyTarget = Extract<Target, { readonly to: 'property' }>;

/** A cell as the value of a property. Nothing is guessed: without a type `007` stays a text. */
function typedValue(
  cell: string,
  type: PropertyTarget['type'],
): string | number | boolean | { readonly code: FaultCode } {
  if (type === 'string') {
    const text = withoutGuard(cell);
    return isLongProperty(text) ? { code: 'text_too_long' } : text;
  }
  const text = cell.trim();
  if (type === 'number') {
    const value = NUMBER.test(text) ? Number(text) : Number.NaN;
    return Number.isFinite(value) ? value : { code: 'invalid_number' };
  }
  if (type === 'boolean') return BOOLEANS[text.toLowerCase()] ?? { code: 'invalid_boolean' };
  return isDateTime(text) || isDateTime(`${text}T00:00:00Z`) ? text : { code: 'invalid_date' };
}
